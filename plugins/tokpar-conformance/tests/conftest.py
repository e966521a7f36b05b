"""What the tests share with those of tokpar: profiles of hypothesis, and fixtures."""

from __future__ import annotations

from tests.conftest import compiled_calls as compiled_calls
from tests.conftest import few_texts as few_texts
from tests.conftest import kept_by_files_before as kept_by_files_before
from tests.conftest import tables_folder as tables_folder
from tests.conftest import twelfths_but_for as twelfths_but_for
from tests.conftest import twelfths_in_quick as twelfths_in_quick
