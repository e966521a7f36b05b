"""Check rule K8: two overlapping windows share a WordPiece token (theorem 12).

A word longer than M characters is one unknown token. Two windows that share M normalized characters
give the same tokens there."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from tokpar.arrays import IntArray
from tokpar.certificate.check_context import (
    CheckContext,
    RefusedError,
    SeamContext,
    require,
    witness_numbers,
)
from tokpar.certificate.tokenizer_probe import IdsWithSpans, TokenizerProbe, require_probe
from tokpar.types import Rule

_NAMES = ("left_start", "left_stop", "right_start", "right_stop", "token_start")


class Words:
    """Checks the K8 seams of one text."""

    def __init__(self, ground: CheckContext, probe: TokenizerProbe | None) -> None:
        self._ground = ground
        self._probe = probe

    def common(self, context: SeamContext) -> None:
        """Refuse unless the token [token_start, position) is in both windows, and the windows share
        enough (theorem 12)."""
        self._require_model()
        left_start, left_stop, right_start, right_stop, begin = witness_numbers(
            context.seam, *_NAMES
        )
        position, length = context.seam.position, len(self._ground.text)
        nested = left_start <= right_start <= begin < position <= left_stop <= right_stop <= length
        nested = nested and begin >= context.start
        require(nested, "witness", "the token must lie in both windows, after the last seam")
        self._require_chain(context, left_start, left_stop, right_stop)
        self._require_shared(right_start, left_stop)
        probe, count = require_probe(self._probe), context.seam.token
        left, right = probe.part(left_start, left_stop), probe.part(right_start, right_stop)
        span = int(probe.starts[begin]), int(probe.starts[position])
        own, expected = _ids_at(left, span)[0], _ids_at(right, span)
        require(own == expected[0], "pair", f"the windows have ids {own} and {expected[0]} there")
        # the common token is the last id before the seam; the next id of the right window follows
        # it
        if probe.ids is not None and (
            count < 1 or probe.ids[count - 1 : count - 1 + len(expected)].tolist() != expected
        ):
            raise RefusedError("ids", f"expected ids {expected} from number {count - 1} on")

    @cached_property
    def _others(self) -> IntArray:
        """The positions of characters that are not printable ASCII, ascending, int64."""
        points = np.frombuffer(self._ground.text.encode("utf-32-le"), dtype="<u4")
        return np.flatnonzero((points < ord(" ")) | (points > ord("~")))

    def _require_model(self) -> None:
        facts = self._ground.facts
        known = facts.scheme == "bert" and facts.model.casefold() == "wordpiece"
        other = f"the rule is for BERT's WordPiece, not {facts.scheme} {facts.model}"
        require(known, "scheme", other)
        limited = facts.longest_word >= 1
        require(limited, "facts", "the facts do not tell which words are too long")
        alone = [stage.kind for stage in facts.normalizers] == ["BertNormalizer"]
        plain = alone and not facts.prefix_space
        require(plain, "normalizer", "the rule needs BertNormalizer, alone")

    def _require_chain(self, context: SeamContext, start: int, stop: int, right_stop: int) -> None:
        """Refuse unless the left window surely has the serial ids up to the seam.

        It has if it is the right window of the seam before, or if it begins at or before a
        certified cut (theorem 12 on the text up to `stop`)."""
        previous, first = context.previous, context.start
        if previous is not None and previous.rule == Rule.COMMON_WORD:
            _, _, *window, _ = witness_numbers(previous, *_NAMES)
            other = f"expected the left window {window} of the last seam, got [{start}, {stop}]"
            require(window == [start, stop], "window", other)
        else:
            require(start <= first, "window", f"the left window must begin by {first}")
        reaches = right_stop >= context.stop
        require(reaches, "window", f"the right window must reach {context.stop}")

    def _require_shared(self, start: int, stop: int) -> None:
        """Refuse unless [start, stop) is enough printable ASCII, and both ends are safe for added
        tokens and normalizers.

        Each of its characters must be one normalized character."""
        text, most = self._ground.text, self._ground.facts.longest_word
        shared = f"expected {most} characters in both, got {stop - start}"
        require(stop - start >= most, "overlap", shared)
        first, last = np.searchsorted(self._others, (start, stop))
        require(first == last, "overlap", "expected printable ASCII where both windows overlap")
        following = text[stop : stop + 1]
        if not following.isascii():
            raise RefusedError("normalizer", f"U+{ord(following):04X} after the left window")
        for edge in {start, stop} - {0, len(text)}:
            self._ground.require_added_safe(edge)


def _ids_at(tokens: IdsWithSpans, span: tuple[int, int]) -> list[int]:
    """The id at a span, and the next id. Refused unless exactly one id lies at the span."""
    found = tokens.numbers.get(span, [])
    one = len(found) == 1
    require(one, "pair", f"expected one such token in each window, got {len(found)}")
    ids: list[int] = tokens.ids[found[0] : found[0] + 2].tolist()
    return ids
