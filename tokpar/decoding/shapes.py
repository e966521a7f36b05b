"""The four shapes of decoders that tokpar knows, read of the "decoder" of a ``tokenizer.json``.

| shape | decoder |
|---|---|
| bytes | ByteLevel; the encodings of tiktoken |
| Llama-like | Replace of strings, ByteFallback, Fuse, Strip at the start, each of them or not |
| Metaspace | Metaspace |
| WordPiece | WordPiece; no decoder, which joins tokens by spaces |

All other decoders are the engine's own: their text is known when all ids are. A shape changes each
token by itself; its `head` makes text of the tokens, one after the other; the `tail` changes the
whole text. Machines have immutable states, so that many streams share them (proofs/decoding.md)."""

from __future__ import annotations

import re
from codecs import utf_8_decode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tokpar.contract.adapter import DecodingParts
from tokpar.errors import EngineError
from tokpar.formats.vocabulary import byte_alphabet
from tokpar.process.interrupts import is_foreign

Token = Any
"""What a head reads: str, bytes of one token, or the id."""
State = Any
"""Hashable; None at the start of a stream."""
Step = tuple[str, State]
"""The text that is final, and the next state."""

CLEANUP_PAIRS = tuple((f" {mark}", mark) for mark in ".?!,")
CLEANUP_PAIRS += ((" ' ", "'"), (" n't", "n't"), (" 'm", "'m"), (" do not", " don't"))
CLEANUP_PAIRS += tuple((f" '{end}", f"'{end}") for end in ("s", "ve", "re"))
"""(old, new) of the replacements that the cleanup of WordPiece makes, in this order."""
REPLACEMENT = "\ufffd"
_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2}|\+[0-9A-Fa-f])>")
_BYTE_OF = byte_alphabet()
_SHORT_RUN = 8
"""Byte tokens up to which a run is a state that comes again."""


@dataclass(frozen=True, slots=True)
class FirstToken:
    """Changes the first token of a text in another way than the later ones."""

    first: Callable[[str], str]
    later: Callable[[str], str]
    most_held: int | None = 0

    def step(self, state: State, token: str) -> Step:
        return (self.later if state else self.first)(token), True

    def finish(self, state: State) -> str:
        return ""


@dataclass(frozen=True, slots=True)
class ByteRuns:
    """Reads a run of tokens such as "<0xE4>" as the bytes of a text (ByteFallback).

    A run that is no UTF-8 becomes one U+FFFD for each of its bytes, so one later byte changes the
    text of the whole run. The run is held until a token of another kind ends it, or until no later
    byte can make it UTF-8. The state is None outside runs, 0 in a run that is no UTF-8, else
    (bytes of an unfinished character, text before them, number of bytes); that text is a chain
    (chain before, text), because copying it for each byte would take quadratic time."""

    most_held: int | None = None

    def step(self, state: State, token: str) -> Step:
        byte = byte_of(token)
        if byte is None:
            return self.finish(state) + token, None
        if state == 0:
            return REPLACEMENT, 0
        pending, chain, count = state or (b"", None, 0)
        pending += byte
        try:
            text, pending = read_utf8(pending, "strict")
        except UnicodeDecodeError:
            return REPLACEMENT * (count + 1), 0
        return "", (pending, (chain, text) if text else chain, count + 1)

    def finish(self, state: State) -> str:
        if not state:
            return ""
        pending, chain, count = state
        return REPLACEMENT * count if pending else "".join(_chain_items(chain))


@dataclass(frozen=True, slots=True)
class Utf8:
    """Reads bytes as UTF-8, with U+FFFD for each maximal part of a character that is cut short.

    The state holds the bytes of an unfinished character, at most three. Python and Rust agree on
    the number of U+FFFD: Unicode 16, section 3.9, "substitution of maximal subparts"."""

    most_held: int | None = 1

    def step(self, state: State, token: bytes) -> Step:
        text, rest = read_utf8(state + token if state else token, "replace")
        return text, rest or None

    def finish(self, state: State) -> str:
        return utf_8_decode(state or b"", "replace", True)[0]


@dataclass(frozen=True, slots=True)
class OwnDecode:
    """Holds all ids, for the engine's own call at the end. The state is a chain (chain before,
    id)."""

    decode: Callable[[Sequence[int]], str]
    most_held: int | None = None

    def step(self, state: State, token: int) -> Step:
        return "", (state, token)

    def finish(self, state: State) -> str:
        try:
            return self.decode(_chain_items(state))
        except BaseException as error:  # a panic of Rust is no Exception
            if isinstance(error, Exception) or is_foreign(error):
                raise
            raise EngineError(f"the own decode fails: {error}") from error


Head = FirstToken | ByteRuns | Utf8 | OwnDecode
"""`step(state, token)` returns the text that is final and the next state, `finish(state)` the text
that is held at the end. `most_held`: the code points that `finish` returns at most, or None."""


