r"""What a normalizer makes of the characters around a place (theorem 6.2).

Only windows whose normalized form is sure, character by character, are accepted: printable ASCII
with "\t\n\r", and CJK ideographs 4E00-9FA5 with 3001 and 3002."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from tokpar.types import NormalizerStage

_Form = Literal["NFD", "NFKD"]
UNICODE_FORMS = frozenset({"NFC", "NFD", "NFKC", "NFKD"})
KEEP_NON_SPACES = UNICODE_FORMS | {"Lowercase"}
"""Stages that never turn a non-space before an ASCII space into a space, or delete it."""
ONE_BY_ONE = KEEP_NON_SPACES | {"StripAccents"}
"""Stages that change a sure character by itself, and no other with it."""
KEEP_ASCII_SPACES = KEEP_NON_SPACES | {"StripAccents", "BertNormalizer"}
"""Stages that keep each ASCII space, and normalize both sides of it independently."""


@dataclass(frozen=True, slots=True)
class Image:
    """A window of the normalized text. `index`: the index of the position within `text`.

    `at_start`, `at_end`: the window begins, or ends, where the text does."""

    text: str
    index: int
    at_start: bool
    at_end: bool


class UnsureError(Exception):
    """The window does not determine the image."""


def is_ascii_fixed(char: str) -> bool:
    """Printable ASCII or "\\t\\n\\r"."""
    return " " <= char <= "~" or char in "\t\n\r"


def is_fixed(char: str) -> bool:
    """True for a character that no Unicode form changes, and that never composes with the character
    before it."""
    return is_ascii_fixed(char) or "\u4e00" <= char <= "\u9fa5" or char in "\u3001\u3002"


def image_around(
    text: str, position: int, reach: int, stages: Sequence[NormalizerStage], *, ascii_only: bool
) -> Image:
    """At least `reach` normalized characters on each side of a position; fewer at the text's ends.

    Raises UnsureError if the image is unknown, or if the stages may map the two sides differently
    when they are separate."""
    radius = reach + sum(_margin(stages, k) for k in range(len(stages)))
    low, high = max(0, position - radius), min(len(text), position + radius)
    _require_sure(text, low, high, ascii_only)
    image = Image(text[low:high], position - low, low == 0, high == len(text))
    for k, stage in enumerate(stages):
        image = _apply_stage(image, stage, _margin(stages, k))
    return image


def content_image(content: str, stages: Sequence[NormalizerStage]) -> str | None:
    """The normalized content of an added token, or None if it cannot occur in a sure ASCII window.

    Raises UnsureError if neither is certain."""
    kinds = {stage.kind for stage in stages}
    form: _Form = "NFD" if kinds.isdisjoint({"NFKC", "NFKD"}) else "NFKD"
    if kinds <= KEEP_ASCII_SPACES and any(_stays_foreign(char, form) for char in content):
        return None
    if all(map(is_fixed, content)):
        for stage in stages:
            content = _apply_to_content(content, stage)
        return content
    raise UnsureError(f"the normalized form of added token {content!r} cannot be told")


def longest_image(content: str, stages: Sequence[NormalizerStage]) -> int:
    """An upper bound on the length of the content, in characters, original or normalized."""
    known = content_image(content, stages)
    if known is not None:
        return max(len(content), len(known))
    forms = {content, *(unicodedata.normalize("NFKD", form) for form in (content, content.lower()))}
    spaced = 2 * len(content) if any(stage.kind == "BertNormalizer" for stage in stages) else 0
    return max(map(len, forms)) + spaced


def replace_pattern(stage: NormalizerStage) -> str:
    """The string that a Replace stage searches for. Raises UnsureError for a regex or ""."""
    pattern = dict(stage.settings).get("pattern")
    if isinstance(pattern, Mapping):
        pattern = pattern.get("String") if set(pattern) == {"String"} else None
    if not isinstance(pattern, str) or not pattern:
        raise UnsureError("a Replace stage is only understood with a plain, non-empty string")
    return pattern


def _margin(stages: Sequence[NormalizerStage], k: int) -> int:
    """How many characters at each edge of a window become uncertain by stage k."""
    if stages[k].kind == "Replace":
        return len(replace_pattern(stages[k])) - 1
    return 1 if any(stage.kind == "Replace" for stage in stages[:k]) else 0


def _require_sure(text: str, low: int, high: int, ascii_only: bool) -> None:
    sure = is_ascii_fixed if ascii_only else is_fixed
    for place in range(low, high):
        if not sure(text[place]):
            raise UnsureError(
                f"what the normalizer makes of U+{ord(text[place]):04X} at {place} is not sure"
            )
    if high < len(text) and text[high - 1] not in " \t\n\r" and not is_fixed(text[high]):
        raise UnsureError(f"U+{ord(text[high]):04X} at {high} might combine with the one before it")


def _apply_stage(image: Image, stage: NormalizerStage, margin: int) -> Image:
    """The image after one more stage, without the uncertain characters at its edges."""
    text, at = image.text, image.index
    if stage.kind == "Strip":
        if text[at - 1].isspace() or text[at].isspace():
            raise UnsureError("a Strip stage needs non-spaces on both sides")
    elif stage.kind == "Replace":
        pattern = replace_pattern(stage)
        if pattern in text:
            raise UnsureError(f"a Replace stage finds {pattern!r} around it")
    else:
        text = _map(text, stage)
    left = 0 if image.at_start else margin
    right = len(text) if image.at_end else len(text) - margin
    return replace(image, text=text[left:right], index=at - left)


def _map(text: str, stage: NormalizerStage) -> str:
    """Apply a stage that maps one sure character at a time. The length never changes."""
    if stage.kind in UNICODE_FORMS or stage.kind == "StripAccents":
        return text
    if stage.kind == "Lowercase":
        return text.lower()
    if stage.kind == "BertNormalizer":
        settings = dict(stage.settings)
        if not text.isascii():
            raise UnsureError("BertNormalizer may set spaces around ideographs")
        if settings.get("clean_text", True):
            text = text.translate(dict.fromkeys(map(ord, "\t\n\r"), " "))
        return text.lower() if settings.get("lowercase", True) else text
    raise UnsureError(f"normalizer stage {stage.kind} is not understood")


def _apply_to_content(content: str, stage: NormalizerStage) -> str:
    settings = dict(stage.settings)
    if stage.kind == "Strip":
        content = content.lstrip() if settings.get("strip_left", True) else content
        return content.rstrip() if settings.get("strip_right", True) else content
    if stage.kind == "Replace":
        content = content.replace(replace_pattern(stage), str(settings.get("content")))
        if not all(map(is_fixed, content)):
            raise UnsureError("what a Replace stage makes of an added token is not sure")
        return content
    return _map(content, stage)


def _stays_foreign(char: str, form: _Form) -> bool:
    """True if the character stays outside ASCII in whichever stage of KEEP_ASCII_SPACES sees it.

    The Unicode forms among these stages must decompose no further than `form`."""
    return (
        not char.isascii()
        and unicodedata.category(char)[0] in "LNPS"
        and unicodedata.normalize(form, char) == char
        and char.lower() == char
        and char != "\ufffd"
    )
