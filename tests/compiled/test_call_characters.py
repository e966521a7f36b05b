"""BPE over characters in the compiled call: its file, the conditions of lemmas 55 to 59."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers

import tokpar
from tests.conftest import needs_kernel
from tests.support.calls_drawn import draw_characters, draw_text
from tokpar.adapters import hf_call
from tokpar.adapters.hf_postprocess import parse_component
from tokpar.compiled import character_tables
from tokpar.compiled.call_tables import Arrays, call_of
from tokpar.compiled.character_tables import MARK, character_arrays
from tokpar.compiled.merges import GateError, parts_of
from tokpar.process import kernel_modules

pytestmark = [pytest.mark.ids, needs_kernel]
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


def model_of(tokens: list[str], merges: list[tuple[str, str]], **settings: Any) -> bytes:
    """The part "model" of a file. A token "x=7" is x with the id 7."""
    vocab = {}
    for number, token in enumerate(tokens):
        name, _, chosen = token.partition("=")
        vocab[name] = int(chosen or number)
    vocab |= {x + y: len(vocab) + k for k, (x, y) in enumerate(merges) if x + y not in vocab}
    given = {"type": "BPE", "unk_token": "<unk>", "vocab": vocab, "merges": merges}
    return json.dumps(given | settings).encode()


def engine_of(model: bytes, normalizer: Any = None, pre_tokenizer: Any = None) -> Tokenizer:
    parts: dict[str, Any] = {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": normalizer,
        "pre_tokenizer": pre_tokenizer,
        "post_processor": None,
        "decoder": None,
        "truncation": None,
        "padding": None,
    }
    return Tokenizer.from_str(json.dumps(parts | {"model": json.loads(model)}))


REPLACE = {"type": "Replace", "pattern": {"String": " "}, "content": MARK}


def arrays_of(model: bytes, size: int, normalizer: Any = None) -> Arrays:
    parts = parts_of(model, kernel_modules.VOCABULARY)
    return character_arrays(model, parts, size, normalizer or REPLACE, None)


def ids_of(arrays: Arrays, text: str, added: Any = ()) -> list[int]:
    found = call_of(arrays, dict(added), ((), ())).encode_plain(text)
    return np.frombuffer(found if type(found) is bytes else found[0], np.uint32).tolist()


@dataclass(frozen=True)
class Case:
    """A model that a condition refuses, and a text that shows why."""

    model: bytes
    text: str
    says: str
    normalizer: Any = None


NAMELESS = [name for name in BYTES if name != "<0xA9>"]
CASES = {
    "a byte without a name": Case(
        model_of(["<unk>", "a", "b", *NAMELESS], [("a", "b")], byte_fallback=True),
        *("aéb", "a byte has no token"),
    ),
    "no unknown token": Case(
        model_of(["a", "b"], [("a", "b")], unk_token=None), "axb", "token for unknown"
    ),
    "dropout": Case(model_of(["<unk>", "a", "b"], [("a", "b")], dropout=1.0), "ab", "dropout"),
    "a suffix": Case(
        model_of(["<unk>", "a", "b", "b</w>"], [("a", "b")], end_of_word_suffix="</w>"),
        *("ab", "end_of_word_suffix"),
    ),
    "a shared id": Case(
        model_of(
            ["<unk>", "a", "b", "c", "x", "y", "ab=9", "xy=9", "abc=10"],
            [("a", "b"), ("x", "y"), ("ab", "c")],
        ),
        *("xyc", "two of its tokens have one id"),
    ),
    "the unknown token in a merge": Case(
        model_of(["<unk>", "a"], [("<unk>", "a")]), "xa", "the unknown token as a part"
    ),
    "a byte in a merge": Case(
        model_of(["<unk>", "a", *BYTES], [("a", "<0xC3>")], byte_fallback=True),
        *("aé", "the name of a byte"),
    ),
    "whole pieces": Case(
        model_of(["<unk>", "a", "b", "c", "abc"], [("a", "b")], ignore_merges=True),
        *("abc", "ignore_merges"),
    ),
    "another normalizer": Case(
        model_of(["<unk>", "a", "A"], []), "A", "normalizer", {"type": "Lowercase"}
    ),
    "equal merges": Case(
        model_of(["<unk>", "a", "b", "c"], [("a", "b"), ("b", "c"), ("a", "b")]), "abc", ""
    ),
}


@pytest.mark.parametrize(
    "name",
    [
        "a byte without a name",
        "no unknown token",
        "dropout",
        "a suffix",
        "a shared id",
        "the unknown token in a merge",
        "a byte in a merge",
        "whole pieces",
        "another normalizer",
        "equal merges",
    ],
)
def test_a_condition_is_checked_and_needed(name: str) -> None:
    """The gate refuses the model; tables made without the check have other ids than the engine."""
    case = CASES[name]
    engine = engine_of(case.model, case.normalizer or REPLACE)
    size = engine.get_vocab_size(with_added_tokens=False)
    expected = engine.encode(case.text).ids
    if case.says:
        with pytest.raises(GateError, match=case.says):
            arrays_of(case.model, size, case.normalizer)
    else:
        assert ids_of(arrays_of(case.model, size), case.text) == expected
    with (
        patch.object(character_tables, "_require_settings"),
        patch.object(character_tables, "_require_atoms"),
        patch.object(character_tables, "are_distinct", return_value=True),
        patch.object(character_tables, "character_stages", return_value=(True, 0, False)),
        patch.object(character_tables, "last_of_equal", lambda keys: np.arange(len(keys))),
    ):
        found = ids_of(arrays_of(case.model, size), case.text)
    assert found != expected


def test_a_token_that_the_engine_does_not_write_is_counted() -> None:
    """An object writes one of two tokens that share an id: the number of tokens tells."""
    vocab = {"<unk>": 0, "a": 1, "b": 2, "c": 3, "ab": 9, "d": 9}
    tokenizer = Tokenizer(models.BPE(vocab, [("a", "b")], unk_token="<unk>"))
    state = tokenizer.model.__getstate__()
    assert len(json.loads(state)["vocab"]) < len(vocab)
    with pytest.raises(GateError):
        arrays_of(state, tokenizer.get_vocab_size(with_added_tokens=False))


@pytest.mark.parametrize("fuses", [False, True])
def test_unknown_characters_are_fused_as_the_engine_fuses_them(fuses: bool) -> None:
    model = model_of(["<unk>", "a", "b"], [("a", "b")], fuse_unk=fuses)
    engine = engine_of(model, REPLACE)
    for text in ("xx", "axxb", "xax", "abx yé", "中中ab"):
        assert ids_of(arrays_of(model, 4), text) == engine.encode(text).ids


def test_without_stages_a_space_is_no_mark() -> None:
    model = model_of(["<unk>", "a", " ", MARK], [("a", " "), (MARK, "a")])
    parts, text = parts_of(model, kernel_modules.VOCABULARY), f"a a{MARK}a"
    arrays = character_arrays(model, parts, 6, None, None)
    assert ids_of(arrays, text) == engine_of(model).encode(text).ids == [4, 1, 5]
    found = tokpar.Encoder(engine_of(model))
    found.prepare()
    assert found.report.why_not_compiled == ""
    assert list(found.encode(text * 9)) == engine_of(model).encode(text * 9).ids


def test_a_split_before_each_mark_begins_a_pre_token() -> None:
    model = model_of(["<unk>", "a", MARK], [("a", MARK), (MARK, "a")])
    split = {"type": "Split", "pattern": {"String": MARK}, "invert": False}
    parts, ids = parts_of(model, kernel_modules.VOCABULARY), {}
    for behavior in ("MergedWithNext", "MergedWithPrevious", "Isolated"):
        own = engine_of(model, REPLACE, split | {"behavior": behavior})
        ids[behavior] = own.encode("a a  a").ids
        if behavior == "MergedWithNext":
            arrays = character_arrays(model, parts, 5, REPLACE, split | {"behavior": behavior})
            assert ids_of(arrays, "a a  a") == ids[behavior] == [1, 4, 2, 4]
            continue
        with pytest.raises(GateError, match="may split what its normalizer"):
            character_arrays(model, parts, 5, REPLACE, split | {"behavior": behavior})
    assert len(set(map(tuple, ids.values()))) == 3


def test_a_space_is_put_before_or_after_the_second_search() -> None:
    """Prepend before it, Metaspace after it: the other order has other ids."""
    model = model_of(["<unk>", "a", "b", MARK], [])
    prepend = normalizers.Sequence([normalizers.Prepend(MARK), normalizers.Replace(" ", MARK)])
    engine = engine_of(model)
    engine.normalizer = prepend
    engine.add_tokens([AddedToken("a", normalized=True)])
    text, added = "ba ab", {" a": (1, 0, True)}
    row = {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": MARK}, REPLACE]}
    arrays = arrays_of(model, 4, row)
    assert ids_of(arrays, text, added) == engine.encode(text).ids
    assert ids_of(arrays | {"settings": _flipped(arrays)}, text, added) != engine.encode(text).ids
    engine = engine_of(model)
    engine.pre_tokenizer = pre_tokenizers.Metaspace(MARK, "always", split=False)
    engine.add_tokens([AddedToken("a", normalized=True)])
    scheme: Any = {"type": "Metaspace", "replacement": MARK, "prepend_scheme": "always"}
    parts = parts_of(model, kernel_modules.VOCABULARY)
    arrays = character_arrays(model, parts, 4, None, scheme | {"split": False})
    text, added = "bab", {"a": (1, 0, True)}
    assert ids_of(arrays, text, added) == engine.encode(text).ids
    assert ids_of(arrays | {"settings": _flipped(arrays)}, text, added) != engine.encode(text).ids


def _flipped(arrays: Arrays) -> Any:
    settings = arrays["settings"].copy()
    settings[4] ^= 1
    return settings


# ---- reading the file

CHARACTERS = [*'abc"\\/\n\t\x01é中😀', MARK, "\x7f", "\u2580", "\uffff"]


@pytest.mark.parametrize("seed", range(30))
def test_the_model_is_read_as_a_json_reader_reads_it(seed: int) -> None:
    draw = random.Random(seed)
    tokens = [*CHARACTERS, "<unk>", *BYTES]
    merges: list[Any] = []
    for _ in range(40):
        left, right = draw.choice(tokens), draw.choice(tokens)
        merges.append((left, right))
        tokens += [left + right] * (left + right not in tokens)
    ids = draw.sample(range(2 * len(tokens)), len(tokens))
    model = {"vocab": dict(zip(tokens, ids, strict=True)), "merges": merges}
    if seed % 2:
        model["merges"] = [f"{x} {y}" for x, y in merges]
    layout: dict[str, Any] = {"ensure_ascii": draw.random() < 0.5, "indent": draw.choice([None, 1])}
    state = json.dumps(model, **layout).encode()
    found = character_tables.read_model(state, parts_of(state, kernel_modules.VOCABULARY))
    ends = found.ends.tolist()
    edges = zip([0, *ends], ends, strict=False)
    read = [found.data[i:j].tobytes().decode().replace(" ", MARK) for i, j in edges]
    assert dict(zip(read, found.ids.tolist(), strict=True)) == model["vocab"]
    vocab: Any = model["vocab"]
    assert found.merges.T.tolist() == [[vocab[x], vocab[y], vocab[x + y]] for x, y in merges]
    assert found.ids_of(("<unk>", MARK, "missing", "")) == {n: vocab[n] for n in ("<unk>", MARK)}


BROKEN: list[tuple[str, Callable[[str], str]]] = [
    ("JSON", lambda text: text.replace('"a": 1', '"a": x')),
    ("JSON", lambda text: text.replace('"a": 1', '"": 1')),
    ("JSON", lambda text: text.replace('"a": 1', '"\\ud800": 1')),
    ("JSON", lambda text: text.replace('"a": 1', '"a": 99999999999')),
    ("JSON", lambda text: text.replace('["a", "b"]', '["a"]')),
    ("JSON", lambda text: text.replace('["a", "b"]', '["", "ab"]')),
    ("JSON", lambda text: text.replace('["a", "b"]', '"#versiona b"')),
    ("JSON", lambda text: text.replace('["a", "b"]', '"ab"')),
    ("a space", lambda text: text.replace('"a": 1', '"a ": 1')),
    ("twice", lambda text: text.replace('"a": 1', '"b": 1')),
    ("no token", lambda text: text.replace('["a", "b"]', '["b", "a"]')),
]


@pytest.mark.parametrize("number", range(len(BROKEN)))
def test_a_broken_model_is_refused(number: int) -> None:
    says, broken = BROKEN[number]
    text = '{"unk_token": "<unk>", "vocab": {"<unk>": 0, "a": 1, "b": 2, "ab": 3}, "merges": '
    text += '[["a", "b"]]}'
    assert ids_of(arrays_of(text.encode(), 4), "ab") == [3]
    assert broken(text) != text
    with pytest.raises(GateError, match=says):
        arrays_of(broken(text).encode(), 4)


def test_the_model_of_a_file_is_that_of_the_object() -> None:
    model = model_of(["<unk>", "a", "b", "é", MARK], [("a", "b"), (MARK, "ab")])
    engine = engine_of(model, REPLACE)
    facts = tokpar.load(engine).facts
    files = [None, b"x", engine.to_str().encode()]
    sources = [
        hf_call._written_model(engine, facts, [REPLACE, None], None, file)[:2] for file in files
    ]
    assert sources[2][0] == files[2]
    for each in [character_arrays(*source, 7, REPLACE, None) for source in sources]:
        assert ids_of(each, "ab abéb x") == engine.encode("ab abéb x").ids


@pytest.mark.parametrize("seed", range(25))
def test_drawn_models_have_the_ids_of_the_engine(seed: int) -> None:
    draw = random.Random(seed)
    tokenizer = draw_characters(draw)
    stages = [parse_component(each) for each in (tokenizer.normalizer, tokenizer.pre_tokenizer)]
    size = tokenizer.get_vocab_size(with_added_tokens=False)
    state = tokenizer.model.__getstate__()
    parts = parts_of(state, kernel_modules.VOCABULARY)
    arrays = character_arrays(state, parts, size, *stages)
    for _ in range(40):
        text = draw_text(draw, [])
        assert ids_of(arrays, text) == tokenizer.encode(text).ids
