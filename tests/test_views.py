"""`Encoder.as_hf`: each call against the same call on the original."""

from __future__ import annotations

import copy
import functools
import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers, processors

import tokpar
from tests.texts import texts
from tests.tokenizers_drawn import (
    build,
    contents,
    has_twins,
    hf_specs,
    named_tokenizers,
    plain_copy,
    texts_with,
    token_texts,
)
from tokpar import OptionError
from tokpar.views.hf import HfView
from tokpar.views.hf_rows import trimmed

ROOT = Path(__file__).parents[1]
LONG = "The quick brown fox, 1234567 times.\n\n  Naïve café 中文字 🫠! " * 150
FILES = ("default", "deepseek_part", "bert_part", "llama_style")
EVERYTHING = {
    "return_token_type_ids": True,
    "return_attention_mask": True,
    "return_special_tokens_mask": True,
    "return_offsets_mapping": True,
    "return_length": True,
}


# --------------------------------------------------------------------------------- originals


def transformers_tokenizer(own: Tokenizer, **options: Any) -> Any:
    """What transformers makes of `own`; the columns are those of its version 5."""
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    columns = {"model_input_names": ["input_ids", "attention_mask"]}
    return transformers.PreTrainedTokenizerFast(tokenizer_object=own, **columns | options)


def decodes_rows() -> bool:
    """From version 5 on `decode` takes several rows, and `batch_decode` one."""
    import transformers

    return int(transformers.__version__.split(".")[0]) >= 5


def byte_level(post: Any) -> Tokenizer:
    """The bundled tokenizer with another post-processor and a few added tokens."""
    own = plain_copy(named_tokenizers()["default"])
    own.add_special_tokens(["<s>", "</s>", "<pad>"])
    own.add_tokens([AddedToken(" \n<x>\t", normalized=False)])
    own.post_processor = post
    return own


def template(single: str) -> Any:
    return processors.TemplateProcessing(
        single=single, pair="$A $B", special_tokens=[("<s>", 1), ("</s>", 2)]
    )


def roberta(trim: bool, prefix_space: bool) -> Any:
    return processors.RobertaProcessing(
        ("</s>", 2), ("<s>", 1), trim_offsets=trim, add_prefix_space=prefix_space
    )


def in_order(*parts: Any) -> Any:
    return processors.Sequence(list(parts))


POST_PROCESSORS: dict[str, Callable[[], Any]] = {
    "types": lambda: template("<s>:1 <s>:2 $A:3 </s>:4"),
    "roberta": lambda: roberta(True, True),
    "roberta without prefix": lambda: roberta(True, False),
    "roberta untrimmed": lambda: roberta(False, True),
    "trimmed": lambda: processors.ByteLevel(trim_offsets=True),
    "trimmed, prefix": lambda: processors.ByteLevel(trim_offsets=True, add_prefix_space=True),
    "untrimmed": lambda: processors.ByteLevel(trim_offsets=False),
    "trimmed, template": lambda: in_order(
        processors.ByteLevel(trim_offsets=True), template("<s> $A </s>")
    ),
    "template, trimmed": lambda: in_order(
        template("<s> $A"), processors.ByteLevel(trim_offsets=True, add_prefix_space=True)
    ),
    "trimmed twice": lambda: in_order(processors.ByteLevel(), roberta(True, False)),
}
LEFT = {
    "pad_token": "<pad>",
    "bos_token": "<s>",
    "eos_token": "</s>",
    "padding_side": "left",
    "truncation_side": "left",
    "model_max_length": 24,
    "pad_token_type_id": 5,
    "model_input_names": ["input_ids", "token_type_ids"],
}
SOURCES = (*FILES, *POST_PROCESSORS, "left", "no padding token", "split specials")


@functools.cache
def engine(name: str) -> Tokenizer:
    """The `tokenizers.Tokenizer` of a source."""
    if name in FILES:
        own = named_tokenizers()[name]
        copied = Tokenizer.from_str(own.to_str())
        if name == "deepseek_part":
            pad = contents(copied)[0]
            copied.enable_padding(pad_id=copied.token_to_id(pad), pad_token=pad, direction="left")
        return copied
    post = POST_PROCESSORS[name]() if name in POST_PROCESSORS else template("<s> $A </s>")
    return byte_level(post)


