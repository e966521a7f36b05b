"""Search for texts on which two tokenizers differ: texts that the structural difference suggests,
then drawn ones, then those of a corpus. A found text is cut down until every character is
needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from tokpar_diff.differences import Difference, aspects_told, compare_rows
from tokpar_diff.equality import Argument
from tokpar_diff.rows import Row
from tokpar_diff.sides import Side
from tokpar_diff.structure import merge_changes, parts_of
from tokpar_diff.witness_texts import (
    Witness,
    added_token_texts,
    drawn_texts,
    text_of,
    token_texts,
    vocabulary_of,
    witness_texts,
)

DRAWN = 3_000
BLOCK = 256
MOST = 200
"""Tokens or merges of a structural difference that are tried."""
MOST_NEIGHBOURS = 24
SEED = 7


class DifferenceSearch:
    """The texts that were tried, and for each aspect the shortest text that differs in it.

    `aspects`: those that both sides tell."""

    def __init__(self, a: Side, b: Side) -> None:
        self._a, self._b = a, b
        self.texts_count = 0
        self._tried_texts: set[str] = set()
        self._shortest: dict[str, Difference] = {}
        self.aspects = aspects_told([*a.rows_of(["a"]), *b.rows_of(["a"])])

    @property
    def has_found(self) -> bool:
        """True if some text differs."""
        return bool(self._shortest)

    def try_texts(self, witnesses: Iterable[Witness]) -> None:
        """Compare the rows of these texts."""
        remaining = iter(witnesses)
        while block := [*islice(remaining, BLOCK)]:
            block = [pair for pair in dict.fromkeys(block) if pair[1] not in self._tried_texts]
            self._tried_texts.update(text for _, text in block)
            self.texts_count += len(block)
            rows = self._rows([text for _, text in block])
            for (subject, text), (row_a, row_b) in zip(block, rows, strict=True):
                aspects = compare_rows(row_a, row_b)
                for aspect in aspects:
                    known = self._shortest.get(aspect)
                    if known is None or len(text) < len(known.text):
                        self._shortest[aspect] = Difference(text, subject, aspects, row_a, row_b)

    def differences(self) -> tuple[Difference, ...]:
        """Returns a minimal text for each aspect that differs, texts of several aspects once."""
        found: dict[str, Difference] = {}
        for aspect, difference in self._shortest.items():
            least = self._shrink(difference, aspect)
            found.setdefault(least.text, least)
        return tuple(sorted(found.values(), key=lambda each: each.rank))

    def _rows(self, texts: Sequence[str]) -> list[tuple[Row, Row]]:
        if not texts:
            return []
        return list(zip(self._a.rows_of(texts), self._b.rows_of(texts), strict=True))

    def _shrink(self, difference: Difference, aspect: str) -> Difference:
        """Returns a part of the text that differs in the aspect, and does not without any one of
        its characters."""
        size = len(difference.text)
        while size:
            shorter = self._without_part(difference, aspect, size)
            if shorter is None:
                size = min(size, len(difference.text)) // 2
            else:
                difference = shorter
        return difference

    def _without_part(self, difference: Difference, aspect: str, size: int) -> Difference | None:
        """Returns the text without one part of `size` characters, if it still differs."""
        text = difference.text
        for first in range(0, len(text), BLOCK * size):
            starts = range(first, min(first + BLOCK * size, len(text)), size)
            texts = [text[:start] + text[start + size :] for start in starts]
            for shorter, (row_a, row_b) in zip(texts, self._rows(texts), strict=True):
                aspects = compare_rows(row_a, row_b)
                if aspect in aspects:
                    return Difference(shorter, difference.subject, aspects, row_a, row_b)
        return None


def structural_texts(a: Side, b: Side, arguments: Sequence[Argument]) -> Iterator[Witness]:
    """Yields the texts that the differing parts suggest, then those of both structures."""
    for argument in arguments:
        yield from ((argument.part, text) for text in argument.texts)
    if a.form is not None and b.form is not None:
        yield from _added_token_changes(a, b)
        yield from (("vocabulary", text) for text in _token_changes(a, b))
        yield from (("merges", text) for text in _merge_texts(a, b))
    for side in (a, b):
        yield from witness_texts(side.form)


def all_drawn_texts(a: Side, b: Side) -> Iterator[Witness]:
    """Yields texts drawn from characters and from tokens of both sides."""
    tokens = [text for side in (a, b) if side.form is not None for text in token_texts(side.form)]
    yield from (("drawn", text) for text in drawn_texts(SEED, DRAWN, tokens))


def _added_token_changes(a: Side, b: Side) -> Iterator[Witness]:
    assert a.form is not None
    assert b.form is not None
    changed = {*a.form.added_tokens} ^ {*b.form.added_tokens}
    for content in sorted({token.content for token in changed}, key=len)[:MOST]:
        yield from added_token_texts(content)


def _token_changes(a: Side, b: Side) -> Iterator[str]:
    """Yields the texts of tokens that have another id, or none, on the other side."""
    assert a.form is not None
    assert b.form is not None
    changed = {*vocabulary_of(a.form).items()} ^ {*vocabulary_of(b.form).items()}
    for token in sorted({token for token, _ in changed}, key=len)[:MOST]:
        text = text_of(token, a.form)
        if text:
            yield from (text, f" {text}", f"a {text} b")


def _merge_texts(a: Side, b: Side) -> Iterator[str]:
    """Yields texts in which a merge of another place competes with the merges beside it: for the
    merge of l and r, l r, and l r s for each merge of r and s, q l r for each merge of q and l."""
    merges_a, merges_b = (parts_of(side).get("merges") or () for side in (a, b))
    if merges_a == merges_b:
        return
    assert a.form is not None
    after: dict[str, list[str]] = {}
    before: dict[str, list[str]] = {}
    for left, right in merges_a:
        after.setdefault(left, []).append(right)
        before.setdefault(right, []).append(left)
    changed = [merge for merges in merge_changes(merges_a, merges_b) for merge in merges[:MOST]]
    for left, right in changed:
        tokens = [left + right]
        tokens += [left + right + third for third in after.get(right, ())[:MOST_NEIGHBOURS]]
        tokens += [first + left + right for first in before.get(left, ())[:MOST_NEIGHBOURS]]
        for token in tokens:
            text = text_of(token, a.form)
            if text:
                yield text