@dataclass(frozen=True, slots=True)
class ReplaceText:
    """Replaces a string in the whole text, from the left, without overlap. Holds what may be the
    beginning of that string."""

    old: str
    new: str

    def step(self, state: State, text: str) -> Step:
        *before, rest = ((state or "") + text).split(self.old)
        lengths = range(min(len(self.old) - 1, len(rest)), 0, -1)
        held = next((n for n in lengths if self.old.startswith(rest[-n:])), 0)
        before.append(rest[: len(rest) - held])
        return self.new.join(before), rest[len(rest) - held :] or None

    def finish(self, state: State) -> str:
        return state or ""

    def whole(self, text: str) -> str:
        """Returns what the whole `text` becomes."""
        return text.replace(self.old, self.new)

    def most_held(self, most_before: int) -> int:
        """`most_before`: the most code points that the machines before this one still hold."""
        return (most_before + len(self.old) - 1) * max(1, -(-len(self.new) // len(self.old)))


@dataclass(frozen=True, slots=True)
class StripStart:
    """Removes a character from the start of the whole text, at most `count` times. The state is how
    many more may go."""

    character: str
    count: int

    def step(self, state: State, text: str) -> Step:
        left = self.count if state is None else state
        rest = text.lstrip(self.character)
        gone = min(left, len(text) - len(rest))
        return text[gone:], 0 if rest else left - gone

    def finish(self, state: State) -> str:
        return ""

    def whole(self, text: str) -> str:
        """Returns what the whole `text` becomes."""
        return self.step(None, text)[0]

    def most_held(self, most_before: int) -> int:
        """`most_before`: the most code points that the machines before this one still hold."""
        return most_before


@dataclass(frozen=True, slots=True)
class Shape:
    """A decoder. `change`: what becomes of each token by itself; None: the id is the token."""

    change: Callable[[Any], Token] | None
    head: Head
    tail: tuple[ReplaceText | StripStart, ...] = ()

    @property
    def most_held(self) -> int | None:
        """Code points of text that are held at most; None: any number."""
        held = self.head.most_held
        for stage in self.tail:
            held = None if held is None else stage.most_held(held)
        return held


def shape_of(parts: DecodingParts) -> Shape:
    """Returns the shape of a decoder."""
    made = Shape(bytes, Utf8()) if parts.in_bytes else _read_stages([*_stages(parts.decoder)])
    if made is None:
        return Shape(None, OwnDecode(parts.decode))
    cleanup = (ReplaceText(old, new) for old, new in parts.replacements)
    return Shape(made.change, made.head, (*made.tail, *cleanup))


def _stages(part: Mapping[str, Any] | None) -> Iterator[Mapping[str, Any]]:
    if part is not None and part["type"] == "Sequence":
        for member in part["decoders"]:
            yield from _stages(member)
    elif part is not None:
        yield part


def _read_stages(stages: Sequence[Mapping[str, Any]]) -> Shape | None:
    """Returns the shape of a row of stages; None if it is the engine's own."""
    match [(stage["type"], stage) for stage in stages]:
        case []:
            return Shape(str, FirstToken(str, lambda token: f" {token}"))
        case [("ByteLevel", _)]:
            return Shape(bytes_of, Utf8())
        case [("Metaspace", stage)]:
            mark = stage["replacement"]
            first = " " if stage.get("prepend_scheme") == "never" else ""
            head = FirstToken(lambda t: t.replace(mark, first), lambda t: t.replace(mark, " "))
            return Shape(str, head)
        case [("WordPiece", stage)]:
            return Shape(str, _word_piece(stage))
    return _llama_like(stages)


def _word_piece(stage: Mapping[str, Any]) -> FirstToken:
    prefix, clean = stage.get("prefix", "##"), clean_up if stage.get("cleanup", True) else str

    def later(token: str) -> str:
        return clean(token.removeprefix(prefix) if token.startswith(prefix) else f" {token}")

    return FirstToken(clean, later)


def _llama_like(stages: Sequence[Mapping[str, Any]]) -> Shape | None:
    left = [*stages]
    pairs: list[tuple[str, str]] = []
    while left and left[0]["type"] == "Replace" and left[0]["pattern"].get("String"):
        pairs.append((left[0]["pattern"]["String"], left.pop(0)["content"]))

    def change(token: str) -> str:
        for old, new in pairs:
            token = token.replace(old, new)
        return token

    head: Head = FirstToken(str, str)
    if left and left[0]["type"] == "ByteFallback":
        head = ByteRuns()
        del left[0]
    match [(stage["type"], stage) for stage in left]:
        case [] | [("Fuse", _)]:
            return Shape(change, head)
        case [("Fuse", _), ("Strip", {"content": str(char), "start": int(count), "stop": 0})]:
            return Shape(change, head, (StripStart(char, count),))
    return None


def bytes_of(token: str) -> bytes:
    """Returns the bytes of a token of a byte-level vocabulary. A token with a character that stands
    for no byte is plain text, as most added tokens are."""
    try:
        return bytes([_BYTE_OF[char] for char in token])
    except KeyError:
        return token.encode()


def clean_up(text: str) -> str:
    """Returns a token after the cleanup of WordPiece."""
    for old, new in CLEANUP_PAIRS:
        text = text.replace(old, new)
    return text


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


def comes_again(state: State) -> bool:
    """True if many streams may come to this state of a head, so that it is worth keeping."""
    return not isinstance(state, tuple) or (len(state) == 3 and state[2] <= _SHORT_RUN)


def _chain_items(chain: State) -> list[Any]:
    """Returns what a chain (chain before, last) holds, first to last."""
    found = []
    while chain is not None:
        chain, last = chain
        found.append(last)
    return found[::-1]
