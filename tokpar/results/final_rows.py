"""The ids of the texts of one call, before and after post-processing, and where they came from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tokpar.arrays import IdArray, SpanArray, frozen_ids
from tokpar.contract.adapter import inserted_ids
from tokpar.contract.interfaces import PostProcesses, TokenizerAdapter
from tokpar.process.cached_property import cached_property
from tokpar.results.encoding import OwnPadding
from tokpar.results.seams import Seams
from tokpar.results.spans import (
    final_spans,
    other_ids,
    postprocess_own,
    postprocess_single,
    spans_of,
    stand_in_ids,
)
from tokpar.types import Rows


@dataclass(eq=False)
class FinalRows:
    """The ids of texts: `own` before post-processing, `final` after it."""

    texts: Sequence[str]
    tokenizer: TokenizerAdapter
    own: Rows
    final: Rows

    @classmethod
    def of(
        cls,
        texts: Sequence[str],
        tokenizer: TokenizerAdapter,
        own: Rows,
        post: PostProcesses | None,
    ) -> FinalRows:
        """Post-process the ids `own` of `texts`. `post`: the tokenizer, if its ids are to be
        post-processed. Raises EngineError for an engine that has other ids."""
        final = own
        if post is not None:
            try:
                final = post.postprocess(own, texts)
            except LookupError as error:
                raise other_ids(post, error) from error
        return cls(texts, tokenizer, own, final)

    @cached_property
    def _ids(self) -> IdArray:
        return frozen_ids(self.final.ids)

    def ids(self, k: int) -> IdArray:
        """Returns the final ids of text `k`, read-only."""
        first, stop = self.final.offsets[k : k + 2].tolist()
        return self._ids[first:stop]

    def padding(self) -> OwnPadding | None:
        """Returns the padding of the final ids, None without any. Raises LookupError."""
        if self.final is self.own:
            return None
        from tokpar.results.own_padding import own_padding  # few callers ask for it

        return own_padding(self.tokenizer, self.own.offsets, self.final.offsets)

    def spans(self, seams: Sequence[Seams] | None, code_points: bool) -> SpanArray:
        """Returns the spans of the final ids of all texts, int64, (n, 2). `seams`: of each text.

        Positions count the code points or the UTF-8 bytes of each text. Inserted ids have the span
        (0, 0). Raises LookupError if the tokenizer cannot locate its tokens."""
        tokenizer = self.tokenizer
        spans = spans_of(tokenizer, self.texts, self.own, seams, code_points=code_points)
        origin = stand_in_ids(len(self.own.ids))
        if self.final is not self.own and isinstance(tokenizer, PostProcesses):
            origin = tokenizer.postprocess(Rows(origin, self.own.offsets), self.texts).ids
        return final_spans(spans, origin)

    def layout(self, k: int, count: int) -> IdArray:
        """Returns `stand_in_ids(count)`, post-processed as the ids of text `k` are."""
        tokenizer = self.tokenizer
        if self.final is self.own or not isinstance(tokenizer, PostProcesses):
            return stand_in_ids(count)
        if inserted_ids(tokenizer) is not None or len(self.texts) == 1:
            return postprocess_single(tokenizer, stand_in_ids(count), self.texts[k])
        stand_ins = stand_in_ids(len(self.own.ids)) - np.repeat(
            self.own.offsets[:-1].astype(np.uint32), np.diff(self.own.offsets)
        )
        return tokenizer.postprocess(Rows(stand_ins, self.own.offsets), self.texts)[k]


def final_of_each(
    texts: Sequence[str], own: Rows, post: PostProcesses | None
) -> Callable[[int], IdArray]:
    """Returns a function that returns a copy of the ids of text k, post-processed as a single text;
    read-only. `own`: the ids before post-processing. `post`: see `FinalRows.of`."""
    alone = None
    if post is not None and (post.pads or post.truncates_to is not None or not post.special_tokens):
        alone = post  # what it does depends on the text, and on the longest text of a batch
    final = own if post is None or alone else postprocess_own(post, own, texts)

    def ids(k: int) -> IdArray:
        row = final[k]
        if alone is not None:
            row = postprocess_own(alone, own.part(k, k + 1), [texts[k]])[0]
        found = np.array(row)
        found.flags.writeable = False
        return found

    return ids
