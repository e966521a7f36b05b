"""`lopt`, `blocks` and `recursive`: what they accept and refuse, and what the papers lose."""

from __future__ import annotations

from typing import Any

import pytest

import tokpar
from tests.support.seams import part, plain_settings, serial
from tests.support.small_models import byte_level
from tokpar.errors import LossyError, OptionError
from tokpar.executors.serial_executor import SerialExecutor
from tokpar.methods.acceptance import by_cut
from tokpar.methods.overlaps import Licences, overlap_of
from tokpar.pipeline.joining import sound_joins
from tokpar.types import Chunk, Join, Piece, Seam

pytestmark = pytest.mark.ids

ENGLISH = (
    "The quick brown fox jumps over the lazy dog, 1234 times; don't stop.\n\nNext: (a) b. " * 40
)
OVERLAPPING = ["lopt", "blocks", "recursive"]
RUN = "３" * 600 + "１０" + "３" * 4


def encoded(name: str, text: str, strategy: str, **options: Any) -> tokpar.Encoding:
    tokenizer = part(name)
    adapter = tokpar.load(tokenizer, **plain_settings(tokenizer))
    return tokpar.encode(
        text, adapter, strategy=strategy, executor="serial", allow_approximate=True, **options
    )


# What the papers lose: (vocabulary, text, strategy, options), acceptance="paper".
REFUTATIONS = [
    ("cl100k_part", RUN, "lopt", {"chunk_chars": 100, "overlap_chars": 300}),
    (
        "cl100k_part",
        RUN,
        "lopt",
        {"chunk_chars": 100, "overlap_chars": 300, "min_match": "longest"},
    ),
    ("o200k_part", RUN, "lopt", {"chunk_chars": 100, "overlap_chars": 300}),
    (
        "o200k_part",
        "a" + "中" * 600 + "亚洲AVx",
        "lopt",
        {"chunk_chars": 300, "overlap_chars": 305, "min_match": "longest"},
    ),
    (
        "bert_part",
        "unbelievable" * 10,
        "lopt",
        {"chunk_chars": 40, "overlap_chars": 55, "min_match": "longest"},
    ),
    ("cl100k_part", "1" * 257, "blocks", {"chunk_chars": 129, "overlap_chars": 128}),
    ("o200k_part", "a" * 257, "blocks", {"chunk_chars": 129, "overlap_chars": 128}),
    ("cl100k_part", "1" * 257, "recursive", {"depth": 1}),
    ("o200k_part", "1" * 400, "recursive", {"depth": 1}),
    ("bert_part", "unbelievable" * 10, "recursive", {"depth": 1}),
]


@pytest.mark.parametrize(("name", "text", "strategy", "options"), REFUTATIONS)
def test_the_published_acceptance_is_refuted(
    name: str, text: str, strategy: str, options: dict[str, Any]
) -> None:
    truth = serial(part(name), text)
    published = encoded(name, text, strategy, acceptance="paper", **options)
    assert published.ids.tolist() != truth
    assert not published.lossless
    assert not tokpar.check(published, text, part(name)).ok
    hardened = encoded(name, text, strategy, **options)
    assert hardened.ids.tolist() == truth
    assert hardened.lossless


@pytest.mark.parametrize("strategy", OVERLAPPING)
def test_the_published_acceptance_must_be_allowed(strategy: str) -> None:
    with pytest.raises(LossyError, match=rf"{strategy}' without acceptance='paper'"):
        tokpar.encode("text", strategy=strategy, acceptance="paper")
    assert tokpar.encode("text", strategy=strategy).lossless
    assert tokpar.encode("text", strategy=strategy, acceptance="certified").lossless
    loose = tokpar.encode("text", strategy=strategy, acceptance="paper", allow_approximate=True)
    assert loose.lossless  # one chunk, no seam


BAD = [
    ("lopt", {"chunk_chars": 0}),
    ("lopt", {"overlap_chars": 0}),
    ("lopt", {"overlap_chars": True}),
    ("lopt", {"acceptance": "hope"}),
    ("lopt", {"on_failure": "warn"}),
    ("lopt", {"min_match": 0}),
    ("lopt", {"min_match": "short"}),
    ("lopt", {"min_match": 1.5}),
    ("blocks", {"chunk_chars": -1}),
    ("blocks", {"overlap_chars": "8"}),
    ("blocks", {"acceptance": None}),
    ("recursive", {"depth": -1}),
    ("recursive", {"depth": 1.0}),
    ("recursive", {"acceptance": ""}),
    ("recursive", {"chunk_chars": 5}),
]