@functools.cache
def original(name: str) -> Any:
    """A transformers tokenizer."""
    options = {"left": LEFT, "no padding token": {}, "split specials": {}}.get(
        name, {} if name in FILES else {"pad_token": "<pad>"}
    )
    split = {"split_special_tokens": True} if name == "split specials" else {}
    return transformers_tokenizer(engine(name), **options, **split)


@functools.cache
def view(name: str, chunk_chars: int, whole: bool = False) -> HfView:
    """A view of `original`, or of the engine itself (`whole`), whose texts are cut."""
    source = engine(name) if whole else original(name)
    return tokpar.Encoder(source, strategy="cut", chunk_chars=chunk_chars, workers=1).as_hf()


# --------------------------------------------------------------------------------- outcomes


def plain(value: Any) -> object:
    """A value that == compares in full: arrays with their type and shape."""
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.shape, [plain(item) for item in value.tolist()]
    if isinstance(value, list):
        return [plain(item) for item in value] if value and _holds_arrays(value) else value
    return value


def _holds_arrays(values: list[Any]) -> bool:
    return any(isinstance(item, np.ndarray) for item in values)


def outcome(call: Callable[[], Any]) -> object:
    """Columns in order, or the error."""
    try:
        result = call()
    except Exception as error:
        return error
    return [(name, plain(value)) for name, value in result.items()]


def assert_same(got: object, expected: object) -> None:
    """The same columns, or an error of the same type or a kind of it."""
    if isinstance(expected, Exception):
        assert isinstance(got, type(expected)), (got, expected)
    else:
        assert got == expected


arguments = st.fixed_dictionaries(
    {},
    optional={
        "add_special_tokens": st.booleans(),
        "padding": st.sampled_from([False, True, "longest", "max_length", "do_not_pad", "other"]),
        "truncation": st.sampled_from(
            [None, False, True, "longest_first", "only_first", "only_second", "do_not_truncate", 7]
        ),
        "max_length": st.none() | st.integers(0, 40),
        "pad_to_multiple_of": st.sampled_from([None, None, 0, 1, 7, 8]),
        "padding_side": st.sampled_from([None, "left", "right"]),
        "return_tensors": st.sampled_from([None, None, "np", "other"]),
        "return_token_type_ids": st.sampled_from([None, False, True]),
        "return_attention_mask": st.sampled_from([None, False, True]),
        "return_special_tokens_mask": st.booleans(),
        "return_offsets_mapping": st.booleans(),
        "return_length": st.booleans(),
        "verbose": st.booleans(),
        "stride": st.just(0),
        "is_split_into_words": st.just(False),
        "return_overflowing_tokens": st.just(False),
        "text_pair": st.none(),
    },
)


def inputs(own: Tokenizer) -> st.SearchStrategy[str | list[str]]:
    text = texts_with(contents(own), 300, token_texts(own))
    return text | st.lists(text, min_size=1, max_size=4)


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, Any, dict[str, Any]]:
    name = draw(st.sampled_from(SOURCES))
    return name, draw(inputs(engine(name))), draw(arguments)


# --------------------------------------------------------------------------------- as_hf


@pytest.mark.ids
@given(call=calls(), chunk_chars=st.sampled_from([1, 5, 40]))
@example(call=("bert_part", "the man", {"max_length": 1, "truncation": True}), chunk_chars=5)
@example(call=("left", ["", " "], {"return_tensors": "np", **EVERYTHING}), chunk_chars=5)
@example(
    call=("left", [""], {"return_tensors": "np", "add_special_tokens": False, **EVERYTHING}),
    chunk_chars=5,
)
@example(
    call=("left", ["", "a"], {"return_tensors": "np", "add_special_tokens": False, **EVERYTHING}),
    chunk_chars=5,
)
@example(call=("roberta", " a b", {"max_length": 4, **EVERYTHING}), chunk_chars=1)
@example(call=("left", " a  b c", {"max_length": 4, "truncation": True}), chunk_chars=1)
def test_a_call_gives_what_the_transformers_tokenizer_gives(
    call: tuple[str, Any, dict[str, Any]], chunk_chars: int
) -> None:
    name, text, options = call
    expected = outcome(lambda: original(name)(text, **options))
    assert_same(outcome(lambda: view(name, chunk_chars)(text, **options)), expected)


