"""`tokpar.as_tokenizers`: each call of an object with tokpar's functions against the method of its
class, called of the same object."""

from __future__ import annotations

import copy
import gc
import inspect
import pickle
import sys
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Encoding, Tokenizer, pre_tokenizers, processors

import tokpar
from tests.conftest import at_most
from tests.support.hf_values import Raised, outcome, plain
from tests.support.offsets_drawn import tokenizers
from tests.support.paths import VOCAB
from tests.support.tokenizers_changes import (
    calls,
    change_in_place,
    changes,
    set_other_merges,
    train,
)
from tests.support.tokenizers_drawn import WordPieceSpec, build, named_tokenizers, plain_copy
from tokpar.decoding import text_table
from tokpar.errors import ChangedError, EngineError, OptionError, UnknownNameError
from tokpar.integrations import tokenizers_functions, tokenizers_state

pytestmark = pytest.mark.compiled_at_once

FILES = ("default", "deepseek_part", "wordpiece", "llama_style")
METHODS = ("encode", "encode_batch", "encode_batch_fast", "decode", "decode_batch")
TEXT = "The quick brown fox, 1234567 times.\n\n  Naïve café 中文字 🫠! <s> "


@pytest.fixture(autouse=True)
def _short_texts_too() -> Iterator[None]:
    """tokpar answers texts of any length, and decodes from the first id on."""
    with (
        mock.patch.object(tokenizers_functions, "SHORTEST", 0),
        mock.patch.object(tokenizers_functions, "SHORTEST_BATCH", 0),
        mock.patch.object(tokenizers_functions, "FEWEST_IDS", 0),
        mock.patch.object(tokenizers_state, "MOST_CALLS_TO_WAIT", 0),
        mock.patch.object(text_table, "LEAST_IDS", 0),
        mock.patch.object(text_table, "IN_BACKGROUND", False),
    ):
        yield


def engine(name: str) -> Tokenizer:
    if name != "wordpiece":
        return plain_copy(named_tokenizers()[name])
    own = plain_copy(build(WordPieceSpec(words=60)))
    own.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return own


def assert_same_answer(own: Tokenizer, name: str, *args: Any, **kwargs: Any) -> Any:
    """The function of the object gives what the method of the class gives. Returns what it gives,
    and the value that it has now."""
    expected = outcome(lambda: getattr(Tokenizer, name)(own, *args, **kwargs))
    found: list[Any] = []
    got = outcome(lambda: found.append(getattr(own, name)(*args, **kwargs)) or found[0])
    assert got == expected, (name, args, kwargs)
    return found[0] if found else None, expected


@at_most(60)
@given(data=st.data())
def test_each_call_between_drawn_changes_gives_what_the_class_gives(data: st.DataObject) -> None:
    own = data.draw(tokenizers(), label="tokenizer")
    if isinstance(outcome(lambda: tokpar.as_tokenizers(own)), Raised):
        return
    given_before = []
    for _ in range(data.draw(st.integers(1, 4), label="changes")):
        for name, args, kwargs in data.draw(st.lists(calls(own), min_size=1, max_size=4)):
            given_before.append(assert_same_answer(own, name, *args, **kwargs))
        outcome(lambda: data.draw(changes(), label="change")(own))
    for result, expected in given_before:
        if not isinstance(expected, Raised):
            assert plain(result) == expected, "a change reached what was encoded before"


@pytest.mark.parametrize("name", FILES)
def test_tokpar_answers_all_forms_of_text_alone(name: str) -> None:
    own = tokpar.as_tokenizers(engine(name))
    for special in (True, False):
        assert_same_answer(own, "encode", TEXT, add_special_tokens=special)
        assert_same_answer(own, "encode_batch", [TEXT, "", "a b"], add_special_tokens=special)
        assert_same_answer(own, "encode_batch_fast", [TEXT, "a"], add_special_tokens=special)
    assert own.tokpar_texts()["compiled"] == 12
    own.enable_truncation(7)
    own.enable_padding(length=9)
    assert_same_answer(own, "encode", TEXT)
    assert_same_answer(own, "encode_batch", [TEXT, "a"])
    assert own.tokpar_texts()["compiled"] == 15


