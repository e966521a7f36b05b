"""Added tokens: the gate of theorem 32, and their occurrences in a text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from tokpar.certificate.check_context import require
from tokpar.certificate.content_index import ContentIndex, occurring
from tokpar.certificate.model.strict_json import Json, flag_in, is_id, list_in, text_in


@dataclass(frozen=True)
class AddedTokens:
    """The added tokens that the engine matches, as rounds of (content -> id).

    Each round is searched in what the rounds before it left, leftmost first, then longest."""

    rounds: tuple[Mapping[str, int], ...] = ()

    def parts(self, text: str) -> list[tuple[str, int | None]]:
        """Returns the parts of a text in order: (added token, its id), or (text between, None)."""
        parts: list[tuple[str, int | None]] = [(text, None)] if text else []
        for contents in self.rounds:
            index = ContentIndex(occurring(contents, text))
            if index.longest:
                parts = [each for part in parts for each in _divide(part, index, contents)]
        return parts


def _divide(
    part: tuple[str, int | None], index: ContentIndex, contents: Mapping[str, int]
) -> Iterator[tuple[str, int | None]]:
    text, known = part
    if known is not None:
        yield part
        return
    last = 0
    for place, content in index.matches(text):
        if place > last:
            yield text[last:place], None
        yield content, contents[content]
        last = place + len(content)
    if last < len(text):
        yield text[last:], None


def added_of_json(
    config: Json, vocabulary: Mapping[str, int], skip_special: bool, normalized_alike: bool
) -> AddedTokens:
    """Returns the added tokens of a ``tokenizer.json``. Refused outside the gate.

    `vocabulary`: the tokens of the model. `skip_special`: the engine does not match special tokens.
    `normalized_alike`: the normalizer changes nothing."""
    raw: dict[str, int] = {}
    normalized: dict[str, int] = {}
    seen: dict[str, int] = {}
    taken = {id_: token for token, id_ in vocabulary.items()}
    for entry in list_in(config, "added_tokens"):
        require(isinstance(entry, Mapping), "added token", "an added token is no object")
        content, id_ = text_in(entry, "content") or "", entry.get("id")
        require(content, "added token", "an added token has no content")
        require(content not in seen, "added token", f"added token {content!r} is listed twice")
        flags = [f for f in ("lstrip", "rstrip", "single_word") if flag_in(entry, f, False)]
        require(not flags, "added token", f"added token {content!r} has flags: {', '.join(flags)}")
        engine_id = vocabulary.get(content, _next_id(seen.values(), len(vocabulary)))
        if not is_id(id_) or id_ != engine_id:
            other = f"added token {content!r} has id {id_!r}, the engine gives it {engine_id}"
            require(False, "added token", other)
        shared = taken.setdefault(engine_id, content)
        require(shared == content, "shared id", f"{content!r} and {shared!r} have one id")
        seen[content] = engine_id
        is_normalized = flag_in(entry, "normalized", True)
        alike = normalized_alike or not is_normalized
        require(alike, "added token", f"added token {content!r} is searched in normalized text")
        if not (skip_special and flag_in(entry, "special", False)):
            (normalized if is_normalized else raw)[content] = engine_id
    return AddedTokens((raw, normalized))


def _next_id(used_ids: Iterable[int], size: int) -> int:
    """Returns the id that the engine gives to a new added token."""
    highest = max(used_ids, default=-1)
    return highest + 1 if highest >= size else size


def added_of_ranks(specials: Mapping[str, int], allowed_specials: frozenset[str]) -> AddedTokens:
    """Returns the special tokens of tiktoken that are matched. Refused if chance decides which."""
    ordered = sorted(specials)
    for short, long in pairwise(ordered):
        chance = bool(allowed_specials) and long.startswith(short)
        beside = f"special token {long!r} begins with {short!r}: chance decides"
        require(not chance, "added token", beside)
    contents = {content: id_ for content, id_ in specials.items() if content in allowed_specials}
    require("" not in contents, "added token", "a special token has no content")
    require(all(map(is_id, contents.values())), "added token", "a special token has no id")
    return AddedTokens((contents,))