@given(
    name=st.sampled_from(FILES),
    data=st.data(),
    options=arguments,
    chunk_chars=st.sampled_from([1, 5, 40]),
)
def test_an_engine_alone_gives_what_transformers_makes_of_it(
    name: str, data: st.DataObject, options: dict[str, Any], chunk_chars: int
) -> None:
    text = data.draw(inputs(engine(name)))
    expected = outcome(lambda: original(name)(text, **options))
    assert_same(outcome(lambda: view(name, chunk_chars, whole=True)(text, **options)), expected)


def read_again(own: Tokenizer) -> Tokenizer:
    """A Unigram model whose scores stay as they are when transformers copies it through a file."""
    if type(own.model).__name__ != "Unigram":
        return own
    for _ in range(20):
        again = Tokenizer.from_str(own.to_str())
        again.encode_special_tokens = own.encode_special_tokens
        if again.to_str() == own.to_str():
            return again
        own = again
    raise AssertionError("scores that change each time they are read")


@given(spec=hf_specs(), data=st.data(), options=arguments)
def test_a_drawn_tokenizer_is_followed_or_refused(
    spec: Any, data: st.DataObject, options: dict[str, Any]
) -> None:
    own = read_again(build(spec))
    assume(not has_twins(own))
    try:
        drawn = tokpar.Encoder(own, strategy="cut", chunk_chars=5, workers=1).as_hf()
    except OptionError:
        return
    text = data.draw(inputs(own))
    try:
        reference = transformers_tokenizer(own)
        if own.encode_special_tokens:
            reference = transformers_tokenizer(own, split_special_tokens=True)
        expected = outcome(lambda: reference(text, **options))
    except BaseException as panic:
        if type(panic).__name__ != "PanicException":
            raise
        return
    assert_same(outcome(lambda: drawn(text, **options)), expected)


@functools.cache
def oracle_of(name: str) -> Tokenizer:
    """A copy for one test, which sets truncation and padding anew each time."""
    return plain_copy(engine(name))


columns_of_engine = {
    "input_ids": "ids",
    "token_type_ids": "type_ids",
    "attention_mask": "attention_mask",
    "special_tokens_mask": "special_tokens_mask",
    "offset_mapping": "offsets",
}


@given(
    name=st.sampled_from(FILES),
    rows=st.lists(texts(max_size=200), min_size=1, max_size=3),
    add_special_tokens=st.booleans(),
    length=st.integers(4, 30),
)
def test_columns_are_those_of_the_engine_itself_where_transformers_is_missing(
    name: str, rows: list[str], add_special_tokens: bool, length: int
) -> None:
    own = engine(name)
    options: dict[str, Any] = {"truncation": True, "max_length": length}
    oracle = oracle_of(name)
    oracle.enable_truncation(length)
    if own.padding is not None:
        oracle.enable_padding(**own.padding | {"length": length})
        options["padding"] = "max_length"
    encodings = oracle.encode_batch(rows, add_special_tokens=add_special_tokens)
    got = view(name, 5, whole=True)(
        rows, add_special_tokens=add_special_tokens, **options, **EVERYTHING
    )
    for column, attribute in columns_of_engine.items():
        assert got[column] == [getattr(encoding, attribute) for encoding in encodings]


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("cut", [{}, {"truncation": True, "max_length": 700}])
def test_a_long_text_with_seams_gets_every_column(name: str, cut: dict[str, Any]) -> None:
    rows = [LONG, "short", LONG[::-1], "also short"]
    with tokpar.Encoder(original(name)) as encoder:
        assert encoder.encode(LONG).seams, "a text without seams shows nothing"
        for text in (LONG, rows):
            got = outcome(lambda t=text: encoder.as_hf()(t, **EVERYTHING, **cut))
            assert got == outcome(lambda t=text: original(name)(t, **EVERYTHING, **cut))


