"""A strategy of two parts: whatever is combined, a seam that no rule licenses is not joined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokpar_conformance.merger import Anywhere
from tokpar_conformance.strategy import small_options

import tokpar
from tests.conftest import drawn
from tests.support.certified import dummy_case
from tests.support.texts import texts
from tests.support.tokenizers_drawn import named_tokenizers
from tests.support.toy import Toy
from tokpar.contract.interfaces import TokenizerAdapter
from tokpar.errors import LossyError, OptionError, UnknownNameError
from tokpar.methods.cut import CutSplitter
from tokpar.methods.mergers import LicensedMerger
from tokpar.pipeline.chunks_at_cuts import chunks_between
from tokpar.registry.builtins import MERGERS, SPLITTERS
from tokpar.registry.combining import build_parts
from tokpar.types import Chunk, Join, Piece, Rule, Seam, Split

TEXT = "one two three. Four, five\n\nsix 7890 " * 300
TOKENIZERS = ("default", "bert_part", "llama_style", "metaspace_unigram", "tekken_part")


@dataclass(frozen=True)
class Every:
    """Cuts every `size` code points, and calls each cut by a rule."""

    size: int
    seam: Seam = Seam(0, None, "")  # noqa: RUF009  # frozen

    def split(self, text: str, tokenizer: TokenizerAdapter, attempt: int) -> Split:
        places = range(self.size, len(text), self.size) if attempt == 0 else ()
        chunks = chunks_between(text, [replace(self.seam, position=place) for place in places])
        return Split(chunks)


class Concatenates:
    """Joins whatever there is, with the rule that the chunk's cut names."""

    def merge(
        self,
        text: str,
        chunks: Sequence[Chunk],
        pieces: Sequence[Piece],
        tokenizer: TokenizerAdapter,
    ) -> list[Join | None]:
        return [
            Join(right.cut or Seam(right.core_start, None, ""), len(piece.ids), 0)
            for (_, right), piece in zip(pairwise(chunks), pieces, strict=False)
        ]


SPACE = Seam(0, "PAIR", "20", (("pattern", "cl100k"), ("left", "non-space"), ("right", "space")))


@pytest.mark.each_value
@pytest.mark.parametrize("splitter", sorted(SPLITTERS))
@pytest.mark.parametrize("merger", sorted(MERGERS))
@settings(max_examples=drawn(60))
@given(text=texts(max_size=400), name=st.sampled_from(TOKENIZERS), k=st.integers(0, 2))
def test_every_splitter_with_every_merger_gives_the_serial_ids(
    splitter: str, merger: str, text: str, name: str, k: int
) -> None:
    sets = small_options(SPLITTERS[splitter])
    options = sets[k % len(sets)]
    tokenizer = tokpar.load(named_tokenizers()[name])
    expected = tokpar.encode(text, tokenizer, strategy="serial")
    found = tokpar.encode(
        text, tokenizer, strategy=(splitter, merger), executor="serial", **options
    )
    assert found == expected
    assert found.lossless
    assert tokpar.check(found, text, tokenizer).ok


@pytest.mark.parametrize("splitter", [Every(7), Every(7, SPACE)])
@settings(max_examples=drawn(25))
@given(text=texts(max_size=400), executor=st.sampled_from(["serial", "memo"]))
def test_parts_that_claim_too_much_are_not_believed(
    splitter: Every, text: str, executor: str
) -> None:
    found = tokpar.encode(text, strategy=(splitter, Concatenates()), executor=executor)
    assert found == tokpar.encode(text, strategy="serial")
    assert tokpar.check(found, text).ok


def test_what_no_rule_licenses_is_joined_with_consent_only() -> None:
    strategy = (Every(7), Concatenates())
    exact = tokpar.encode(TEXT, strategy=strategy)
    assert (exact.seams, exact.lossless) == ((), True)
    rough = tokpar.encode(TEXT, strategy=strategy, allow_approximate=True)
    assert not rough.lossless
    assert {seam.rule for seam in rough.seams} == {None}
    assert rough != exact


