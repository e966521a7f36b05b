"""The stages of a decoder as machines that take one token after the other.

A stage gets its own state and one token, and returns the tokens that no later token can change, and
its next state. States are immutable, so that many streams share them. After a stage that joins all
tokens (`Fuse`, `ByteLevel`) "token" means a fragment of the one text: where a fragment ends says
nothing."""

from __future__ import annotations

import re
from codecs import utf_8_decode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tokpar.errors import EngineError

Token = str | bytes
State = Any
"""Hashable; None or False at the start of a stream."""
Step = tuple[Sequence[Token], State]
"""The tokens that are final, and the next state."""

REPLACEMENT = "\ufffd"
_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2}|\+[0-9A-Fa-f])>")
_BYTE_TOKEN_LENGTH = 6
_SHORT_RUN = 8
"""Byte tokens up to which a run is a state that comes again."""


class Stage(Protocol):
    """One stage of a decoder."""

    def step(self, state: State, token: Any) -> Step:
        """Returns the tokens that are final after `token`, and the next state."""

    def finish(self, state: State) -> Sequence[Token]:
        """Returns the tokens that the stage still holds at the end of the stream."""

    def most_held(self, most_before: int | None) -> int | None:
        """Returns the most code points that `finish` can return; None: any number.

        `most_before`: the most code points that the stages before this stage still hold."""


@dataclass(frozen=True, slots=True)
class EachToken:
    """Changes each token by itself. A code point, or the place between two, becomes at most
    `growth` code points."""

    change: Callable[[str], Token]
    growth: int = 1

    def step(self, state: State, token: str) -> Step:
        return (self.change(token),), state

    def finish(self, state: State) -> Sequence[Token]:
        return ()

    def most_held(self, most_before: int | None) -> int | None:
        return most_before and most_before * (2 * self.growth + 1)


@dataclass(frozen=True, slots=True)
class FirstToken:
    """Changes the first token of a text in another way than the later ones."""

    first: Callable[[str], str]
    later: Callable[[str], str]

    def step(self, state: State, token: str) -> Step:
        change = self.later if state else self.first
        return (change(token),), True

    def finish(self, state: State) -> Sequence[Token]:
        return ()

    def most_held(self, most_before: int | None) -> int | None:
        return most_before and most_before * 2


@dataclass(frozen=True, slots=True)
class DropRepeats:
    """Leaves out a token that equals the token before it (CTC), and empty tokens."""

    change: Callable[[str], str]

    def step(self, state: State, token: str) -> Step:
        if token == state:
            return (), state
        changed = self.change(token)
        return ((changed,) if changed else ()), token

    def finish(self, state: State) -> Sequence[Token]:
        return ()

    def most_held(self, most_before: int | None) -> int | None:
        return most_before and most_before * 2


@dataclass(frozen=True, slots=True)
class LastToken:
    """Replaces the suffix of a word by a space, and in the last token by nothing (BPEDecoder).

    `returns_parts`: no later stage asks where a token ends, so the common beginning of both ways to
    write the last token is final. The state is what remains of it: (inner, last)."""

    suffix: str
    returns_parts: bool
    longest_token: int | None

    def step(self, state: State, token: str) -> Step:
        inner, last = token.replace(self.suffix, " "), token.replace(self.suffix, "")
        final = () if state is None else (state[0],)
        if not self.returns_parts:
            return final, (inner, last)
        common = common_start(inner, last)
        return (*final, inner[:common]), (inner[common:], last[common:])

    def finish(self, state: State) -> Sequence[Token]:
        return () if state is None else (state[1],)

    def most_held(self, most_before: int | None) -> int | None:
        longest = self.longest_token
        return None if most_before is None or longest is None else most_before + longest


@dataclass(frozen=True, slots=True)
class ByteRuns:
    """Reads a run of tokens such as "<0xE4>" as the bytes of a text (ByteFallback).

    A run that is no UTF-8 becomes one U+FFFD for each of its bytes, so one later byte changes the
    text of the whole run. The run is held until a token of another kind ends it, or until no later
    byte can make it UTF-8. The state is None outside runs, 0 in a run that is no UTF-8, else
    (bytes of an unfinished character, text before them, number of bytes); that text is a chain
    (chain before, text), because copying it for each byte would take quadratic time."""

    def step(self, state: State, token: str) -> Step:
        byte = byte_of(token)
        if byte is None:
            return (*self.finish(state), token), None
        if state == 0:
            return (REPLACEMENT,), 0
        pending, chain, count = state or (b"", None, 0)
        pending += byte
        try:
            text, pending = read_utf8(pending, "strict")
        except UnicodeDecodeError:
            return (REPLACEMENT,) * (count + 1), 0
        return (), (pending, (chain, text) if text else chain, count + 1)

    def finish(self, state: State) -> Sequence[Token]:
        if not state:
            return ()
        pending, chain, count = state
        texts: list[str] = []
        if pending:
            return [REPLACEMENT] * int(count)
        while chain is not None:
            chain, text = chain
            texts.append(text)
        return ("".join(reversed(texts)),)

    def most_held(self, most_before: int | None) -> int | None:
        return None