@pytest.mark.parametrize("name", SOURCES)
def test_what_can_be_read_is_what_the_original_has(name: str) -> None:
    mine, theirs = view(name, 5), original(name)
    names = [n for n, value in vars(HfView).items() if isinstance(value, property)]
    assert len(names) == 23
    for attribute in [*names, "is_fast"]:
        assert getattr(mine, attribute) == getattr(theirs, attribute), attribute
    assert len(mine) == len(theirs)
    assert mine.get_vocab() == theirs.get_vocab()
    assert mine.num_special_tokens_to_add() == theirs.num_special_tokens_to_add()
    with pytest.raises(AttributeError):
        mine.pad_token = "x"  # type: ignore[misc]


@pytest.mark.parametrize("name", FILES)
def test_what_can_be_read_of_an_engine_is_what_transformers_makes_of_it(name: str) -> None:
    mine, theirs = view(name, 5, whole=True), original(name)
    for attribute, value in vars(HfView).items():
        if isinstance(value, property):
            assert getattr(mine, attribute) == getattr(theirs, attribute), attribute
    assert (len(mine), mine.get_vocab()) == (len(theirs), theirs.get_vocab())


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("skip", [False, True])
def test_the_way_back_is_the_originals(name: str, skip: bool, whole: bool) -> None:
    mine, theirs = view(name, 5, whole), original(name)
    ids = [*theirs(LONG)["input_ids"][:300], *theirs.all_special_ids]
    some = theirs.convert_ids_to_tokens(ids, skip_special_tokens=skip)
    assert mine.convert_ids_to_tokens(ids, skip_special_tokens=skip) == some
    assert mine.convert_ids_to_tokens(ids[1]) == theirs.convert_ids_to_tokens(ids[1])
    assert mine.convert_tokens_to_ids(some) == theirs.convert_tokens_to_ids(some)
    assert mine.convert_tokens_to_ids(some[1]) == theirs.convert_tokens_to_ids(some[1])
    new = decodes_rows()
    for given_ids in (ids, np.array(ids), ids[1], [], *([[ids, ids[:3]]] if new else [])):
        expected = theirs.decode(given_ids, skip_special_tokens=skip)
        assert mine.decode(given_ids, skip_special_tokens=skip) == expected
    for rows in ([ids, ids[:3]], np.array([ids, ids]), *([ids] if new else [])):
        expected = theirs.batch_decode(rows, skip_special_tokens=skip)
        assert mine.batch_decode(rows, skip_special_tokens=skip) == expected


@given(text=texts(max_size=200), options=arguments)
def test_encode_gives_the_ids_of_the_originals_encode(text: str, options: dict[str, Any]) -> None:
    def ids(tokenizer: Any) -> Callable[[], Any]:
        return lambda: {"ids": tokenizer.encode(text, **options)}

    assert_same(outcome(ids(view("left", 5))), outcome(ids(original("left"))))


def test_columns_are_read_by_name_and_by_attribute() -> None:
    for whole in (False, True):
        batch = view("bert_part", 5, whole)(["the man", "the"])
        assert batch.input_ids == batch["input_ids"]
        assert list(batch) == list(batch.keys()) == ["input_ids", "attention_mask"]
        assert dict(**batch) == dict(original("bert_part")(["the man", "the"]))
        assert pickle.loads(pickle.dumps(batch)) == batch
        assert copy.copy(batch) == batch
        with pytest.raises(AttributeError):
            _ = batch.token_type_ids
        for number in (0, slice(0, 1)):
            with pytest.raises(OptionError, match="call the tokenizer itself"):
                _ = batch[number]


def test_the_result_for_a_transformers_tokenizer_is_its_batch_encoding() -> None:
    kind = type(original("bert_part")("the"))
    batch = view("bert_part", 5)("the")
    assert isinstance(batch, kind)
    assert batch.n_sequences == 1
    with pytest.raises(ValueError, match=r"word_ids\(\) is not available"):
        batch.word_ids()


def test_the_original_is_only_read() -> None:
    own = Tokenizer.from_str(engine("bert_part").to_str())
    wrapper = transformers_tokenizer(Tokenizer.from_str(own.to_str()))
    for source, backend in ((own, own), (wrapper, wrapper.backend_tokenizer)):
        before = backend.to_str(), backend.truncation, backend.padding
        made = tokpar.Encoder(source, strategy="cut", chunk_chars=5, workers=1).as_hf()
        made([LONG, "the"], padding=True, truncation=True, max_length=9, padding_side="left")
        assert (backend.to_str(), backend.truncation, backend.padding) == before


