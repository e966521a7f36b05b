"""Which files and functions of tokpar a call runs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType

from tests.support.paths import ROOT

OWN = str(ROOT / "tokpar")


def trip_of(call: Callable[[], object]) -> tuple[int, int]:
    """Returns how many files of tokpar, and how many functions in them, `call` runs."""
    ran: set[tuple[str, str, int]] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(OWN):
            ran.add((code.co_filename, code.co_name, code.co_firstlineno))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(before)
    return len({file for file, _, _ in ran}), len(ran)
