"""How texts are encoded: by which tokenizer, splitter, executor and merger."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tokpar.contract.adapter import EngineTraits, traits_of, why_not_compiled
from tokpar.contract.interfaces import (
    CachedRows,
    EncodesMany,
    Executor,
    Flags,
    HasSegmentCache,
    Locates,
    Merger,
    PostProcesses,
    Splitter,
    TokenizerAdapter,
    facts_of,
)
from tokpar.contract.part_checks import mend_chunks, split_text, wrong_look_up
from tokpar.errors import EngineError
from tokpar.pipeline.sizes import TOO_SHORT
from tokpar.process.cached_property import cached_property
from tokpar.types import Chunk, Chunks, Facts, Report, Rows, Seam, Split

LookUp = Callable[[Sequence[str], TokenizerAdapter], CachedRows]


@dataclass(frozen=True)
class Plan:
    """How texts are encoded: the splitter cuts, the executor encodes, the merger joins.

    `whole`: the cache may be asked for long texts before the splitter cuts them. `uncut`: the
    reason in reports for texts that the splitter is not asked about. `approximate`: the strategy
    may join where no rule licenses a seam."""

    tokenizer: TokenizerAdapter
    splitter: Splitter
    executor: Executor
    merger: Merger
    name: str = ""
    whole: bool = False
    uncut: str = TOO_SHORT
    approximate: bool = False

    @cached_property
    def licence(self) -> Seam | None:
        """The seam by which the cache may divide whole texts, or None. The splitter says it."""
        return None if self.look_up is None else licence_of(self.splitter, self.tokenizer)

    @cached_property
    def postprocesses(self) -> PostProcesses | None:
        return self.tokenizer if isinstance(self.tokenizer, PostProcesses) else None

    @cached_property
    def segment_cache(self) -> HasSegmentCache | None:
        return self.tokenizer if isinstance(self.tokenizer, HasSegmentCache) else None

    @cached_property
    def facts(self) -> Facts:
        return facts_of(self.tokenizer)

    @cached_property
    def traits(self) -> EngineTraits:
        return traits_of(self.tokenizer)

    @cached_property
    def spans(self) -> bool:
        """True if the executor must return spans. Tokens that tile the text need none: their spans
        follow from their lengths."""
        return matches_spans(self.merger) and not self.facts.tiles

    @cached_property
    def look_up(self) -> LookUp | None:
        """The executor's lookup in a cache, or None."""
        return look_up_of(self.executor)

    def mend(self, text: str, chunks: Chunks, failed_seams: Sequence[int]) -> list[Chunk] | None:
        """Returns the chunks after the merger's repair of failed seams; None: it repairs none.

        Raises PluginError for chunks that cannot be used."""
        return mend_chunks(self.merger, text, chunks, failed_seams, self.tokenizer)

    def executor_name(self, is_answered: bool) -> str:
        """Returns the executor's name in reports. `is_answered`: the cache answered something."""
        return self.executor.name if is_answered else without_cache_of(self.executor)

    def split(self, text: str) -> Split:
        """Returns the splitter's first answer, or one chunk if the merger needs spans that the
        tokenizer cannot give. Raises PluginError for a split that cannot be used."""
        if self.spans and not isinstance(self.tokenizer, (Locates, EncodesMany)):
            return Split.whole(text, f"{self.tokenizer.name} cannot tell where its tokens lie")
        return split_text(self.splitter, text, self.tokenizer, 0)

    def asks_cache(self, chunk: Chunk) -> bool:
        """True if the cache is asked for the ids of `chunk`.

        With a licence for whole texts, the cache answers a chunk as a text of its own. Without
        one, it answers divisible chunks only."""
        return chunk.divisible or (self.licence is not None)

    def run(self, texts: Sequence[str], is_asked: Flags, spans: bool = False) -> CachedRows:
        """Returns the rows of slices of texts, and which of them the cache answered.

        `is_asked`: see `asks_cache`. The executor encodes all other slices. Raises the executor's
        EngineError; LookupError if there can be no spans."""
        if not texts:
            return Rows.of([]), np.zeros(0, dtype=np.bool_)
        served = np.zeros(len(texts), dtype=np.bool_)
        places = [] if spans else np.flatnonzero(is_asked).tolist()
        if not places or self.look_up is None:
            return self.map(texts, spans), served
        known, flags = self.look_up([texts[k] for k in places], self.tokenizer)
        if not len(known) == len(flags) == len(places):
            raise wrong_look_up(self.executor, known, flags, len(places))
        served[places] = flags
        others = np.flatnonzero(~served).tolist()
        if not others:
            return known, served
        try:
            rest = self.map([texts[k] for k in others], spans)
        except EngineError as error:
            error.row = others[min(error.row, len(others) - 1)]
            raise
        if getattr(self.executor, "answered_by_call", False):  # as the cache would have
            served[places] = True  # that no added token forbids a cut in it, a divisible chunk says
        return Rows.scatter(len(texts), [(places, known), (others, rest)]), served

    def map(self, texts: Sequence[str], spans: bool = False) -> Rows:
        """Returns the executor's rows. Raises EngineError if they are not one row per text."""
        rows = self.executor.map(texts, self.tokenizer, spans)
        if not isinstance(rows, Rows) or len(rows) != len(texts):
            got = f"{len(rows)} rows" if isinstance(rows, Rows) else type(rows).__name__
            raise EngineError(f"executor {self.executor.name!r} gave {got} for {len(texts)} texts")
        return rows


def serial_report(method: str, why: str, tokenizer: TokenizerAdapter) -> Report:
    """Returns the report of a text that is encoded by one serial call."""
    return Report(
        method,
        "serial",
        why,
        agreement=traits_of(tokenizer).agreement,
        why_not_compiled=why_not_compiled(tokenizer),
    )


def licence_of(splitter: Splitter, tokenizer: TokenizerAdapter) -> Seam | None:
    """Returns the splitter's `licence` for the tokenizer, or None."""
    call = getattr(splitter, "licence", None)
    licence: Seam | None = None if call is None else call(tokenizer)
    return licence


def look_up_of(executor: Executor) -> LookUp | None:
    """Returns the executor's `look_up`, or None."""
    call: LookUp | None = getattr(executor, "look_up", None)
    return call


def without_cache_of(executor: Executor) -> str:
    """Returns the name of the executor that encodes the texts that no cache answers."""
    name: str | None = getattr(executor, "without_cache", None)
    return executor.name if name is None else name


def matches_spans(merger: Merger) -> bool:
    """Returns whether the merger compares where the tokens of overlapping chunks lie."""
    return bool(getattr(merger, "matches_spans", False))
