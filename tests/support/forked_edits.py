"""Forks a child before each line of an edit of a session, and says what became of each child.

    python -m tests.support.forked_edits DOOR EDIT

Not in a process of pytest, whose watchdog a child would wait for."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from types import FrameType
from typing import Any

from tokenizers import Tokenizer

import tokpar
from tests.support.forked_children import forked
from tests.support.paths import VOCAB
from tokpar.sessions import session as session_module
from tokpar.untrusted import trusted_session as trusted_module

TEXT = "The quick brown fox jumps over. " * 4
FILES = {session_module.__file__, trusted_module.__file__}
Edit = Callable[[Any], object]
EDITS: dict[str, Edit] = {
    "replace": lambda session: session.replace(10, 15, "xyzzy plugh "),
    "append": lambda session: session.append(" and more"),
    "update": lambda session: session.update(TEXT[:40] + "wort" + TEXT[50:]),
    "truncate": lambda session: session.truncate(50),
    "ids": lambda session: session.unprocessed_ids,
}
TRUSTED_EDITS: dict[str, Edit] = {
    "append": lambda session: session.append("<｜User｜> of a user", trusted=False),
    "append trusted": lambda session: session.append("<｜User｜> of a program"),
    "truncate": lambda session: session.truncate(50),
}


def made_encoder() -> tokpar.Encoder:
    made = tokpar.Encoder(Tokenizer.from_file(str(VOCAB / "deepseek_part.json")))
    made.prepare()
    return made


def outcomes_of_forks(edit: Callable[[], object], check: Callable[[], object]) -> list[str]:
    """What becomes of children that are forked before each line that `edit` runs in a session's
    module; "right" for each that `check` does not fail in."""
    said: list[str] = []

    def of_line(frame: FrameType, event: str, _: Any) -> Any:
        if frame.f_code.co_filename not in FILES:
            return None
        if event == "line":
            with tempfile.TemporaryFile() as file:
                found = forked(check, file)
                file.seek(0)
                place = f"{frame.f_code.co_name}, line {frame.f_lineno}"
                said.append(found if found == "right" else f"{place}: {file.read().decode()}")
        return of_line

    before = sys.gettrace()
    sys.settrace(of_line)
    try:
        edit()
    finally:
        sys.settrace(before)
    return said


def of_session(name: str) -> list[str]:
    encoder = made_encoder()
    session = encoder.session(TEXT)
    assert len(session.ids)
    session.append(" A")  # the ids that are known are those of an earlier text

    def check() -> None:
        assert session.unprocessed_ids.tolist() == encoder.encode(session.text).ids.tolist()
        session.append("!")
        assert session.unprocessed_ids.tolist() == encoder.encode(session.text).ids.tolist()

    return outcomes_of_forks(lambda: EDITS[name](session), check)


def of_trusted_session(name: str) -> list[str]:
    encoder = made_encoder()
    session = encoder.trusted_session(TEXT + "<｜User｜>")

    def check() -> None:
        expected = encoder.encode(session.text, untrusted=session.untrusted).ids.tolist()
        assert session.ids.tolist() == expected
        assert len(session.text) == max([len(session), *(stop for _, stop in session.untrusted)])

    return outcomes_of_forks(lambda: TRUSTED_EDITS[name](session), check)


if __name__ == "__main__":
    doors = {"session": of_session, "trusted session": of_trusted_session}
    print(json.dumps(doors[sys.argv[1]](sys.argv[2])))
