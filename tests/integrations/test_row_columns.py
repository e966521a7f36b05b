"""The columns of a call (ids, masks, types, offsets, tokens), cut and padded, against the engine's
own encodings of the same texts."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tokpar
from tests.conftest import needs_below_one
from tokpar.integrations.row_columns import _Rectangle

pytestmark = needs_below_one
CUTS = [None, *product((4, 7), ("left", "right"))]
PADDINGS = [None, *product((None, 6), (None, 4), ("left", "right"))]
ROWS = ["", "a", "a b c", "c b a b c", "a a b b c c a b"], ["a b c", "c c a"], ["b a c a b a"]
ATTRIBUTES = {
    "input_ids": "ids",
    "token_type_ids": "type_ids",
    "attention_mask": "attention_mask",
    "special_tokens_mask": "special_tokens_mask",
    "offset_mapping": "offsets",
    "tokens": "tokens",
    "word_ids": "word_ids",
}
OF_TOKENS = ("offset_mapping", "tokens", "word_ids")


@cache
def engine(kind: str) -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    names = ["a", "b", "c", "[CLS]", "[SEP]", "[PAD]"]
    own = Tokenizer(models.WordLevel({name: k for k, name in enumerate(names)}, unk_token="c"))
    own.pre_tokenizer = pre_tokenizers.Whitespace()
    own.add_special_tokens(names[3:])
    if kind == "template":
        own.post_processor = processors.TemplateProcessing(
            single="[CLS]:1 [CLS]:0 $A:2 [SEP]:3", special_tokens=[("[CLS]", 3), ("[SEP]", 4)]
        )
    elif kind == "BERT":
        own.post_processor = processors.BertProcessing(("[SEP]", 4), ("[CLS]", 3))
    return own


@cache
def columns_and_frame() -> Any:
    from tokpar.integrations import row_columns

    return row_columns


def settings() -> Iterator[tuple[Any, Any]]:
    """Arguments of the engine's `enable_truncation` and `enable_padding`."""
    for cut, padding in product(CUTS, PADDINGS):
        truncation = None
        if cut is not None:
            truncation = {"max_length": cut[0], "direction": cut[1], "stride": 0}
            truncation["strategy"] = "longest_first"
        if padding is not None:
            length, multiple, side = padding
            padding = {"length": length, "pad_to_multiple_of": multiple, "direction": side}
            padding |= {"pad_id": 5, "pad_type_id": 7, "pad_token": "[PAD]"}
        yield truncation, padding


def own_encodings(kind: str, texts: list[str], adds: bool, truncation: Any, padding: Any) -> Any:
    own = engine(kind)
    try:
        if truncation is not None:
            own.enable_truncation(**truncation)
        if padding is not None:
            own.enable_padding(**padding)
        return own.encode_batch(texts, add_special_tokens=adds)
    finally:
        own.no_truncation()
        own.no_padding()


@pytest.mark.parametrize("adds", [True, False])
@pytest.mark.parametrize("kind", ["template", "BERT", "none"])
def test_columns_are_those_of_the_engines_encodings(kind: str, adds: bool) -> None:
    module = columns_and_frame()
    frame = module.frame_of(tokpar.load(engine(kind)), adds)
    seen = 0
    for texts, (truncation, padding) in product(ROWS, settings()):
        plain = [engine(kind).encode(text, add_special_tokens=False) for text in texts]
        ids = [np.array(each.ids, np.uint32) for each in plain]
        expected = own_encodings(kind, texts, adds, truncation, padding)
        for tensors in (None, "np"):
            call = module.CallColumns((*ATTRIBUTES, "length"), None, truncation, padding, tensors)
            assert call.fits(frame) == (
                truncation is None or truncation["max_length"] > frame.special_count
            )
            if not call.fits(frame):
                continue
            kept_ids = call.kept_of(frame, ids)
            parts = {
                name: call.kept_of(frame, [getattr(each, ATTRIBUTES[name]) for each in plain])
                for name in OF_TOKENS
            }
            sizes = [len(each.ids) for each in expected]
            if tensors is not None and len({*sizes}) == 1:
                call = module.CallColumns(
                    tuple(n for n in call.names if n not in ("tokens", "word_ids")),
                    *(None, truncation, padding, tensors),
                )
                seen += 1
            found = call.values(frame, kept_ids, parts)
            assert [*found.pop("length")] == sizes
            assert found.keys() == {*call.names} - {"length"}
            for name, column in found.items():
                wanted = [getattr(each, ATTRIBUTES[name]) for each in expected]
                if isinstance(column, np.ndarray):
                    assert column.dtype == np.int64
                    wanted, column = np.array(wanted).tolist(), column.tolist()
                assert column == wanted, (name, texts, truncation, padding)
                if tensors is None:
                    assert call.lists(name, frame, kept_ids, parts) == wanted
            assert call.pads(frame, kept_ids) == [each.tokens.count("[PAD]") for each in expected]
    assert seen > 20


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("kind", ["template", "none"])
def test_ranges_are_those_of_the_engine_s_overflowing_parts(kind: str, side: str) -> None:
    module = columns_and_frame()
    frame = module.frame_of(tokpar.load(engine(kind)), True)
    for most, words in product((4, 5, 9), range(12)):
        text = " ".join("abcab"[k % 5] for k in range(words))
        truncation = {
            "max_length": most,
            "stride": 0,
            "strategy": "longest_first",
            "direction": side,
        }
        [cut] = own_encodings(kind, [text], True, truncation, None)
        ids = engine(kind).encode(text, add_special_tokens=False).ids
        call = module.CallColumns(("input_ids",), None, truncation, None, None)
        before, behind = frame.ids
        parts = [[*before, *ids[a:b], *behind] for a, b in call.ranges(frame, len(ids))]
        assert parts == [cut.ids, *(each.ids for each in cut.overflowing)]
        whole = module.CallColumns(("input_ids",), None, None, None, None)
        assert whole.ranges(frame, len(ids)) == [(0, len(ids))]


@pytest.mark.parametrize("kind", ["template", "BERT"])
def test_a_frame_says_which_special_tokens_the_engine_counts_to_the_text(kind: str) -> None:
    own = engine(kind)
    frame = columns_and_frame().frame_of(tokpar.load(own), True)
    encoding = own.encode("a b")
    sequences = [encoding.token_to_sequence(k) for k in range(len(encoding))]
    at = encoding.special_tokens_mask.index(0)
    around = sequences[:at].count(0), sequences[at + 2 :].count(0)
    assert frame.around_text == (around if 0 in sequences else None)
    assert frame.sequences == encoding.n_sequences
    assert frame.types == (
        encoding.type_ids[:at],
        encoding.type_ids[at],
        encoding.type_ids[at + 2 :],
    )
    assert frame.special_count == len(encoding) - 2


@pytest.mark.parametrize("pads_left", [False, True])
def test_an_array_has_each_special_token_at_its_place(pads_left: bool) -> None:
    frame: Any = SimpleNamespace(ids=((7, 6), (8, 9)))
    rows = [np.array(ids, np.uint32) for ids in ([1, 2, 3], [4])]
    found = _Rectangle.of(frame, rows, [0, 2], pads_left).filled(([7, 6], rows, [8, 9], 5))
    last = [5, 5, 7, 6, 4, 8, 9] if pads_left else [7, 6, 4, 8, 9, 5, 5]
    assert found.tolist() == [[7, 6, 1, 2, 3, 8, 9], last]
