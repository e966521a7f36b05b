"""What the tests share with those of tokpar: profiles of hypothesis, and caches of their own."""

from __future__ import annotations

from tests.conftest import compiled_calls as compiled_calls
from tests.conftest import pytest_collection_modifyitems as pytest_collection_modifyitems
from tests.conftest import tables_folder as tables_folder
