"""A copy of an encoder, by pickle or deepcopy, in this process or another one, has the ids and the
settings of the original. Runs beside tokenizers 0.2x and 1.x."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

import tokpar
from tests.conftest import at_most
from tests.support.paths import DEFAULT, VOCAB
from tests.support.small_encodings import small_encoding
from tokpar.adapters import hf_copy

pytestmark = pytest.mark.ids

FILES = {
    "default": DEFAULT,
    **{name: VOCAB / f"{name}.json" for name in ("bert_part", "deepseek_part", "llama_style")},
}
WORDS = ["one ", "two\n", "3", "[MASK]", "<|e|>", "é ", "  ", "unaffable "]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=40).map("".join)
COPIES: dict[str, Callable[[Any], Any]] = {
    "pickle": lambda each: pickle.loads(pickle.dumps(each)),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
    "twice": lambda each: copy.deepcopy(pickle.loads(pickle.dumps(each))),
}
FLAGS = ("add_special_tokens", "truncation", "padding")
OF_FILES = st.fixed_dictionaries({}, optional={name: st.booleans() for name in FLAGS})
OF_CACHE = {"cache_bytes": st.sampled_from([0, 1 << 20])}
CHECKED = {"engine_check": st.sampled_from(["sampled", "always"])}
BELOW_ONE = hasattr(tokenizers, "models")
OF_ENGINES = {
    None: st.fixed_dictionaries(
        {},
        optional={name: st.booleans() for name in FLAGS}
        | OF_CACHE
        | (CHECKED if BELOW_ONE else {}),
    ),
    "pure": OF_FILES,
}


def set_up(own: Any, most: int | None, length: int | None, left: bool) -> None:
    """Truncation to `most` ids and padding to `length`, as a caller sets them on an object."""
    side = "left" if left else "right"
    if BELOW_ONE:
        own.no_truncation()
        own.no_padding()
        if most is not None:
            own.enable_truncation(most, direction=side)
        if length is not None:
            own.enable_padding(length=length, direction=side)
        return
    own.truncation = None if most is None else tokenizers.Truncation(most, direction=side)
    own.padding = None if length is None else tokenizers.Padding(length=length, direction=side)


@st.composite
def encoders(draw: st.DrawFn) -> tokpar.Encoder:
    """An encoder of any adapter, with some of the settings that `load` takes for it."""
    kind = draw(st.sampled_from(["object", "file", "tiktoken"]))
    if kind == "tiktoken":
        specials = st.sampled_from(["all", (), ("<|e|>",)])
        settings = draw(
            st.fixed_dictionaries(
                {"disallowed_special": st.just(())},
                optional={"allowed_special": specials} | OF_CACHE | CHECKED,
            )
        )
        return tokpar.Encoder(tokpar.load(small_encoding(), **settings))
    name = draw(st.sampled_from(sorted(FILES)))
    if kind == "object":
        settings = draw(OF_ENGINES[None])
        own = tokenizers.Tokenizer.from_file(str(FILES[name]))
        adapter = tokpar.load(own, **settings)
        most, length = (draw(st.none() | st.integers(3, 12)) for _ in range(2))
        set_up(own, most, length, draw(st.booleans()))
        return tokpar.Encoder(adapter)
    engine = draw(st.sampled_from([None, "pure"]))
    return tokpar.Encoder(tokpar.load(FILES[name], engine=engine, **draw(OF_ENGINES[engine])))


def outcomes(encoder: tokpar.Encoder, texts: list[str]) -> object:
    """The ids by each way, and what is known of the settings."""
    adapter: Any = encoder.tokenizer
    one = [encoder.encode(text).ids.tolist() for text in texts]
    batch = [each.ids.tolist() for each in encoder.encode_batch(texts)]
    bare = encoder.unprocessed_batch(texts, adapter).rows.ids.tolist()
    settings = [
        getattr(adapter, name, None) for name in ("truncates_to", "pads", "engine_check", "name")
    ]
    return one, batch, bare, encoder.encode("word " * 4000).ids.tolist(), settings


@at_most(60)
@given(
    encoder=encoders(),
    texts=st.lists(TEXTS, min_size=1, max_size=3),
    way=st.sampled_from(sorted(COPIES)),
)
def test_a_copy_has_the_ids_and_the_settings_of_the_original(
    encoder: tokpar.Encoder, texts: list[str], way: str
) -> None:
    expected = outcomes(encoder, texts)
    assert outcomes(COPIES[way](encoder), texts) == expected


PRINTED = """
import pickle, sys
for encoder in pickle.load(sys.stdin.buffer):
    print(*encoder.encode("one [MASK]<|e|> two " * 900).ids.tolist())