def test_a_view_follows_what_its_owner_changes() -> None:
    wrapper = transformers_tokenizer(byte_level(template("<s> $A </s>")))
    made = tokpar.Encoder(wrapper, strategy="cut", chunk_chars=5, workers=1).as_hf()
    text = ["a <new> b", "a"]

    def compare() -> None:
        got, expected = (outcome(lambda o=o: o(text, padding=True)) for o in (made, wrapper))
        assert_same(got, expected)

    compare()
    wrapper.pad_token = "<pad>"
    compare()
    wrapper.padding_side = "left"
    compare()
    wrapper.add_tokens(["<new>"])
    compare()
    wrapper.backend_tokenizer.post_processor = template("$A </s>")
    compare()
    own = byte_level(template("<s> $A"))
    alone = tokpar.Encoder(own, strategy="cut", chunk_chars=5, workers=1).as_hf()
    with pytest.raises(OptionError, match="no padding token"):
        alone("a", padding=True)
    own.enable_padding(pad_id=own.token_to_id("<pad>"), pad_token="<pad>", direction="left")
    assert alone("a", padding="max_length", max_length=4).attention_mask == [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"text_pair": "b"}, "text_pair: pairs of texts are not offered"),
        ({"text_target": "b"}, "target texts"),
        ({"text_pair_target": ["b"]}, "target texts"),
        ({"is_split_into_words": True}, "text in words"),
        ({"return_overflowing_tokens": True}, "overflowing parts .* call the tokenizer itself"),
        ({"tokenizer_kwargs": {}}, "tokenizer_kwargs"),
        ({"stride": 1}, "stride is how much"),
        ({"split_special_tokens": True}, "set it on the tokenizer"),
        ({"max_lenght": 3}, "unknown argument 'max_lenght'"),
        ({"max_length": -1}, "at least 0, got -1"),
        ({"max_length": 1.5}, "an int of at least 0, got 1.5"),
        ({"pad_to_multiple_of": -8}, "pad_to_multiple_of must be"),
        ({"padding": None}, "padding must be one of 'longest', 'max_length', True, False"),
        ({"truncation": "all"}, "truncation must be one of 'longest_first'"),
        ({"padding_side": "top"}, "'left' or 'right', got 'top'"),
        ({"return_tensors": "tf"}, "must be one of 'np', 'pt', got 'tf'"),
        ({"truncation": "only_second", "max_length": 3}, "use 'only_first'"),
    ],
)
def test_an_argument_that_is_not_offered_is_refused_with_what_to_do(
    options: dict[str, Any], says: str
) -> None:
    for whole in (False, True):
        with pytest.raises(OptionError, match=says):
            view("bert_part", 5, whole)("the man the man", **options)


@pytest.mark.parametrize(
    "text", [None, 3, b"a", [], ["a", 3], [("a", "b")], [["a", "b"]], iter("a")]
)
def test_what_is_no_text_is_refused(text: Any) -> None:
    with pytest.raises(OptionError, match="must be a str or a list of"):
        view("bert_part", 5)(text)
    with pytest.raises(OptionError, match="encode takes one str"):
        view("bert_part", 5).encode(text)


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize(
    "text", ["\ud800", ["a", "b\udfff"], "a" * 9000 + "\ud800", ["x", "\ud800" * 9]]
)
def test_lone_surrogates_get_the_originals_error(text: Any, whole: bool) -> None:
    source = engine("bert_part") if whole else original("bert_part")
    for options in ({}, {"strategy": "cut", "chunk_chars": 5, "workers": 1}):
        with pytest.raises(TypeError):
            tokpar.Encoder(source, **options).as_hf()(text)
    with pytest.raises(TypeError):
        original("bert_part")(text)


def test_a_call_that_left_no_ids_changes_nothing() -> None:
    """What it was called with stays in the object that transformers wraps."""
    own = transformers_tokenizer(engine("bert_part"))
    assert own("a", max_length=0, truncation=True, add_special_tokens=False)["input_ids"] == []
    view = tokpar.Encoder(own).as_hf()
    assert view("the man")["input_ids"] == own("the man")["input_ids"]


