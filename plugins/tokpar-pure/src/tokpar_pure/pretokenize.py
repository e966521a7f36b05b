"""Pre-tokenizers of a ``tokenizer.json``, each exact to Hugging Face's `tokenizers` 0.23, and the
pre-tokenizer of tiktoken.

`split` takes and returns plain strings. `trace` takes and returns `TracedText`, which knows the
origin of each character. Spans of tokens need `trace`, and so does Metaspace with the scheme
"first"."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

from tokpar import FileFormatError
from tokpar.formats import json_parts
from tokpar.formats.char_classes import one_of, single
from tokpar.formats.json_parts import Json
from tokpar.formats.vocabulary import GPT2_PATTERN
from tokpar.plugin.tokenizer import letters_of
from tokpar_pure import parts
from tokpar_pure.classes import none_of
from tokpar_pure.patterns import (
    BEHAVIORS,
    AnyPattern,
    Behavior,
    Engine,
    compile_pattern,
    divide,
    spans,
)
from tokpar_pure.traced_text import TracedText

Scheme = Literal["always", "first", "never"]
SCHEMES: tuple[Scheme, ...] = get_args(Scheme)


class Stage(Protocol):
    """Splits one piece of text into smaller pieces. A stage may put a prefix in front."""

    def split(self, text: str) -> list[str]: ...

    def trace(self, piece: TracedText) -> list[TracedText]: ...


class PatternSplit:
    """Splits at the matches of a pattern; see `tokpar_pure.patterns.divide`."""

    def __init__(self, pattern: AnyPattern, behavior: Behavior, invert: bool = False) -> None:
        self._pattern, self._behavior, self._invert = pattern, behavior, invert
        keeps_matches = behavior == "Isolated" or (behavior == "Removed" and invert)
        self._matches = pattern.findall if keeps_matches and not pattern.groups else None

    def split(self, text: str) -> list[str]:
        """Returns the pieces of `text`: "ab cd", split at " ", gives ["ab", "cd"] with "Removed",
        and ["ab ", "cd"] with "MergedWithPrevious"."""
        if self._matches is not None:
            found: list[str] = self._matches(text)
            whole = self._behavior == "Removed" or sum(map(len, found)) == len(text)
            if whole and "" not in found:
                return found
        return [text[start:stop] for start, stop in self._slices(text)]

    def trace(self, piece: TracedText) -> list[TracedText]:
        return [piece.part(start, stop) for start, stop in self._slices(piece.text)]

    def _slices(self, text: str) -> list[tuple[int, int]]:
        return divide(spans(self._pattern, text), len(text), self._behavior, self._invert)


@dataclass(frozen=True)
class Whole:
    """Returns the text as one piece."""

    def split(self, text: str) -> list[str]:
        return [text] if text else []

    def trace(self, piece: TracedText) -> list[TracedText]:
        return [piece] if piece.text else []


@dataclass(frozen=True)
class ByteLevel:
    """ByteLevel as the last stage. It keeps plain text, and the model turns the text into bytes.
    Before another stage, use `ByteLetters`, which returns the letters of ByteLevel."""

    prefix_space: bool
    inner: PatternSplit | Whole

    def split(self, text: str) -> list[str]:
        space = self.prefix_space and not text.startswith(" ")
        return self.inner.split(" " + text if space else text)

    def trace(self, piece: TracedText) -> list[TracedText]:
        space = self.prefix_space and not piece.text.startswith(" ")
        return self.inner.trace(piece.with_prefix(" ") if space else piece)


@dataclass(frozen=True)
class ByteLetters:
    """ByteLevel before another stage. Returns one letter for each byte, so a later stage may split
    between two bytes of a character.

    >>> ByteLetters(ByteLevel(False, Whole())).split("é")
    ['Ã©']
    """

    inner: ByteLevel

    def split(self, text: str) -> list[str]:
        return [letters_of(part.encode("utf-8")) for part in self.inner.split(text)]

    def trace(self, piece: TracedText) -> list[TracedText]:
        return [_to_letters(part) for part in self.inner.trace(piece)]


def _to_letters(piece: TracedText) -> TracedText:
    sizes = (len(character.encode("utf-8")) for character in piece.text)
    origin = [where for where, size in zip(piece.origin, sizes, strict=True) for _ in range(size)]
    return TracedText(letters_of(piece.text.encode("utf-8")), origin)


@dataclass(frozen=True)
class Metaspace:
    """Replaces spaces by `replacement` ("▁"), and puts it before each piece that does not begin
    with it.

    `scheme`: "always": before every piece. "first": only at the start of the whole text.
    "never": nowhere."""

    replacement: str
    scheme: Scheme
    inner: PatternSplit | Whole

    def split(self, text: str) -> list[str]:
        """Returns the pieces of `text`. Raises ValueError for the scheme "first", which needs the
        origin of the text: use `trace`."""
        if self.scheme == "first":
            raise ValueError('the scheme "first" needs the origin of the text: use trace')
        text = text.replace(" ", self.replacement)
        starts = self.scheme == "never" or text.startswith(self.replacement)
        return self.inner.split(text if starts else self.replacement + text)

    def trace(self, piece: TracedText) -> list[TracedText]:
        piece = TracedText(piece.text.replace(" ", self.replacement), piece.origin)
        wanted = self.scheme == "always" or (self.scheme == "first" and piece.origin[0] == 0)
        if wanted and not piece.text.startswith(self.replacement):
            piece = piece.with_prefix(self.replacement)
        return self.inner.trace(piece)


class Stages:
    """A list of stages. Each stage splits every piece of the stage before. `needs_origin`: only
    `trace` works, not `split`."""

    def __init__(self, stages: Iterable[Stage]) -> None:
        self._stages = tuple(stages)
        self.needs_origin = any(
            isinstance(stage, Metaspace) and stage.scheme == "first" for stage in self._stages
        )

    def split(self, text: str) -> list[str]:
        """Returns the pre-tokens of a text without added tokens: "Hi you" -> ["Hi", " you"]."""
        pieces = [text] if text else []
        for stage in self._stages:
            pieces = [part for piece in pieces for part in stage.split(piece)]
        return pieces

    def trace(self, text: TracedText) -> list[TracedText]:
        """Returns the pre-tokens of a text without added tokens, with the origin of each
        character."""
        pieces = [text] if text.text else []
        for stage in self._stages:
            pieces = [part for piece in pieces for part in stage.trace(piece)]
        return pieces


class PreTokenizer(Stages):
    """Splits by one pattern after the other. Each pattern splits every piece of the pattern before.

    `keep_gaps`: True: the text between two matches is a piece, too (HF). False: it is dropped
    (tiktoken)."""

    def __init__(self, patterns: Iterable[str], engine: Engine, keep_gaps: bool) -> None:
        behavior: Behavior = "Isolated" if keep_gaps else "Removed"
        compiled = [compile_pattern(pattern, engine) for pattern in patterns]
        super().__init__(
            PatternSplit(pattern, behavior, invert=not keep_gaps) for pattern in compiled
        )


def is_byte_level(config: Json | None) -> bool:
    """True if the last stage of a "pre_tokenizer" is ByteLevel."""
    kinds = [
        json_parts.kind(stage)
        for stage in json_parts.stages(config, "pre-tokenizer", "pretokenizers")
    ]
    return kinds[-1:] == ["ByteLevel"]


def read_pre_tokenizer(config: Json | None) -> Stages:
    """Returns the stages of the "pre_tokenizer" of a ``tokenizer.json``. Raises FileFormatError
    that names a part that is not supported."""
    stages = parts.interpret_stages(config, "pre-tokenizer", "pretokenizers", _READERS)
    before = (
        ByteLetters(stage) if isinstance(stage, ByteLevel) else stage for stage in stages[:-1]
    )
    return Stages([*before, *stages[-1:]])


def _literal(text: str) -> re.Pattern[str]:
    return re.compile(re.escape(text))


def _byte_level(stage: Json, where: str) -> ByteLevel:
    own = parts.flag(stage, "use_regex", where, default=True)
    inner = PatternSplit(compile_pattern(GPT2_PATTERN, "oniguruma"), "Isolated") if own else Whole()
    return ByteLevel(parts.flag(stage, "add_prefix_space", where), inner)


def _split(stage: Json, where: str) -> PatternSplit:
    pattern = parts.pattern_of(stage, where)
    compiled = _literal(pattern) if isinstance(pattern, str) else pattern
    behavior = parts.choice(stage, "behavior", BEHAVIORS, where)
    return PatternSplit(compiled, behavior, parts.flag(stage, "invert", where))


def _metaspace(stage: Json, where: str) -> Metaspace:
    scheme = parts.choice(stage, "prepend_scheme", SCHEMES, where, default="always")
    if stage.get("add_prefix_space") is False and scheme != "never":
        raise FileFormatError(f"{where}: add_prefix_space = False contradicts {scheme!r}")
    mark = parts.character(stage, "replacement", where)
    splits = parts.flag(stage, "split", where, default=True)
    return Metaspace(
        mark, scheme, PatternSplit(_literal(mark), "MergedWithNext") if splits else Whole()
    )


def _fixed_length(stage: Json, where: str) -> PatternSplit:
    length = parts.number(stage, "length", where, default=5)
    if not length:
        raise FileFormatError(f"{where}: length 0 is not supported here")
    return PatternSplit(re.compile(rf"[\s\S]{{1,{length}}}"), "Isolated")


PUNCTUATION = "tokpar punctuation"
"""A key that no file has. Its value is the character class that counts as punctuation. The default
is the class of tokenizers 0.2x."""


def _punctuation(stage: Json) -> str:
    return str(stage.get(PUNCTUATION, "punctuation"))


def _keep_matches(*patterns: str) -> PatternSplit:
    """Returns a stage whose pieces are the matches of `patterns`; all other text is dropped."""
    return PatternSplit(re.compile("|".join(patterns)), "Removed", invert=True)


_READERS: dict[str, Callable[[Json, str], Stage]] = {
    "BertPreTokenizer": lambda stage, _: _keep_matches(
        one_of(_punctuation(stage)), none_of(_punctuation(stage), "white")
    ),
    "ByteLevel": _byte_level,
    "CharDelimiterSplit": lambda stage, where: PatternSplit(
        _literal(parts.character(stage, "delimiter", where)), "Removed"
    ),
    "Digits": lambda stage, where: PatternSplit(
        single("number"),
        "Isolated" if parts.flag(stage, "individual_digits", where) else "Contiguous",
    ),
    "FixedLength": _fixed_length,
    "Metaspace": _metaspace,
    "Punctuation": lambda stage, where: PatternSplit(
        single(_punctuation(stage)),
        parts.choice(stage, "behavior", BEHAVIORS, where, default="Isolated"),
    ),
    "Split": _split,
    "Whitespace": lambda *_: _keep_matches(one_of("word") + "+", none_of("word", "white")),
    "WhitespaceSplit": lambda *_: _keep_matches(none_of("white")),
}
