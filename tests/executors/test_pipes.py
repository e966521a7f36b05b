"""How worker processes are started."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

from tokpar.executors.pipes import WorkerProcess

GROUP = 0x200
"""CREATE_NEW_PROCESS_GROUP of Windows."""


def no_answers() -> Any:
    raise AssertionError("no worker is started")


class NotStartedError(Exception):
    """The test knows how the worker would be started."""


@pytest.mark.parametrize("is_windows", [False, True])
def test_ctrl_c_never_reaches_a_worker(is_windows: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """On Windows a process is in the group of its parent unless it gets one of its own, and Python
    ignores start_new_session there."""
    given: dict[str, Any] = {}

    def start(command: list[str], **options: Any) -> None:
        given.update(options)
        raise NotStartedError

    if is_windows:
        monkeypatch.setattr(subprocess, "CREATE_NEW_PROCESS_GROUP", GROUP, raising=False)
    else:
        monkeypatch.delattr(subprocess, "CREATE_NEW_PROCESS_GROUP", raising=False)
    monkeypatch.setattr(subprocess, "Popen", start)
    with pytest.raises(NotStartedError):
        WorkerProcess(no_answers)
    assert given["start_new_session"] is True
    assert given["creationflags"] == (GROUP if is_windows else 0)