def test_the_enums_of_transformers_are_names_too() -> None:
    utils = pytest.importorskip("transformers.utils", reason="transformers is not installed")
    options = {"padding": utils.PaddingStrategy.MAX_LENGTH, "max_length": 9}
    options["return_tensors"] = utils.TensorType.NUMPY
    mine, theirs = view("bert_part", 5), original("bert_part")
    assert outcome(lambda: mine("the", **options)) == outcome(lambda: theirs("the", **options))


def test_a_length_that_is_ignored_is_warned_of() -> None:
    for tokenizer in (view("left", 5), original("left")):
        with pytest.warns(UserWarning, match="max_length"):
            tokenizer("a", padding=True, max_length=3)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            tokenizer("a", padding=True, max_length=3, verbose=False)


def test_torch_tensors_need_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match="pip install torch"):
        view("bert_part", 5)("a", return_tensors="pt")


def test_torch_tensors_are_those_of_transformers() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    options = {"padding": True, "return_tensors": "pt", **EVERYTHING}
    for text in ("the man", ["the man", "the"]):
        got, expected = (t(text, **options) for t in (view("left", 5), original("left")))
        assert list(got) == list(expected)
        for column, tensor in expected.items():
            assert torch.equal(got[column], tensor)
            assert got[column].dtype == tensor.dtype
    with pytest.raises(ValueError, match="padding=True"):
        view("left", 5)(["a", "a b"], return_tensors="pt")


def test_a_name_that_the_view_lacks_is_refused_with_what_to_do() -> None:
    for name in ("apply_chat_template", "pad", "tokenize", "backend_tokenizer", "save_pretrained"):
        with pytest.raises(AttributeError, match=f"no '{name}'.* transformers tokenizer itself"):
            getattr(view("bert_part", 5), name)
    with pytest.raises(TypeError, match="pickle the transformers tokenizer"):
        pickle.dumps(view("bert_part", 5))


def sources_refused() -> Iterator[tuple[object, str]]:
    yield named_tokenizers()["cl100k_part"], "as_hf needs .* got tiktoken:cl100k_part"
    yield tokpar.load("default", engine="pure"), "engine='huggingface'.* got pure"
    twice = plain_copy(engine("bert_part"))
    twice.post_processor = template("$A $A")
    yield twice, "template"
    unadded = plain_copy(named_tokenizers()["default"])
    unadded.enable_padding(pad_token="nowhere")
    yield unadded, "'nowhere' is none of the added tokens"


def test_a_source_that_cannot_be_followed_is_refused() -> None:
    for source, says in sources_refused():
        with pytest.raises(OptionError, match=says):
            tokpar.Encoder(source).as_hf()


@pytest.mark.parametrize(
    "name", ["__call__", "set_truncation_and_padding", "_switch_to_input_mode"]
)
def test_a_class_with_calls_of_its_own_is_refused(name: str) -> None:
    base = type(original("bert_part"))
    kind = type("Own", (base,), {name: lambda self, *args, **options: None})
    own = kind(tokenizer_object=plain_copy(engine("bert_part")))
    with pytest.raises(OptionError, match=f"Own, which has its own {name}"):
        tokpar.Encoder(own).as_hf()
    one = transformers_tokenizer(plain_copy(engine("bert_part")))
    vars(one)[name] = lambda *args, **options: None
    with pytest.raises(OptionError, match=name):
        tokpar.Encoder(one).as_hf()


def test_offsets_lose_the_spaces_of_their_tokens() -> None:
    spans = np.array([[0, 2], [2, 6], [6, 7]])
    before, behind = np.array([1, 1, 1]), np.array([0, 2, 1])
    assert trimmed(spans, before, behind, ()).tolist() == spans.tolist()
    assert trimmed(spans, before, behind, (False,)).tolist() == [[1, 2], [3, 4], [7, 7]]
    assert trimmed(spans, before, behind, (True,)).tolist() == [[0, 2], [3, 4], [7, 7]]
    assert trimmed(spans[1:], before[1:], behind[1:], (True,))[0].tolist() == [2, 4]
    one, none = np.array([1]), np.array([0])
    assert trimmed(np.array([[0, 1]]), none, one, (False,)).tolist() == [[0, 0]]
    assert trimmed(np.array([[0, 1]]), none, 2 * one, (False,)).tolist() == [[0, 1]]


