"""Which arguments of a call of transformers the drop-in reads, and which only the own call."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from tests.support.hf_sources import fresh

pytest.importorskip("transformers", reason="transformers is missing")

from transformers.tokenization_utils_base import PaddingStrategy as Pad
from transformers.tokenization_utils_base import TruncationStrategy as Cut

from tokpar.integrations import hf_arguments
from tokpar.integrations.hf_arguments import Forms
from tokpar.integrations.hf_columns import columns_of
from tokpar.integrations.hf_release import LOGS_MISSING_LENGTHS, SPLITS_BY_DEFAULT
from tokpar.integrations.row_columns import Frame

MISSING = object()


@pytest.fixture(scope="module", name="own")
def _own() -> Any:
    own = fresh("bert_part")
    own.pad_token = own.pad_token or "a"
    return own


def asked(own: Any, pad: Any = Pad.DO_NOT_PAD, cut: Any = Cut.DO_NOT_TRUNCATE, **given: Any) -> Any:
    given.setdefault("split_special_tokens", own.split_special_tokens)
    return columns_of(own, pad, cut, given)


def test_a_call_splits_special_tokens_as_the_tokenizer_does(
    own: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for usual, given in product((True, False, None), (MISSING, None, True, False, 1)):
        monkeypatch.setattr(own, "split_special_tokens", usual)
        arguments = {} if given is MISSING else {"split_special_tokens": given}
        splits = SPLITS_BY_DEFAULT if given is MISSING else given
        is_read = isinstance(usual, bool) and (
            splits is usual or (splits is None and SPLITS_BY_DEFAULT is None)
        )
        found = columns_of(own, Pad.DO_NOT_PAD, Cut.DO_NOT_TRUNCATE, arguments)
        assert (found is not None) == is_read, (usual, given)


def test_each_column_is_asked_for_by_its_argument(own: Any) -> None:
    usual = (
        "input_ids",
        *(n for n in ("token_type_ids", "attention_mask") if n in own.model_input_names),
    )
    assert asked(own).names == usual
    for name in ("token_type_ids", "attention_mask", "special_tokens_mask", "length"):
        assert name in asked(own, **{f"return_{name}": True}).names
        assert name not in asked(own, **{f"return_{name}": False}).names
    assert asked(own, return_offsets_mapping=True).names == (*usual, "offset_mapping")
    found = asked(own, max_length=9, return_tensors="np")
    assert (found.max_length, found.tensors, found.truncation, found.padding) == (
        9,
        "np",
        None,
        None,
    )


@pytest.mark.parametrize("name", ["is_split_into_words", "return_overflowing_tokens"])
def test_words_and_overflowing_tokens_are_for_the_own_call(own: Any, name: str) -> None:
    assert asked(own, **{name: True}) is None
    assert asked(own, **{name: False}) is not None


def test_a_truncation_is_read_if_it_is_a_count_without_stride(own: Any) -> None:
    for cut, most, stride in product(
        Cut, (0, 1, 9, 2**31 - 1, 2**31, -1, None, True), (0, 1, 0.0, None)
    ):
        found = asked(own, cut=cut, max_length=most, stride=stride)
        if cut == Cut.DO_NOT_TRUNCATE:
            assert found.truncation is None
            continue
        counts = type(most) is int and 0 <= most < 2**31 and type(stride) is int and stride == 0
        is_read = counts and cut in (Cut.LONGEST_FIRST, Cut.ONLY_FIRST)
        assert (found is not None) == is_read, (cut, most, stride)
        if is_read:
            assert found.truncation == {
                "max_length": most, "stride": 0, "strategy": cut.value,
                "direction": own.truncation_side,
            }  # fmt: skip
    assert asked(own, cut=Cut.LONGEST_FIRST, max_length=4).truncation["stride"] == 0


def test_a_padding_is_read_if_its_numbers_are_counts(own: Any) -> None:
    for pad, most, multiple, side in product(
        Pad, (None, 0, 9, -1), (None, 0, 1, 7, True), (None, "left", "right", "up")
    ):
        found = asked(own, pad=pad, max_length=most, pad_to_multiple_of=multiple, padding_side=side)
        if pad == Pad.DO_NOT_PAD:
            assert found.padding is None
            continue
        length = most if pad == Pad.MAX_LENGTH else None
        is_read = (length is None or length >= 0) and side != "up"
        is_read = is_read and (multiple is None or (type(multiple) is int and multiple > 0))
        assert (found is not None) == is_read, (pad, most, multiple, side)
        if is_read:
            assert found.padding == {
                "length": length, "pad_to_multiple_of": multiple,
                "direction": side or own.padding_side, "pad_id": own.pad_token_id,
                "pad_token": own.pad_token, "pad_type_id": own.pad_token_type_id,
            }  # fmt: skip


def forms() -> Forms:
    frame = Frame(([2], [3]), ([0], 0, [0]), (["[CLS]"], ["[SEP]"]), 1)
    bare = Frame(([], []), ([], 0, []), ([], []), 1)
    return Forms(lambda adds: frame if adds else bare)


@pytest.mark.parametrize(
    ("given", "is_read"),
    [
        ({}, True),
        ({"verbose": False}, True),
        ({"add_special_tokens": False}, True),
        ({"add_special_tokens": 1}, False),
        ({"text_pair": None}, True),
        ({"text_pair": "a"}, False),
        ({"unknown": None}, False),
        ({"return_length": []}, False),
        ({"truncation": True, "max_length": 9}, True),
        ({"truncation": "longest_first", "max_length": 9, "padding": "longest"}, True),
        ({"truncation": "only_second", "max_length": 9}, False),
        ({"truncation": True, "max_length": 2}, False),
        ({"truncation": True, "max_length": 3}, True),
        ({"truncation": True, "max_length": 2, "add_special_tokens": False}, True),
        ({"truncation": 1.0, "max_length": 9}, False),
        ({"padding": True}, True),
        ({"padding": 1.0}, False),
        ({"padding": True, "max_length": 9}, False),
        ({"padding": True, "max_length": 9, "truncation": False}, False),
        ({"padding": True, "max_length": 9, "truncation": True}, True),
        ({"padding": "max_length", "max_length": 9}, not LOGS_MISSING_LENGTHS),
    ],
)
def test_a_form_is_read_unless_only_the_own_call_knows_it(
    own: Any, given: dict[str, Any], is_read: bool
) -> None:
    found = forms().of_call(own, given)
    assert (found is not None) == is_read
    if found is not None:
        assert found.add_special_tokens == given.get("add_special_tokens", True)
        assert found.frame.special_count == (2 if found.add_special_tokens else 0)
        assert found.verbose == given.get("verbose", True)
        assert found.is_row == ("padding" not in given)
        assert found.columns.max_length == given.get("max_length")


def test_a_form_is_read_once_and_again_after_an_attribute_was_set(
    own: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = forms()
    for given in ({}, {"padding": True}, {"truncation": True, "max_length": 5}):
        first = known.of_call(own, given)
        assert known.of_call(own, dict(given)) is first
        for name, value in [
            *(("truncation_side", "left"), ("model_max_length", 7)),
            *([("padding_side", "left"), ("pad_token_type_id", 3)] if "padding" in given else []),
            ("model_input_names", ["input_ids"]),
        ]:
            field = "_pad_token_type_id" if name == "pad_token_type_id" else name
            with monkeypatch.context() as patched:
                patched.setattr(own, field, value)
                assert known.of_call(own, given) is not first, name
            assert known.of_call(own, given) is first
    assert known.of_call(own, {"return_length": True}) is not known.of_call(
        own, {"return_length": 1}
    )


def test_a_tokenizer_keeps_64_forms_at_most(own: Any) -> None:
    known = forms()
    for most in range(3, 200):
        assert known.of_call(own, {"truncation": True, "max_length": most}) is not None
        assert len(known._known) <= 64
    assert len(known._known) == (200 - 3 - 1) % 64 + 1


@pytest.mark.parametrize(
    ("arguments", "is_known"),
    [
        ({}, True),
        ({"padding": "longest"}, True),
        ({"padding": "max_length"}, False),
        ({"truncation": True}, False),
        ({"max_length": 5}, False),
        ({"truncation": True, "max_length": 5}, True),
        ({"truncation": True, "max_length": 5, "padding": "max_length"}, False),
    ],
)
def test_a_call_of_which_transformers_logs_a_length_is_its_own(
    arguments: dict[str, Any], is_known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hf_arguments, "LOGS_MISSING_LENGTHS", True)
    assert (hf_arguments._settings_of(arguments) is not None) == is_known
