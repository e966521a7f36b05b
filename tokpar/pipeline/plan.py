"""How texts are encoded: by which tokenizer, splitter, executor and merger."""

from collections.abc import Sequence
from dataclasses import dataclass

from tokpar.contract.adapter import EngineTraits, traits_of, why_not_compiled
from tokpar.contract.interfaces import (
    EncodesMany,
    Executor,
    Locates,
    Merger,
    PostProcesses,
    Splitter,
    TokenizerAdapter,
    facts_of,
)
from tokpar.contract.part_checks import mend_chunks, split_text
from tokpar.errors import EngineError
from tokpar.pipeline.sizes import TOO_SHORT
from tokpar.process.cached_property import cached_property
from tokpar.types import Chunk, Chunks, Facts, Report, Rows, Split


@dataclass(frozen=True)
class Plan:
    """How texts are encoded: the splitter cuts, the executor encodes, the merger joins.

    `whole`: the caller set no chunk size, so reports of cut texts name every certified space, as if
    the compiled call had encoded them. `uncut`: the reason in reports for texts that the splitter
    is not asked about. `approximate`: the strategy may join where no rule licenses a seam."""

    tokenizer: TokenizerAdapter
    splitter: Splitter
    executor: Executor
    merger: Merger
    name: str = ""
    whole: bool = False
    uncut: str = TOO_SHORT
    approximate: bool = False

    @cached_property
    def postprocesses(self) -> PostProcesses | None:
        return self.tokenizer if isinstance(self.tokenizer, PostProcesses) else None

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

    def mend(self, text: str, chunks: Chunks, failed_seams: Sequence[int]) -> list[Chunk] | None:
        """Returns the chunks after the merger's repair of failed seams; None: it repairs none.

        Raises PluginError for chunks that cannot be used."""
        return mend_chunks(self.merger, text, chunks, failed_seams, self.tokenizer)

    @property
    def executor_name(self) -> str:
        """The executor's name in reports."""
        return executor_name_of(self.executor)

    def split(self, text: str) -> Split:
        """Returns the splitter's first answer, or one chunk if the merger needs spans that the
        tokenizer cannot give. Raises PluginError for a split that cannot be used."""
        if self.spans and not isinstance(self.tokenizer, (Locates, EncodesMany)):
            return Split.whole(text, f"{self.tokenizer.name} cannot tell where its tokens lie")
        return split_text(self.splitter, text, self.tokenizer, 0)

    def run(self, texts: Sequence[str], spans: bool = False) -> Rows:
        """Returns the executor's rows. Raises EngineError if they are not one row per text;
        LookupError if there can be no spans."""
        if not texts:
            return Rows.of([])
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


def executor_name_of(executor: Executor) -> str:
    """Returns the executor's name in reports: `used_name`, the executor that it gave its last call
    to, if it has one."""
    name: str | None = getattr(executor, "used_name", None)
    return executor.name if name is None else name


def matches_spans(merger: Merger) -> bool:
    """Returns whether the merger compares where the tokens of overlapping chunks lie."""
    return bool(getattr(merger, "matches_spans", False))