@pytest.mark.parametrize("name", FILES)
def test_decoding_uses_the_table_and_follows_a_new_decoder(name: str) -> None:
    own = tokpar.as_tokenizers(engine(name))
    ids = own.encode(TEXT).ids
    for skip in (True, False):
        assert_same_answer(own, "decode", ids, skip_special_tokens=skip)
        assert_same_answer(own, "decode_batch", [ids, [], ids[:3]], skip_special_tokens=skip)
    before = own.decoder
    own.decoder = None
    assert_same_answer(own, "decode", ids)
    own.decoder = before
    own.add_special_tokens([own.id_to_token(ids[3])])
    assert_same_answer(own, "decode", ids)
    assert_same_answer(own, "encode", TEXT)


@pytest.mark.parametrize("name", ["default", "llama_style"])
def test_a_model_with_the_same_tokens_and_other_merges_is_noticed(name: str) -> None:
    own = tokpar.as_tokenizers(engine(name))
    before = own.encode(TEXT).ids
    set_other_merges(own)
    assert_same_answer(own, "encode", TEXT)
    assert own.encode(TEXT).ids != before, "the merges of this file do not matter"


@pytest.mark.parametrize("how", [train, change_in_place])
def test_changes_in_place_are_noticed(how: Any) -> None:
    own = engine("default")
    own.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokpar.as_tokenizers(own)
    encoded = own.encode(TEXT)
    expected = plain(Tokenizer.encode(own, TEXT))
    how(own)
    changed = outcome(lambda: Tokenizer.encode(own, TEXT))
    assert changed != expected, "this change changes nothing"
    assert_same_answer(own, "encode", TEXT)
    assert_same_answer(own, "decode", [300, 5, 6])
    assert encoded.ids == dict(expected[0])["ids"][1]
    if how is train:
        with pytest.raises((ChangedError, EngineError)):
            encoded.word_to_chars(0)


@pytest.mark.parametrize("way", ["pickle", "copy", "deepcopy"])
def test_copies_have_the_functions_and_settings_of_their_own(way: str) -> None:
    own = tokpar.as_tokenizers(engine("default"), workers=1)
    own.enable_truncation(5)
    ways = {"pickle": lambda it: pickle.loads(pickle.dumps(it))}
    made = ways.get(way, getattr(copy, way, None))(own)  # type: ignore[misc]
    made.no_truncation()
    assert type(made) is Tokenizer
    assert_same_answer(made, "encode", TEXT)
    assert_same_answer(own, "encode", TEXT)
    assert made.tokpar_texts()["compiled"] == own.tokpar_texts()["compiled"] == 1


def test_paths_names_and_objects_of_transformers_are_taken(tmp_path: Path) -> None:
    file = VOCAB / "llama_style.json"
    own = Tokenizer.from_file(str(file))
    assert tokpar.as_tokenizers(file).encode(TEXT).ids == own.encode(TEXT).ids
    with pytest.raises(UnknownNameError):
        tokpar.as_tokenizers(str(tmp_path / "none.json"))
    found = mock.patch("tokpar.adapters.named_tokenizers.tokenizer_named", return_value=object())
    with found, pytest.raises(OptionError, match="is one of tiktoken"):
        tokpar.as_tokenizers("cl100k_base")
    with pytest.raises(OptionError, match="got int"):
        tokpar.as_tokenizers(3)
    with pytest.raises(OptionError, match="no_such_option"):
        tokpar.as_tokenizers(own, no_such_option=1)
    own.encode = print
    with pytest.raises(OptionError, match="encode of this object was replaced"):
        tokpar.as_tokenizers(own)