"""


def test_a_copy_in_another_process_has_the_ids_of_the_original() -> None:
    own = tokenizers.Tokenizer.from_file(str(FILES["bert_part"]))
    set_up(own, 128, 200, left=True)
    settings: dict[str, Any] = {"allowed_special": "all"}
    encoders = [
        tokpar.Encoder(own),
        tokpar.Encoder(tokpar.load(own, padding=False, add_special_tokens=False)),
        tokpar.Encoder(tokpar.load(FILES["bert_part"], truncation=False)),
        tokpar.Encoder(tokpar.load(FILES["bert_part"], engine="pure", padding=False)),
        tokpar.Encoder(tokpar.load(small_encoding(), **settings)),
    ]
    done = subprocess.run(
        [sys.executable, "-c", PRINTED],
        input=pickle.dumps(encoders),
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},  # of packages not installed
    )
    expected = [each.encode("one [MASK]<|e|> two " * 900).ids.tolist() for each in encoders]
    # tokenizers below 0.23 prints the ids that a model lacks
    lines = [line for line in done.stdout.splitlines() if not line.startswith(b"The OrderedVocab")]
    assert [[*map(int, line.split())] for line in lines] == expected
    assert len({len(ids) for ids in expected}) > 3


@pytest.mark.parametrize("flags", [*product([True, False], repeat=3)], ids=str)
def test_settings_hold_whatever_the_caller_sets_later(flags: tuple[bool, ...]) -> None:
    settings = dict(zip(FLAGS, flags, strict=True))
    own = tokenizers.Tokenizer.from_file(str(FILES["bert_part"]))
    same = tokenizers.Tokenizer.from_file(str(FILES["bert_part"]))
    for most, length, later_most, later_length in product([None, 7], [None, 9], repeat=2):
        set_up(own, most, length, left=True)
        encoder = tokpar.Encoder(tokpar.load(own, **settings))
        set_up(own, later_most, later_length, left=True)
        kept = [most if settings["truncation"] else None]
        kept += [length if settings["padding"] else None]
        set_up(same, *kept, left=True)
        for text in ("one two", "one " * 20):
            expected = same.encode(text, add_special_tokens=settings["add_special_tokens"]).ids
            assert encoder.encode(text).ids.tolist() == list(expected)
            assert encoder.encode_batch([text])[0].ids.tolist() == list(expected)


def test_a_load_asks_no_text_with_an_added_token_that_the_normalizer_empties(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The engine searches for the empty string then, and allocates without end on some texts with
    a space before the token."""
    own = tokenizers.Tokenizer(tokenizers.models.BPE(vocab={"a": 0, "x": 1, " ": 2}, merges=[]))
    accents = [tokenizers.normalizers.NFD(), tokenizers.normalizers.StripAccents()]
    own.normalizer = tokenizers.normalizers.Sequence(accents)
    emptied = "\u0e38"
    own.add_tokens([tokenizers.AddedToken(each, normalized=True) for each in ("xx", emptied)])
    asked = list[str]()
    monkeypatch.setattr(hf_copy, "_encode", lambda _, text: asked.append(text))
    tokpar.load(own)
    assert any("xx" in text for text in asked)
    assert not any(emptied in text for text in asked)
