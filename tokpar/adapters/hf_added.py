"""Test many added tokens at once: do two tokenizers find the same ones?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from tokpar.adapters.hf_postprocess import parse_component
from tokpar.adapters.settings import is_panic
from tokpar.foreign_errors import raise_foreign
from tokpar.pure.parts import stages

_KEEP_PARTS = {"NFC", "NFD", "NFKC", "NFKD", "Lowercase"}


def find_together(own: Any, copy: Any, added_tokens: Mapping[int, Any]) -> set[int]:
    """Returns the ids of added tokens that both tokenizers find in two joint texts, or an empty
    set.

    These tokens need no test one by one. All of them begin with the same character, which occurs in
    no other place of any content. One joint text has letters between the tokens, the other has
    nothing between them.

    Every occurrence of any content in a joint text ends before the next token begins, because
    otherwise the content would contain that character behind its first place. So the engine meets
    the same occurrences around each token as in a text of this token alone, and takes the same one:
    the first and longest. The id shows that an added token was found, because the model does not
    have this id. A normalizer that leaves the joint texts unchanged also leaves their parts
    unchanged (`_keeps_parts`)."""
    if own.truncation is not None or own.padding is not None or not _keeps_parts(own.normalizer):
        return set()
    marks = Counter(token.content[:1] for token in added_tokens.values()).most_common(1)
    mark = marks[0][0] if marks else ""
    if not mark or any(mark in token.content[1:] for token in added_tokens.values()):
        return set()
    some = {i: t.content for i, t in added_tokens.items() if t.content[:1] == mark and _is_plain(t)}
    some = {i: content for i, content in some.items() if own.model.id_to_token(i) is None}
    try:
        seen = all(_all_found(own, copy, some, separator) for separator in ("x", ""))
    except BaseException as error:
        raise_foreign(error)
        if not isinstance(error, Exception) and not is_panic(error):
            raise
        seen = False  # testing them one by one shows which one fails
    return {*some} if seen else set()


def _is_plain(token: Any) -> bool:
    return not (token.normalized or token.single_word or token.lstrip or token.rstrip)


def _keeps_parts(normalizer: Any) -> bool:
    """True if, for every text that the normalizer leaves unchanged, it leaves each part unchanged,
    too."""
    if normalizer is None:
        return True
    kinds = (
        stage["type"] for stage in stages(parse_component(normalizer), "normalizer", "normalizers")
    )
    return all(kind in _KEEP_PARTS for kind in kinds)


def _all_found(own: Any, copy: Any, some: Mapping[int, str], separator: str) -> bool:
    """True if both tokenizers find each of these tokens at its position in one joint text."""
    text = separator + "".join(content + separator for content in some.values())
    if own.normalizer is not None and own.normalizer.normalize_str(text) != text:
        return False
    native, expected = (each.encode(text, add_special_tokens=False) for each in (own, copy))
    if native.ids != expected.ids:
        return False
    places, at = {}, len(separator)
    for i, content in some.items():
        places[at, at + len(content)] = i
        at += len(content) + len(separator)
    return all(
        places.items() <= dict(zip(each.offsets, each.ids, strict=True)).items()
        for each in (native, expected)
    )