@pytest.mark.parametrize("merger", ["match", "runs"])
def test_two_seams_at_one_place_are_one(merger: str) -> None:
    """Three chunks overlap there, and both pairs agree on it."""
    text = "aaaaaa 1      a aaaaaa aa     a" * 3
    found = tokpar.encode(text, strategy=(Anywhere(5, 4), merger))
    assert found == tokpar.encode(text, strategy="serial")
    assert tokpar.check(found, text).ok
    text, tokenizer = "one two", tokpar.load()
    twice = Claims([Join(replace(SPACE, position=3), 1, 1)] * 2)
    pieces = [Piece(tokenizer.encode(text))] * 3
    joins = LicensedMerger(twice).merge(text, [Chunk(0, 7, 0, 7)] * 3, pieces, tokenizer)
    assert [join is None for join in joins] == [False, True]


@dataclass(frozen=True)
class Claims:
    """Joins by these joins, whatever the chunks are."""

    joins: Sequence[Join]

    def merge(self, *arguments: Any) -> list[Join | None]:
        return [*self.joins]


def test_a_join_that_forgets_what_a_cut_absorbs_is_none() -> None:
    """Where a space is left out (6.4), the right piece has other ids than with it."""
    tokenizer, text, encoding = dummy_case()
    (cut, *_) = encoding.seams
    assert dict(cut.witness) == {"absorbed": "1"}

    def joined(seam: Seam) -> list[bool]:
        chunks = chunks_between(text, [seam])
        assert chunks[1].absorbed == int(dict(seam.witness).get("absorbed", 0))
        pieces = [Piece(tokenizer.encode(text[chunk.start : chunk.stop])) for chunk in chunks]
        joins = LicensedMerger(Claims([Join(seam, 1, 0)])).merge(text, chunks, pieces, tokenizer)
        return [join is not None for join in joins]

    assert joined(cut) == [True]
    assert joined(replace(cut, witness=())) == [False]
    assert joined(replace(cut, rule="PAIR", witness=())) == [False]


CLAIMS = {
    "20": replace(SPACE, position=0),
    "4.8": Seam(0, "PAIR", "4.8", (("pattern", "bert"), ("left", "any"), ("right", "space"))),
    "40": Seam(0, "PAIR", "40", (("pattern", "gpt2"),)),
    "6.4": Seam(0, "STAGE", "6.4", (("absorbed", "1"),)),
    "29": Seam(0, "EDGE", "29", (("token", "<s>"), ("edge", "end"))),
    "another rule": Seam(0, "K4", "24", (("start", 0), ("stop", 10**6))),  # type: ignore[arg-type]
}


@dataclass(frozen=True)
class ClaimsEach:
    """Joins every pair of chunks by one rule: it keeps the whole left piece, and drops some ids of
    the right piece where the chunks overlap."""

    seam: Seam
    dropped: int

    def merge(
        self,
        text: str,
        chunks: Sequence[Chunk],
        pieces: Sequence[Piece],
        tokenizer: TokenizerAdapter,
    ) -> list[Join | None]:
        joins: list[Join | None] = []
        for (left, right), piece in zip(pairwise(chunks), pieces, strict=False):
            dropped = self.dropped if left.stop > right.start else 0
            joins.append(Join(replace(self.seam, position=left.stop), len(piece.ids), dropped))
        return joins


@pytest.mark.parametrize("claim", CLAIMS)
@pytest.mark.parametrize("splitter", [Anywhere(5), Anywhere(7, 4), Anywhere(16, 40)])
@settings(max_examples=drawn(12))
@given(
    text=texts(max_size=200)
    | st.sampled_from(["a" * 90, "unbelievable" * 9, "1" * 40, "中文" * 30]),
    name=st.sampled_from(TOKENIZERS),
    dropped=st.integers(0, 3),
)
def test_a_rule_that_a_merger_claims_is_none_until_tokpar_finds_it(
    claim: str, splitter: Anywhere, text: str, name: str, dropped: int
) -> None:
    tokenizer = tokpar.load(named_tokenizers()[name])
    merger = ClaimsEach(CLAIMS[claim], dropped)
    found = tokpar.encode(text, tokenizer, strategy=(splitter, merger), executor="serial")
    assert found == tokpar.encode(text, tokenizer, strategy="serial")
    assert {seam.rule for seam in found.seams} <= {*Rule}
    assert tokpar.check(found, text, tokenizer).ok


