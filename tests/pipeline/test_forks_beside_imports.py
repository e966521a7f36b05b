"""A fork waits for the imports of other threads, and never for ever."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.support.forked_children import output_of

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
MODULE = """
import sys, time
main = sys.modules["__main__"]
main.begun.set()
main.forks.wait(60)
time.sleep(0.3)
main.in_import()
FULL = True
main.is_whole.set()
"""
PROGRAM = """
import os, sys, threading, time
import tokpar
from tokpar.process import unfinished_imports
import logging

begun, forks, is_whole = threading.Event(), threading.Event(), threading.Event()
lock = threading.Lock()
os.register_at_fork(before=forks.set)  # before tokpar waits for imports
{setting}

def in_child():
    import tokpar_slow_module
    assert tokpar_slow_module.FULL

thread = threading.Thread(target=in_child)
thread.start()
begun.wait()
child = os.fork()
has_waited = is_whole.is_set()
if not child:
    {child}
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
thread.join()
print(has_waited)
"""
ENOUGH = 120
"""Seconds for a program that takes about one. One that waits for ever takes more."""


def has_waited(setting: str, child: str, tmp_path: object) -> bool:
    """True if the fork waited until the other thread had imported the module."""
    with open(f"{tmp_path}/tokpar_slow_module.py", "w", encoding="utf-8") as file:
        file.write(MODULE)
    path = f"{tmp_path}/program.py"
    with open(path, "w", encoding="utf-8") as file:
        file.write(PROGRAM.format(setting=setting, child=child))
    said = output_of([sys.executable, path], ENOUGH, PYTHONPATH=".").strip()
    assert said in ("True", "False")
    return said == "True"


def test_a_child_finds_a_module_whole_that_another_thread_was_importing(tmp_path: object) -> None:
    setting = "def in_import(): logging.getLogger('as many modules do')"
    assert has_waited(setting, "in_child()", tmp_path)


def test_a_child_imports_again_what_waits_for_a_lock_of_a_hook(tmp_path: object) -> None:
    """filelock has such a hook: the import ends only after the fork that waits for its end."""
    setting = """
os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
unfinished_imports.longest_stall = 1.0
def in_import():
    with lock: pass
"""
    assert not has_waited(setting, "in_child()", tmp_path)


FILLING = """
import os, threading, time
import tiktoken, tiktoken.registry as registry
import tokpar

begun = threading.Event()

def fill():
    with registry._lock:  # as tiktoken does while it looks for its encodings
        begun.set()
        time.sleep(0.3)

thread = threading.Thread(target=fill)
thread.start()
begun.wait()
child = os.fork()
if not child:
    assert "gpt2" in tiktoken.list_encoding_names()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
thread.join()
free = threading.Thread(target=tiktoken.list_encoding_names)
free.start()
free.join(60)
print(free.is_alive())
"""


def test_a_child_asks_the_registry_of_tiktoken_that_another_thread_was_filling(
    tmp_path: Path,
) -> None:
    path = tmp_path / "program.py"
    path.write_text(FILLING, encoding="utf-8")
    assert output_of([sys.executable, str(path)], ENOUGH).strip() == "False"