def masked(normalizer: Any, prefix_space: bool, **flags: bool) -> Tokenizer:
    """As RoBERTa: offsets trimmed, and a mask that takes the white space beside it."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    own = Tokenizer(models.BPE({char: n for n, char in enumerate(alphabet)}, []))
    own.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix_space)
    own.post_processor = processors.RobertaProcessing(
        ("a", 64), ("b", 65), trim_offsets=True, add_prefix_space=prefix_space
    )
    if normalizer is not None:
        own.normalizer = normalizer
    own.add_tokens([AddedToken("<Mask>", **flags), AddedToken(" x ", normalized=False)])
    return own


def test_offsets_of_a_mask_are_without_the_space_before_it() -> None:
    own = masked(None, True, lstrip=True, normalized=False)
    text = "The capital <Mask> of <Mask>."
    view = tokpar.Encoder(own).as_hf()
    places = view(text, return_offsets_mapping=True)["offset_mapping"]
    assert places == own.encode(text).offsets
    assert (12, 18) in places


@given(
    normalizer=st.sampled_from(
        [None, normalizers.Lowercase(), normalizers.NFKC(), normalizers.Prepend("_")]
    ),
    flags=st.fixed_dictionaries(dict.fromkeys(("lstrip", "rstrip", "normalized"), st.booleans())),
    prefix_space=st.booleans(),
    text=st.lists(
        st.sampled_from(
            ["<Mask>", "<mask>", " ", "  ", "\t\n", "\u3000", "\xb4", "\u0120", "a", " x ", "_"]
        ),
        max_size=8,
    ).map("".join),
)
@example(None, {"lstrip": True, "rstrip": True, "normalized": False}, False, "a  <Mask>\u3000 a")
@example(
    normalizers.NFKC(), {"lstrip": False, "rstrip": True, "normalized": True}, False, "<Mask>´"
)
@example(
    normalizers.Prepend("_"), {"lstrip": True, "rstrip": False, "normalized": True}, False, "_"
)
def test_offsets_of_added_tokens_that_take_white_space_are_the_engine_s_or_none(
    normalizer: Any, flags: dict[str, bool], prefix_space: bool, text: str
) -> None:
    own = masked(normalizer, prefix_space, **flags)
    view = tokpar.Encoder(own, strategy="cut", chunk_chars=3).as_hf()
    expected = own.encode(text)
    assert view(text)["input_ids"] == expected.ids
    try:
        places = view(text, return_offsets_mapping=True)["offset_mapping"]
    except LookupError:
        assert flags["normalized"]
        assert normalizer is not None
        assert flags["lstrip"] or flags["rstrip"]
    else:
        assert places == expected.offsets


@pytest.mark.parametrize(
    "model",
    [
        models.Unigram([("<unk>", -9.0), ("a", -1.0)], 0, False),
        models.WordLevel({"a": 0, "\u0120a": 0, "<unk>": 1}, unk_token="<unk>"),
    ],
)
def test_offsets_are_not_told_where_an_id_stands_for_several_texts(model: Any) -> None:
    own = Tokenizer(model)
    own.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    own.post_processor = processors.ByteLevel(trim_offsets=True)
    view = tokpar.Encoder(own).as_hf()
    text = "a a"
    assert view(text)["input_ids"] == own.encode(text).ids
    with pytest.raises(LookupError, match="which text id 0 stands for"):
        view(text, return_offsets_mapping=True)


# --------------------------------------------------------------------------------- imports


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        ("import tokpar", ("tokpar.views", "transformers", "tokenizers", "tiktoken")),
        ("import tokpar; tokpar.Encoder().as_hf()('a', return_tensors='np')", ("transformers",)),
    ],
)
def test_a_view_imports_only_what_it_needs(code: str, absent: tuple[str, ...]) -> None:
    printed = subprocess.run(
        [sys.executable, "-c", f"{code}; import sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    ).stdout
    assert set(absent) & set(printed.split()) == set()
