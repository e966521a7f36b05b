"""The pipeline on plain objects: repair, giving up, errors, and what the report says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken as NativeToken

import tokpar
from tests.support.fakes import FailsWithout, Panic, PanicsOn, RaisesOn, WordHash
from tests.support.tokenizers_drawn import MetaspaceSpec, build, named_tokenizers
from tokpar.contract.interfaces import TokenizerAdapter
from tokpar.executors.serial_executor import SerialExecutor
from tokpar.methods.cut import CutMerger, CutSplitter
from tokpar.pipeline import joining
from tokpar.pipeline import steps as pipeline
from tokpar.pipeline.chunks_at_cuts import chunks_between
from tokpar.pipeline.plan import Plan
from tokpar.types import Chunk, Join, Piece, Rows, Seam, Split

pytestmark = pytest.mark.ids

TEXT = "The quick brown fox jumps over the lazy dog, 1234567 times. " * 20


@dataclass(frozen=True)
class Everywhere:
    """Cuts every `size` code points, certified or not."""

    size: int

    def split(self, text: str, tokenizer: TokenizerAdapter, attempt: int) -> Split:
        places = range(self.size, len(text), self.size) if attempt == 0 else ()
        finder = tokpar.cuts.finder.finder_for(tokpar.contract.interfaces.facts_of(tokenizer))
        seams = [finder.certify(text, p) or Seam(p, None, "") for p in places]
        return Split(chunks_between(text, seams))


@dataclass(frozen=True)
class Never:
    """A merger that never certifies the first seam."""

    def merge(
        self,
        text: str,
        chunks: Sequence[Chunk],
        pieces: Sequence[Piece],
        tokenizer: TokenizerAdapter,
    ) -> list[Join | None]:
        return [None, *CutMerger().merge(text, chunks, pieces, tokenizer)[1:]]


@dataclass
class Recorder:
    """Counts what it is asked to encode."""

    name: str = "recorder"
    asked: list[int] = field(default_factory=list)

    def map(self, texts: Sequence[str], tokenizer: TokenizerAdapter, spans: bool) -> Rows:
        self.asked.append(len(texts))
        return SerialExecutor().map(texts, tokenizer, spans)


def deepseek() -> TokenizerAdapter:
    return tokpar.load(named_tokenizers()["deepseek_part"])


@given(size=st.integers(1, 40))
def test_cuts_that_cannot_be_certified_are_fused_and_encoded_again(size: int) -> None:
    tokenizer, recorder = deepseek(), Recorder()
    plan = Plan(tokenizer, Everywhere(size), recorder, CutMerger())
    encoding = pipeline.encode_batch([TEXT], plan)[0]
    assert encoding.ids.tolist() == tokenizer.encode(TEXT).tolist()
    assert encoding.lossless
    assert encoding.report.repairs > 0
    assert len(recorder.asked) <= 2, "only the chunks beside a failed seam are encoded again"
    assert encoding.report.redundant > 0


def test_a_merger_that_never_agrees_ends_in_one_serial_call() -> None:
    tokenizer, recorder = deepseek(), Recorder()
    plan = Plan(tokenizer, CutSplitter(50), recorder, Never())
    encoding = pipeline.encode_batch([TEXT], plan)[0]
    assert encoding.ids.tolist() == tokenizer.encode(TEXT).tolist()
    assert encoding.seams == ()
    assert encoding.report.plan == "serial"
    assert encoding.report.why.startswith("no rule licenses ")
    assert len(recorder.asked) == joining.MOST_REPAIR_ROUNDS


def test_an_unknown_tokenizer_is_serial_and_the_report_says_why() -> None:
    encoding = tokpar.encode("a b " * 1000, WordHash(), strategy="cut", chunk_chars=10)
    assert encoding.report.plan == "serial"
    assert "tells no facts" in encoding.report.why
    assert encoding.lossless
    with pytest.raises(LookupError, match="where its tokens lie"):
        _ = encoding.spans


@pytest.mark.parametrize("executor", ["serial", "threads"])
def test_an_engine_that_raises_mid_way_names_the_chunk(executor: str) -> None:
    tokenizer = RaisesOn(inner=deepseek())
    text = "one two " * 100 + "\x07" + " three four" * 100
    with pytest.raises(tokpar.EngineError, match=r"chunk \[\d+, \d+\)") as caught:
        tokpar.encode(text, tokenizer, strategy="cut", executor=executor, chunk_chars=50)
    assert caught.value.start <= 800 < caught.value.stop
    assert isinstance(caught.value.__cause__, ValueError)


@dataclass
class Forgets:
    """An executor with a mistake."""

    name: str = "forgets"

    def map(self, texts: Sequence[str], tokenizer: TokenizerAdapter, spans: bool) -> Rows:
        raise KeyError("a worker")


def test_a_mistake_of_an_executor_is_not_taken_for_tokens_that_cannot_be_located() -> None:
    tokenizer = deepseek()
    plan = Plan(tokenizer, Everywhere(100), Forgets(), CutMerger())
    with pytest.raises(KeyError, match="a worker"):
        pipeline.encode_batch([TEXT], plan)


def test_an_engine_that_panics_mid_way_is_a_typed_error() -> None:
    tokenizer = PanicsOn(inner=deepseek())
    with pytest.raises(tokpar.EngineError) as caught:
        tokpar.encode("a b " * 50 + "\x07 c", tokenizer, strategy="cut", chunk_chars=20)
    assert isinstance(caught.value.__cause__, Panic)


OVERLAPPING: tuple[tuple[str, dict[str, Any]], ...] = (
    ("lopt", {"chunk_chars": 40, "overlap_chars": 30}),
    ("recursive", {"depth": 3}),
    ("blocks", {"chunk_chars": 40, "overlap_chars": 30}),
    ("overlap", {"chunk_chars": 40, "allow_approximate": True}),
    ("delimiter", {"chunk_chars": 40, "delimiter": "w", "allow_approximate": True}),
)


@pytest.mark.each_value
@pytest.mark.parametrize("executor", ["serial", "threads", "processes"])
@pytest.mark.parametrize(("strategy", "options"), OVERLAPPING)
def test_an_engine_that_fails_on_a_slice_only_is_asked_for_the_whole_text(
    strategy: str, options: dict[str, Any], executor: str
) -> None:
    tokenizer = FailsWithout(inner=deepseek(), marker="THE END")
    text = "one two, three. " * 50 + "THE END"
    encoding = tokpar.encode(
        text, tokenizer, strategy=strategy, executor=executor, workers=2, **options
    )
    assert encoding.ids.tolist() == tokenizer.encode(text).tolist()
    assert encoding.lossless
    assert encoding.report.plan == "serial"
    assert "the tokenizer failed: " in encoding.report.why
    assert " (in the chunk [" in encoding.report.why
    assert "no 'THE END'" in encoding.report.why
    with pytest.raises(ValueError, match="no 'THE END'"):
        tokpar.encode(
            text[:-1], tokenizer, strategy=strategy, executor=executor, workers=2, **options
        )


def test_an_engine_that_panics_on_its_added_tokens_is_asked_for_the_whole_text() -> None:
    """Added tokens that strip each other; in the whole text "1" hides the one that would."""
    native = build(MetaspaceSpec("bpe", merges=5))
    native.add_tokens([NativeToken("a", rstrip=True, single_word=True, normalized=False)])
    native.add_tokens([NativeToken(" ", lstrip=True, normalized=False)])
    text = "the" + "1" * 184 + "a  " + "the"
    encoding = tokpar.encode(text, native, strategy="recursive", depth=5)
    assert encoding.ids.tolist() == native.encode(text).ids
    assert encoding.report.plan == "serial"
    assert "AddedVocabulary bad split" in encoding.report.why


def test_the_own_call_keeps_its_error_and_loses_its_panic() -> None:
    with pytest.raises(ValueError, match="cannot encode"):
        tokpar.encode("a \x07", RaisesOn())
    with pytest.raises(tokpar.EngineError, match="panicked"):
        tokpar.encode("a \x07", PanicsOn())


def test_an_encoding_is_a_read_only_sequence_of_ids() -> None:
    encoding = tokpar.encode("Hello, world")
    ids = encoding.ids.tolist()
    assert encoding == ids
    assert encoding == tuple(ids)
    assert encoding == np.array(ids)
    assert encoding == tokpar.encode("Hello, world", strategy="serial")
    assert encoding != [*ids, 0]
    assert encoding != "Hello, world"
    assert list(encoding) == ids
    assert len(encoding) == len(ids)
    assert encoding.ids.dtype == np.uint32
    with pytest.raises(ValueError, match="read-only"):
        encoding.ids[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        encoding.spans[0, 0] = 1
    with pytest.raises(TypeError, match="unhashable"):
        hash(encoding)
    assert "lossless" in repr(encoding)


@pytest.mark.parametrize(
    ("left", "right", "is_sound"),
    [(2, 2, True), (3, 0, True), (4, 0, False), (-1, 0, False), (2, 3, False), (2, -1, False)],
)
def test_a_join_keeps_and_drops_no_more_ids_than_there_are(
    left: int, right: int, is_sound: bool
) -> None:
    join = Join(Seam(2, None, ""), left, right)
    overlapping = [Chunk(0, 3, 0, 2), Chunk(1, 4, 2, 4)]
    pieces = [Piece(np.zeros(3, np.uint32)), Piece(np.zeros(2, np.uint32))]
    assert joining.sound_joins([join], overlapping, pieces) == [join if is_sound else None]
    apart, is_all = [Chunk(0, 2, 0, 2), Chunk(2, 4, 2, 4)], (left, right) == (3, 0)
    assert joining.sound_joins([join], apart, pieces) == [join if is_all else None]
