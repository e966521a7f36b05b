"""Normalizers of a ``tokenizer.json``, each exact to Hugging Face's `tokenizers` 0.23.

Character classes come from the engine, not from Python (`tokpar.formats.char_classes`). A regex is
refused unless all engines give it the same meaning (`tokpar_pure.patterns`). Only spans of tokens
need `trace`.

>>> strip_and_lower = read_normalizer({"type": "Sequence", "normalizers": [
...     {"type": "Strip", "strip_left": True, "strip_right": True}, {"type": "Lowercase"}]})
>>> strip_and_lower(" Straße "), strip_and_lower.trace(" Straße ")
('straße', [1, 2, 3, 4, 5, 6])
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from tokpar.arrays import SPACES
from tokpar.formats.json_parts import Json
from tokpar_pure import forms
from tokpar_pure.classes import present, recent_lowercase
from tokpar_pure.forms import FORMS, Form
from tokpar_pure.parts import choice, flag, interpret_stages, pattern_of, string
from tokpar_pure.patterns import AnyPattern, replace_matches, spans


class Normalizer(Protocol):
    """A callable that takes a text and returns the normalized text."""

    def __call__(self, text: str) -> str: ...

    def trace(self, text: str) -> Sequence[int]:
        """Returns, for each character of the normalized text, the index of the character of `text`
        that it comes from."""


@dataclass(frozen=True)
class Chain:
    """Applies one normalizer after the other."""

    stages: tuple[Normalizer, ...]

    def __call__(self, text: str) -> str:
        for stage in self.stages:
            text = stage(text)
        return text

    def trace(self, text: str) -> Sequence[int]:
        found: Sequence[int] = range(len(text))
        for stage in self.stages:
            found = [found[i] for i in stage.trace(text)]
            text = stage(text)
        return found


@dataclass(frozen=True)
class UnicodeForm:
    """Normalizes to NFC, NFD, NFKC or NFKD."""

    form: Form

    def __call__(self, text: str) -> str:
        return forms.normalized(self.form, text)

    def trace(self, text: str) -> Sequence[int]:
        return forms.trace(self.form, text)


class _ByCharacter(Normalizer):
    """A normalizer that changes each character independently of its neighbours."""

    def trace(self, text: str) -> Sequence[int]:
        sizes = {char: len(self(char)) for char in set(text)}
        return [i for i, char in enumerate(text) for _ in range(sizes[char])]


class Lowercase(_ByCharacter):
    """Lowercases each letter. Unlike `str.lower`, it has no rule for the final sigma:
    "ΑΣ" -> "ασ"."""

    def __call__(self, text: str) -> str:
        lower = text.replace("Σ", "σ").lower()
        recent = recent_lowercase()
        if lower.isascii() or recent.keys().isdisjoint(map(ord, set(lower))):
            return lower
        return lower.translate(recent)


@dataclass(frozen=True)
class RemoveClass(_ByCharacter):
    """Removes all characters of the class `name` (`tokpar.formats.char_classes`)."""

    name: str

    def __call__(self, text: str) -> str:
        gone = present(self.name, text)
        return text.translate(dict.fromkeys(map(ord, gone))) if gone else text


class WhiteToSpaces(_ByCharacter):
    """Replaces each white-space character by a space: "a\\n\\tb" -> "a  b"."""

    def __call__(self, text: str) -> str:
        other = [ord(char) for char in present("white", text) if char != " "]
        return text.translate(dict.fromkeys(other, " ")) if other else text


class ChineseApart(_ByCharacter):
    """Puts a space before and after each Chinese character: "a中" -> "a 中 "."""

    def __call__(self, text: str) -> str:
        chinese = present("chinese", text)
        return text.translate({ord(char): f" {char} " for char in chinese}) if chinese else text


@dataclass(frozen=True)
class Strip:
    """Strips white space from the left end, the right end, or both."""

    left: bool
    right: bool

    def __call__(self, text: str) -> str:
        text = text.lstrip(SPACES) if self.left else text
        return text.rstrip(SPACES) if self.right else text

    def trace(self, text: str) -> Sequence[int]:
        start = len(text) - len(text.lstrip(SPACES)) if self.left else 0
        return range(start, start + len(self(text)))


@dataclass(frozen=True)
class Prepend:
    """Puts `prefix` before the text. An empty text stays empty."""

    prefix: str

    def __call__(self, text: str) -> str:
        return self.prefix + text if text else text

    def trace(self, text: str) -> Sequence[int]:
        return [0] * len(self.prefix) + list(range(len(text))) if text else []


@dataclass(frozen=True)
class Replace:
    """Replaces every match by `content`. In `trace`, every character of `content` comes from the
    last character of the match."""

    pattern: AnyPattern
    content: str

    def __call__(self, text: str) -> str:
        return replace_matches(self.pattern, self.content, text)

    def trace(self, text: str) -> Sequence[int]:
        found: list[int] = []
        end = 0
        for start, stop in spans(self.pattern, text):
            found += [*range(end, start), *([stop - 1] * len(self.content))]
            end = stop
        return [*found, *range(end, len(text))]


@dataclass(frozen=True)
class ReplaceString:
    """Replaces a fixed string, at the speed of `str.replace`."""

    old: str
    new: str

    def __call__(self, text: str) -> str:
        return text.replace(self.old, self.new)

    def trace(self, text: str) -> Sequence[int]:
        return Replace(re.compile(re.escape(self.old)), self.new).trace(text)


def bert_normalizer(
    *, clean_text: bool, handle_chinese_chars: bool, strip_accents: bool | None, lowercase: bool
) -> Chain:
    """Returns a BertNormalizer. `strip_accents`: None means the value of `lowercase`."""
    chain: list[Normalizer] = [RemoveClass("removed"), WhiteToSpaces()] if clean_text else []
    if handle_chinese_chars:
        chain.append(ChineseApart())
    if lowercase if strip_accents is None else strip_accents:
        chain += [UnicodeForm("NFD"), RemoveClass("nonspacing")]
    if lowercase:
        chain.append(Lowercase())
    return Chain(tuple(chain))


def read_normalizer(config: Json | None) -> Normalizer | None:
    """Returns the normalizer for the "normalizer" of a ``tokenizer.json``; None if it has no
    stages. Raises FileFormatError that names a part that is not supported."""
    read = interpret_stages(config, "normalizer", "normalizers", _READERS)
    return read[0] if len(read) == 1 else Chain(tuple(read)) if read else None


def _bert(stage: Json, where: str) -> Chain:
    accents = None if stage.get("strip_accents") is None else flag(stage, "strip_accents", where)
    keys = ("clean_text", "handle_chinese_chars", "lowercase")
    return bert_normalizer(strip_accents=accents, **{key: flag(stage, key, where) for key in keys})


def _replace(stage: Json, where: str) -> Replace | ReplaceString:
    pattern = pattern_of(stage, where)
    content = string(stage, "content", where)
    if isinstance(pattern, str):
        return ReplaceString(pattern, content)
    return Replace(pattern, content)


_READERS: dict[str, Callable[[Json, str], Normalizer]] = {
    **dict.fromkeys(FORMS, lambda stage, where: UnicodeForm(choice(stage, "type", FORMS, where))),
    "BertNormalizer": _bert,
    "Lowercase": lambda *_: Lowercase(),
    "Prepend": lambda stage, where: Prepend(string(stage, "prepend", where)),
    "Replace": _replace,
    "Strip": lambda stage, where: Strip(
        flag(stage, "strip_left", where), flag(stage, "strip_right", where)
    ),
    "StripAccents": lambda *_: RemoveClass("mark"),
}
