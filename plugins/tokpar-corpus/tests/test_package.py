"""What `import tokpar_corpus` gives and costs."""

from __future__ import annotations

import subprocess
import sys

import pytest
import tokpar_corpus
from tokpar_corpus import api

LOOK_FOR_COMMANDS = """
import sys
import tokpar
print([plugin.problem for plugin in tokpar.plugins() if plugin.name == "corpus"])
print([name for name in sys.modules if name.startswith("tokpar_corpus")])
"""


def test_looking_for_commands_imports_nothing_but_the_entry() -> None:
    command = [sys.executable, "-c", LOOK_FOR_COMMANDS]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "[None]\n['tokpar_corpus']\n"


def test_the_package_gives_what_it_lists() -> None:
    listed = [getattr(tokpar_corpus, name) for name in api.__all__]
    assert listed == [getattr(api, name) for name in api.__all__]
    assert callable(tokpar_corpus.audit)  # also after its modules were imported
    with pytest.raises(AttributeError):
        tokpar_corpus.encode  # type: ignore[attr-defined]  # noqa: B018
