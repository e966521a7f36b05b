"""Models of SentencePiece in the compiled call: one best path over a whole text, and merges. The
plugin tokpar-sentencepiece compares it with the library."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tokpar_conformance.worlds.charsmaps import charsmap

from tests.conftest import needs_kernel
from tests.support.path_drawn import (
    draw_merged_model,
    draw_path_model,
    draw_path_text,
    ids_of_merges,
    ids_of_path,
)
from tests.support.profiles import drawn
from tokpar.compiled.call_tables import call_of
from tokpar.compiled.merges import GateError
from tokpar.compiled.path_tables import has_words, path_arrays
from tokpar.contract.path_model import BPE, CHAR, NORMAL, UNKNOWN, UNUSED, USER_DEFINED, PathModel

pytestmark = [pytest.mark.ids, needs_kernel]
UNK = b"<unk>", 0.0, UNKNOWN
PLAIN = {"add_dummy_prefix": False, "remove_extra_whitespaces": False}


def call_for(model: PathModel) -> Any:
    return call_of(path_arrays(model), {}, ((), ()))


def ids_by(call: Any, text: str) -> list[int] | None:
    found = call.encode_plain(text)
    return None if found is None else np.frombuffer(found, np.uint32).tolist()


@np.errstate(over="ignore", invalid="ignore")
def test_drawn_models_have_the_ids_of_the_rule() -> None:
    resets = unknown = 0
    for seed in range(drawn(600)):
        draw = random.Random(seed)
        model, letters = draw_path_model(draw)
        call = call_for(model)
        for text in (draw_path_text(draw, letters) for _ in range(12)):
            expected = ids_of_path(model, text)
            assert ids_by(call, text) == expected, (seed, text, model)
            resets += len(text) > 9 and any(score < -20000 for _, score, _ in model.pieces)
            unknown += any(model.pieces[id_][2] == UNKNOWN for id_ in expected)
    assert resets > 20
    assert unknown > 20


def test_drawn_models_that_merge_have_the_ids_of_the_rule() -> None:
    merged = unknown = words = 0
    for seed in range(drawn(600)):
        draw = random.Random(seed)
        model, letters = draw_merged_model(draw)
        call = call_for(model)
        words += has_words(model)
        for text in (draw_path_text(draw, letters) for _ in range(12)):
            expected = ids_of_merges(model, text)
            assert ids_by(call, text) == expected, (seed, text, model)
            assert ids_by(call, text) == expected, "learned words"
            merged += any(len(model.pieces[id_][0].decode()) > 1 for id_ in expected)
            unknown += any(model.pieces[id_][2] == UNKNOWN for id_ in expected)
    assert min(merged, unknown, words) > 20


def test_a_merge_of_a_missing_character_is_made() -> None:
    """Pieces are found by their characters, not by the ids of two pieces."""
    model = PathModel([UNK, (b"ab", -0.0, NORMAL), (b"abc", -1.0, NORMAL)], kind=BPE, **PLAIN)
    assert ids_by(call_for(model), "abcab") == [2, 1]


def test_of_equal_scores_the_leftmost_is_merged_first() -> None:
    pieces = [UNK, (b"a", -9.0, NORMAL), (b"b", -9.0, NORMAL), (b"ab", -1.0, NORMAL)]
    pieces += [(b"ba", -1.0, NORMAL), (b"aba", -2.0, NORMAL)]
    call = call_for(PathModel(pieces, kind=BPE, **PLAIN))
    assert [ids_by(call, text) for text in ("aba", "bab", "babab")] == [[5], [4, 2], [4, 4, 2]]
    assert ids_by(call, "ab" * 3000) == [3] * 3000


def test_a_piece_that_merged_symbols_may_not_have_is_refused() -> None:
    unused = PathModel([UNK, (b"ab", -1.0, UNUSED)], kind=BPE, **PLAIN)
    with pytest.raises(GateError, match="is unused"):
        path_arrays(unused)
    control = PathModel([UNK, (b"b", 0.0, 3)], kind=CHAR, **PLAIN)
    with pytest.raises(GateError, match="is a character, and none of a text"):
        path_arrays(control)


def test_rows_and_buffers_have_the_ids_of_single_texts() -> None:
    draw = random.Random(5)
    model, letters = draw_path_model(draw)
    call, texts = call_for(model), [draw_path_text(draw, letters) for _ in range(30)]
    alone = [ids_by(call, text) for text in texts]
    ids, lengths, samples, listed = call.encode_rows(tuple(texts))
    parts = np.split(np.frombuffer(ids, np.uint32), np.cumsum(np.frombuffer(lengths, np.int64)))
    assert [part.tolist() for part in parts[:-1]] == alone
    assert (samples, listed) == ([], None)
    data = "".join(texts).encode()
    edges = np.cumsum([0, *(len(text.encode()) for text in texts)], dtype=np.int64)
    assert call.encode_utf8(data, edges)[:2] == (ids, lengths)
    assert call.encode_places(texts[0]) is None


def test_a_replacement_longer_than_its_text_and_fallback_to_bytes_have_room() -> None:
    falling = [(b"<0x%02X>" % byte, 0.0, 6) for byte in range(256)]
    long = "語" * 1000
    model = PathModel([UNK, *falling], charsmap({"x": long}), byte_fallback=True, **PLAIN)
    text = "x" * 50
    expected = [1 + byte for byte in (long * 50).encode()]
    assert ids_by(call_for(model), text) == expected


def test_a_replacement_beyond_the_room_is_the_library_s() -> None:
    model = PathModel([UNK], charsmap({"x": "y" * 5000}), **PLAIN)
    assert ids_by(call_for(model), "x") is None


def test_a_sum_of_32_bits_is_rounded_where_64_bits_are_not() -> None:
    """The two paths of "ba" differ by less than half a unit of a large sum; alone they do not."""
    pieces = [UNK, (b"a", -1.1, NORMAL), (b"b", -1.3, NORMAL), (b"ba", -2.4000003, NORMAL)]
    call = call_for(PathModel(pieces, **PLAIN))
    assert ids_by(call, "ba") == [2, 1]
    found = ids_by(call, "a" * 5000 + "ba")
    assert found is not None
    assert found[-2:] == [1, 3]


def test_beyond_the_limit_the_sum_is_taken_off() -> None:
    """Without it, a difference of 0.01 is lost in a sum beyond 2 million."""
    pieces = [UNK, (b"c", -90000.0, NORMAL), (b"a", -1.0, NORMAL), (b"b", -1.0, NORMAL)]
    pieces += [(b"ab", -2.01, NORMAL)]
    call = call_for(PathModel(pieces, **PLAIN))
    assert ids_by(call, "c" * 50 + "ab") == [1] * 50 + [2, 3]


CLOSE = [UNK, ("▁".encode(), -1.0, NORMAL), (b"a", -1.1, NORMAL), (b"b", -1.3, NORMAL)]
CLOSE += [(b"ba", -2.4005, NORMAL), ("▁c".encode(), -30000.3, NORMAL)]


def test_a_word_has_other_ids_behind_a_large_sum_than_alone() -> None:
    call = call_for(PathModel(CLOSE, **PLAIN))
    alone, behind = [1, 3, 2], [1, 4]
    assert ids_by(call, " ba") == alone
    assert ids_by(call, " ba c ba c ba") == [*alone, 5, *behind, 5, *behind]
    assert ids_by(call, " ba ba") == [*alone, *alone]
    assert ids_of_path(PathModel(CLOSE, **PLAIN), " ba c ba") == [*alone, 5, *behind]


def test_a_piece_across_words_is_found() -> None:
    across = PathModel([*CLOSE, ("a▁b".encode(), -0.5, NORMAL)], **PLAIN)
    assert ids_by(call_for(across), "a b") == [6]
    unused = PathModel([*CLOSE, ("a▁b".encode(), -0.5, UNUSED)], **PLAIN)
    assert ids_by(call_for(unused), "a b") == [2, 1, 3]
    assert (has_words(across), has_words(unused)) == (False, True)


def test_unknown_characters_on_both_sides_of_a_word_s_edge_are_one_id() -> None:
    call = call_for(PathModel([UNK, (b"a", -1.0, NORMAL)], **PLAIN))
    for text in ("ax xa", "x x", "a a a", " x"):
        assert ids_by(call, text) == ids_of_path(
            PathModel([UNK, (b"a", -1.0, NORMAL)], **PLAIN), text
        )
    assert ids_by(call, "ax xa") == [1, 0, 1]


@np.errstate(over="ignore", invalid="ignore")
def test_drawn_words_with_little_room_have_the_ids_of_the_whole_text() -> None:
    """Each word comes behind several sums, so that a learned path is asked for again."""
    touched = 0
    for seed in range(drawn(400)):
        draw = random.Random(seed)
        unit = 2.0 ** -draw.randint(7, 22)
        names = {"".join(draw.choices("ab", k=draw.choice([1, 2, 2, 3, 4]))) for _ in range(9)}
        pieces = [UNK, ("▁".encode(), -1.0, NORMAL)]
        pieces += [
            (name.encode(), -1.25 * len(name) + draw.randint(-2, 2) * unit, NORMAL)
            for name in sorted({*names, "a", "b"})
        ]
        pieces += [("▁c".encode(), -draw.choice([7.3, 300.7, 3000.7, 30000.3]), NORMAL)]
        model = PathModel(pieces, **PLAIN)
        call = call_for(model)
        words = ["".join(draw.choices("ab", k=draw.randint(1, 6))) for _ in range(4)]
        text = "".join(" " + draw.choice([*words, "c"]) for _ in range(25))
        expected = ids_of_path(model, text)
        assert ids_by(call, text) == expected, (seed, text)
        parts = text.split(" ")[1:]
        touched += expected != [id_ for part in parts for id_ in ids_of_path(model, " " + part)]
    assert touched > 5  # words that have other ids alone


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"pieces": [(b"a", 0.0, NORMAL)]}, "no unknown piece"),
        ({"pieces": [UNK, (b"\xff", 0.0, NORMAL)]}, "is no UTF-8"),
        ({"pieces": [UNK, (b"a\0b", 0.0, NORMAL)]}, "zero byte"),
        ({"pieces": [UNK, (b"a", math.nan, NORMAL)]}, "no number"),
        ({"byte_fallback": True}, "some byte is no piece"),
        ({"charsmap": b"abcd"}, "cannot be read"),
        ({"charsmap": charsmap({"a": "b"})[:-2] + b"\xff\0"}, "replacement of its normalizer"),
    ],
)
def test_a_condition_of_the_file_is_checked(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(GateError, match=said):
        path_arrays(replace(PathModel([UNK]), **changes))


def test_a_user_defined_piece_is_not_normalized_and_scores_by_its_bytes() -> None:
    pieces = [UNK, (b"e", -1.0, NORMAL), ("aé".encode(), -50.0, USER_DEFINED)]
    call = call_for(PathModel(pieces, charsmap({"a": "e", "é": "e"}), **PLAIN))
    assert ids_by(call, "aéaaé") == [2, 1, 2]


def test_arrays_that_do_not_fit_are_refused() -> None:
    arrays = path_arrays(PathModel([UNK, (b"a", 0.0, NORMAL)]))
    for name in ("path_cells", "path_first", "path_scores", "path_begins", "path_bytes"):
        with pytest.raises(ValueError, match=r"items|fit"):
            call_of(arrays | {name: arrays[name][:0]}, {}, ((), ()))
    for name, place in (("path_cells", 0), ("path_first", 97)):
        wrong = arrays[name].copy()
        wrong[place] = 1 << 30
        with pytest.raises(ValueError, match="fit"):
            call_of(arrays | {name: wrong}, {}, ((), ()))