@pytest.mark.parametrize(("strategy", "options"), BAD)
def test_a_bad_option_is_refused_by_name_and_value(strategy: str, options: dict[str, Any]) -> None:
    (name, value), *_ = options.items()
    with pytest.raises(OptionError) as error:
        tokpar.encode("text", strategy=strategy, **options)
    assert name in str(error.value)
    assert name == "chunk_chars" or repr(value) in str(error.value)


@pytest.mark.each_value
@pytest.mark.parametrize("name", ["cl100k_part", "deepseek_part", "bert_part", "default"])
@pytest.mark.parametrize(
    ("strategy", "options"),
    [
        ("lopt", {"chunk_chars": 300}),
        ("lopt", {"chunk_chars": 100, "overlap_chars": 300, "min_match": "longest"}),
        ("blocks", {"chunk_chars": 200}),
        ("recursive", {"depth": 4}),
    ],
)
def test_ordinary_text_needs_no_second_try(
    name: str, strategy: str, options: dict[str, Any]
) -> None:
    encoding = encoded(name, ENGLISH, strategy, **options)
    assert encoding.ids.tolist() == serial(part(name), ENGLISH)
    assert encoding.report.chunks > 5
    assert (encoding.report.retries, encoding.report.repairs) == (0, 0)
    assert encoding.report.redundant > 0


def test_a_failed_match_is_mended_where_it_failed_or_everything_is_done_again() -> None:
    text = ENGLISH[:600] + "3" * 997 + ENGLISH[:600]
    options = {"chunk_chars": 200, "overlap_chars": 20, "min_match": "longest"}
    truth = serial(part("cl100k_part"), text)
    repaired = encoded("cl100k_part", text, "lopt", **options)
    restarted = encoded("cl100k_part", text, "lopt", on_failure="restart", **options)
    assert repaired.ids.tolist() == restarted.ids.tolist() == truth
    assert repaired.report.repairs > 0 == repaired.report.retries
    assert restarted.report.retries > 0 == restarted.report.repairs
    assert repaired.report.chunks > restarted.report.chunks
    assert repaired.report.redundant < restarted.report.redundant


def test_seams_in_the_wrong_order_are_not_joined() -> None:
    pieces = [Piece(tiktoken_ids("a b c d")) for _ in range(3)]
    seam = Seam(1, "PAIR", "20")
    chunks = [Chunk(k, k + 2, k, k + 1) for k in range(3)]
    joins = Join(seam, 2, 3), Join(seam, 2, 0)
    assert sound_joins(joins, chunks, pieces) == [joins[0], None]


def tiktoken_ids(text: str) -> Any:
    return tokpar.load(part("cl100k_part")).encode(text)


def test_tokens_that_cannot_be_located_are_encoded_serially() -> None:
    class Plain:
        name = "plain"

        def encode(self, text: str) -> list[int]:
            return list(text.encode())

    encoding = tokpar.encode("some text", Plain(), strategy="lopt", chunk_chars=2, overlap_chars=1)
    assert encoding.ids.tolist() == list(b"some text")
    assert encoding.report.chunks == 1
    assert encoding.report.why


def test_a_dummy_prefix_is_absorbed_inside_an_overlap() -> None:
    text = "the cat of the hat " * 30
    encoding = encoded("llama_style", text, "lopt", chunk_chars=64, overlap_chars=32)
    assert encoding.report.repairs == 0
    assert {seam.theorem for seam in encoding.seams} == {"6.4"}
    assert encoding.ids.tolist() == serial(part("llama_style"), text)


@pytest.mark.parametrize("text", ["x 1111111 y", "11 11111111", "a1111\n1111b"])
def test_any_two_chunks_are_joined_right_or_not_at_all(text: str) -> None:
    """Digits go by threes from where a chunk begins: both sides may have a token edge where the
    text has no cut (window lemma)."""
    tokenizer = byte_level([("1", "1")])
    adapter = tokpar.load(tokenizer)
    licences = Licences.of(text, adapter)
    joined = 0
    for a in range(1, len(text)):
        for b in range(a + 1, len(text) + 1):
            pair = Chunk(0, b, 0, a), Chunk(a, len(text), a, len(text))
            rows = SerialExecutor().map([text[:b], text[a:]], adapter, False)
            left, right = rows.piece(0), rows.piece(1)
            join = by_cut(overlap_of(text, pair, (left, right), adapter), licences)
            if join is not None:
                joined += 1
                ids = [*left.ids[: join.left].tolist(), *right.ids[join.right :].tolist()]
                assert ids == serial(tokenizer, text), (a, b, join)
    assert joined