@pytest.mark.parametrize(("left", "right"), [(1, 1), (1, 2), (2, 1), (2, 2), (1, 0), (0, 1)])
def test_a_join_in_an_overlap_keeps_the_ids_that_the_cut_divides(left: int, right: int) -> None:
    """Both chunks have "one" and " two"; the cut between them is certified."""
    text, tokenizer = "one two", tokpar.load()
    piece = Piece(tokenizer.encode(text))
    assert len(piece.ids) == 2
    merger = LicensedMerger(Claims([Join(replace(SPACE, position=3), left, right)]))
    chunks = Chunk(0, 7, 0, 3), Chunk(0, 7, 3, 7)
    [join] = merger.merge(text, chunks, (piece, piece), tokenizer)
    assert (join is not None) == ((left, right) == (1, 1))


def test_of_a_tokenizer_nothing_is_known_of_nothing_is_joined() -> None:
    class Silent(Toy):
        facts = replace(Toy().facts, unprovable="not known")

    for rule in ("PAIR", "K4"):
        splitter = Every(7, replace(SPACE, rule=rule))
        found = tokpar.encode(TEXT, Silent(), strategy=(splitter, Concatenates()))
        assert found == tokpar.encode(TEXT, Silent(), strategy="serial")
        assert found.seams == ()


def test_each_part_takes_its_own_options() -> None:
    parts = build_parts(("lopt", "certified"), {"chunk_chars": 9, "min_match": 3}, True)
    assert parts.splitter.chunk_chars == 9  # type: ignore[attr-defined]
    assert parts.merger.accept.keywords == {"least": 3}  # type: ignore[attr-defined]
    assert not parts.tunable
    assert build_parts("cut+cut", {}, False).tunable
    assert not build_parts((CutSplitter(9), "cut"), {}, False).tunable


@pytest.mark.parametrize(
    ("strategy", "options", "error", "said"),
    [
        (("cutt", "cut"), {}, UnknownNameError, "unknown splitter 'cutt'; did you mean 'cut'"),
        (("cut", "cutt"), {}, UnknownNameError, "unknown merger 'cutt'; did you mean 'cut'"),
        ("cut+cut+cut", {}, OptionError, "strategy must be a name, or a splitter and a merger"),
        (("cut",), {}, OptionError, "strategy must be a name, or a splitter and a merger"),
        (7, {}, OptionError, "strategy must be a name, or a splitter and a merger"),
        ((7, "cut"), {}, OptionError, "a splitter must be a name or an object with a split method"),
        (("cut", 7), {}, OptionError, "a merger must be a name or an object with a merge method"),
        (
            ("cut", "certified"),
            {"size": 3},
            OptionError,
            "strategy 'cut+certified' has no option 'size'; "
            "its options: chunk_chars: int | None = None, min_match: ",
        ),
        (("cut", "cut"), {"chunk_chars": 0}, OptionError, "chunk_chars must be an int of at least"),
        ((CutSplitter(9), "cut"), {"chunk_chars": 3}, OptionError, "its options: (none)"),
        ("delimiter", {}, LossyError, "strategy 'delimiter' is approximate: its ids can differ"),
        (
            "lopt",
            {"acceptance": "paper"},
            LossyError,
            "use strategy='lopt' without acceptance='paper' for the exact ids",
        ),
    ],
)
def test_what_cannot_be_combined_is_refused_in_words(
    strategy: Any, options: dict[str, Any], error: type[Exception], said: str
) -> None:
    with pytest.raises(error) as caught:
        tokpar.encode(TEXT, strategy=strategy, **options)
    assert said in str(caught.value)