@dataclass(frozen=True, slots=True)
class Utf8:
    """Reads bytes as UTF-8, with U+FFFD for each maximal part of a character that is cut short.

    The state holds the bytes of an unfinished character, at most three. Python and Rust agree on
    the number of U+FFFD: Unicode 16, section 3.9, "substitution of maximal subparts"."""

    def step(self, state: State, token: bytes) -> Step:
        text, rest = read_utf8(state + token if state else token, "replace")
        return (text,), rest or None

    def finish(self, state: State) -> Sequence[Token]:
        return (utf_8_decode(state or b"", "replace", True)[0],)

    def most_held(self, most_before: int | None) -> int | None:
        return None if most_before is None else most_before + 1


def byte_of(token: str) -> bytes | None:
    """Returns the byte of a token such as "<0xE4>"; None for other tokens."""
    found = _BYTE.fullmatch(token)
    return None if found is None else bytes((int(found[1], 16),))


def read_utf8(data: bytes, errors: str) -> tuple[str, bytes]:
    """Returns the text of `data`, and the bytes at its end that may begin a character."""
    text, used = utf_8_decode(data, errors, False)
    rest = data[used:]
    if rest[:1] == b"\xed" and rest[1:2] >= b"\xa0":  # of a surrogate, for which Python waits
        return text + utf_8_decode(rest, errors, True)[0], b""
    return text, rest


@dataclass(frozen=True, slots=True)
class ReplaceText:
    """Replaces a string in the whole text, from the left, without overlap. Holds what may be the
    beginning of that string."""

    old: str
    new: str

    def step(self, state: State, token: str) -> Step:
        text = state + token if state else token
        *before, rest = text.split(self.old)
        for length in range(min(len(self.old) - 1, len(rest)), 0, -1):
            if self.old.startswith(rest[-length:]):
                break
        else:
            length = 0
        before.append(rest[: len(rest) - length])
        return (self.new.join(before),), rest[len(rest) - length :] or None

    def finish(self, state: State) -> Sequence[Token]:
        return (state or "",)

    def most_held(self, most_before: int | None) -> int | None:
        if most_before is None:
            return None
        return (most_before + len(self.old) - 1) * max(1, -(-len(self.new) // len(self.old)))


@dataclass(frozen=True, slots=True)
class StripText:
    """Removes a character from the ends of the whole text.

    Removes it at most `front_count` times from the start and `back_count` times from the end.

    The state: (how many were taken from the front, how many of the end are held, whether another
    character has come)."""

    character: str
    front_count: int
    back_count: int

    def step(self, state: State, token: str) -> Step:
        taken, held, other = state or (0, 0, False)
        if not other:
            rest = token.lstrip(self.character)
            run = len(token) - len(rest)
            now = min(self.front_count - taken, run)
            taken, token = taken + now, token[now:]
        text = self.character * held + token
        end = len(text) - len(text.rstrip(self.character))
        held = min(end, self.back_count)
        other = other or end < len(text) or len(text) > held
        return (text[: len(text) - held],), (taken, held, other)

    def finish(self, state: State) -> Sequence[Token]:
        taken, held, other = state or (0, 0, False)
        if not other and self.back_count > held:
            text = self.character * (taken + held)
            raise EngineError(f"the decoder Strip of tokenizers fails for {text!r}")
        return ()

    def most_held(self, most_before: int | None) -> int | None:
        return None if most_before is None else most_before + self.back_count


@dataclass(frozen=True, slots=True)
class ByteTokenText:
    """Reads the whole text as one byte if it is a byte token such as "<0x41>" (ByteFallback after
    Fuse). Holds a text that may still become one; the state is True once it cannot."""

    def step(self, state: State, token: str) -> Step:
        if state is True:
            return (token,), True
        text = (state or "") + token
        if len(text) > _BYTE_TOKEN_LENGTH or _may_be_byte_token(text) is None:
            return (text,), True
        return (), text

    def finish(self, state: State) -> Sequence[Token]:
        if state is True or not state:
            return ()
        if not _BYTE.fullmatch(state):
            return (state,)
        runs = ByteRuns()
        tokens, run = runs.step(None, state)
        return (*tokens, *runs.finish(run))

    def most_held(self, most_before: int | None) -> int | None:
        return None if most_before is None else most_before + _BYTE_TOKEN_LENGTH


def _may_be_byte_token(text: str) -> re.Match[str] | None:
    return _BYTE.fullmatch(text + "<0x00>"[len(text) :]) or _BYTE.fullmatch(
        text + "<0x+0>"[len(text) :]
    )


def comes_again(state: State) -> bool:
    """True if many streams may come to this state of a stage, so that it is worth keeping."""
    chained = isinstance(state, tuple) and len(state) == 3 and isinstance(state[0], bytes)
    return not chained or state[2] <= _SHORT_RUN


def common_start(one: str, other: str) -> int:
    """Returns how many characters two texts have in common at their start."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
