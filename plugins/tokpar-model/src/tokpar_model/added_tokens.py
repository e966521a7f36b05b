"""Added tokens: the gate of theorem 32, and their occurrences in a text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from tokpar.certificate.canonical_form import JsonForm, RankForm, is_id
from tokpar.certificate.check_context import require
from tokpar.certificate.content_index import ContentIndex, occurring
from tokpar.types import AddedToken


@dataclass(frozen=True)
class AddedTokenRounds:
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
    form: JsonForm, vocabulary: Mapping[str, int], normalized_alike: bool
) -> AddedTokenRounds:
    """Returns the added tokens of a ``tokenizer.json``. Refused outside the gate.

    `vocabulary`: the tokens of the model. `normalized_alike`: the normalizer changes nothing."""
    raw: dict[str, int] = {}
    normalized: dict[str, int] = {}
    seen, new_id = set[str](), len(vocabulary)
    taken = {id_: token for token, id_ in vocabulary.items()}
    for token in form.added_tokens:
        content = token.content
        require(content, "added token", "an added token has no content")
        require(content not in seen, "added token", f"added token {content!r} is listed twice")
        require_unflagged(token)
        engine_id = vocabulary.get(content, new_id)
        other = f"added token {content!r} has id {token.id}, the engine gives it {engine_id}"
        require(token.id == engine_id, "added token", other)
        shared = taken.setdefault(engine_id, content)
        require(shared == content, "shared id", f"{content!r} and {shared!r} have one id")
        seen.add(content)
        new_id = max(new_id, engine_id + 1)
        alike = normalized_alike or not token.normalized
        require(alike, "added token", f"added token {content!r} is searched in normalized text")
        if not (form.skips_special and token.special):
            (normalized if token.normalized else raw)[content] = engine_id
    return AddedTokenRounds((raw, normalized))


def require_unflagged(token: AddedToken) -> None:
    """Refuse an added token with a flag that moves its edges."""
    flags = [name for name in ("lstrip", "rstrip", "single_word") if getattr(token, name)]
    flagged = f"added token {token.content!r} has flags: {', '.join(flags)}"
    require(not flags, "added token", flagged)


def added_of_ranks(form: RankForm) -> AddedTokenRounds:
    """Returns the special tokens that are matched. Refused if chance decides which."""
    for token in form.added_tokens:
        require_unflagged(token)
    contents = {token.content: token.id for token in form.added_tokens}
    twice = len(contents) < len(form.added_tokens)
    require(not twice, "added token", "an added token is listed twice")
    for short, long in pairwise(sorted(form.specials)):
        chance = bool(contents) and long.startswith(short)
        beside = f"special token {long!r} begins with {short!r}: chance decides"
        require(not chance, "added token", beside)
    require("" not in contents, "added token", "a special token has no content")
    require(all(map(is_id, contents.values())), "added token", "a special token has no id")
    return AddedTokenRounds((contents,))