def test_an_object_gets_the_functions_once_and_they_look_like_its_own() -> None:
    own = engine("llama_style")
    assert tokpar.as_tokenizers(own) is own
    before = own.encode
    assert tokpar.as_tokenizers(own) is own
    assert own.encode is before
    for name in METHODS:
        mine, theirs = getattr(own, name), getattr(Tokenizer, name)
        assert inspect.signature(mine).parameters.keys() == (
            inspect.signature(theirs).parameters.keys() - {"self"}
        )
        assert (mine.__name__, mine.__doc__) == (theirs.__name__, theirs.__doc__)
    assert isinstance(own.encode(TEXT), Encoding)


def test_encodings_of_tokpar_are_post_processed_as_the_engines_own() -> None:
    own = tokpar.as_tokenizers(engine("wordpiece"))
    bare = [own.encode(text, add_special_tokens=False) for text in (TEXT, "the fox")]
    theirs = [Tokenizer.encode(own, text, None, False, False) for text in (TEXT, "the fox")]
    assert plain(own.post_process(*bare)) == plain(Tokenizer.post_process(own, *theirs))
    assert plain(own.post_process(bare[0])) == plain(Tokenizer.post_process(own, theirs[0]))


def test_transformers_takes_the_object_with_equal_results() -> None:
    transformers = pytest.importorskip("transformers", reason="transformers is missing")
    own = engine("deepseek_part")
    plain_one = transformers.PreTrainedTokenizerFast(tokenizer_object=own)
    mine = transformers.PreTrainedTokenizerFast(tokenizer_object=tokpar.as_tokenizers(own))
    for kwargs in ({}, {"return_offsets_mapping": True}, {"truncation": True, "max_length": 7}):
        got, expected = mine([TEXT, "a b"], **kwargs), plain_one([TEXT, "a b"], **kwargs)
        assert plain(got) == plain(expected)
    texts = mine.backend_tokenizer.tokpar_texts()
    assert texts["compiled"] > 0, "transformers does not call the functions"


def test_threads_that_encode_and_change_get_whole_answers() -> None:
    own = tokpar.as_tokenizers(engine("default"))
    expected = []
    for length in (None, 4, 9):
        own.no_truncation() if length is None else own.enable_truncation(length)
        expected.append(Tokenizer.encode(own, TEXT).ids)
    wrong: list[list[int]] = []

    def encode() -> None:
        for _ in range(300):
            ids = own.encode(TEXT).ids
            if ids not in expected:
                wrong.append(ids)

    threads = [threading.Thread(target=encode) for _ in range(3)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        own.enable_truncation(4)
        own.enable_truncation(9)
        own.no_truncation()
    assert not wrong


def test_an_object_that_nobody_has_is_freed() -> None:
    own = tokpar.as_tokenizers(engine("default"))
    if not Tokenizer.__weakrefoffset__:
        pytest.skip("objects of this release are not seen by the collector of garbage")
    seen = weakref.ref(own)
    own.encode(TEXT)
    del own
    gc.collect()
    assert seen() is None


def test_a_call_goes_through_few_functions_and_files() -> None:
    own = tokpar.as_tokenizers(engine("deepseek_part"))
    for name, args, most in (
        ("encode", (TEXT,), (9, 17)),
        ("encode_batch", ([TEXT, "a b"],), (11, 26)),
        ("decode", (own.encode(TEXT).ids,), (6, 12)),
    ):
        getattr(own, name)(*args)
        seen: set[tuple[str, str]] = set()

        def note(frame: Any, event: str, _: Any) -> None:
            if event == "call":
                seen.add((frame.f_code.co_filename, frame.f_code.co_qualname))  # noqa: B023

        sys.setprofile(note)
        try:
            getattr(own, name)(*args)
        finally:
            sys.setprofile(None)
        ours = {each for each in seen if "tokpar" in each[0]}
        assert len({file for file, _ in ours}) <= most[0], sorted(ours)
        assert len(ours) <= most[1], sorted(ours)
