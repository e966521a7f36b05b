"""`Encoder.as_hf` and `Encoder.as_tiktoken`: each call against the same call on the original."""

from __future__ import annotations

import functools
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiktoken
from hypothesis import example, given
from hypothesis import strategies as st

import tokpar
from tests.texts import texts
from tests.tokenizers_drawn import (
    contents,
    named_tokenizers,
)
from tokpar import OptionError
from tokpar.adapters.hf_lines import own_methods
from tokpar.views.tiktoken import TiktokenView

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


# --------------------------------------------------------------------------------- as_tiktoken

ENCODINGS = ("cl100k_part", "o200k_part")


@functools.cache
def encoding(name: str) -> tiktoken.Encoding:
    return named_tokenizers()[name]


@functools.cache
def tiktoken_view(name: str, chunk_chars: int = 5) -> TiktokenView:
    encoder = tokpar.Encoder(
        encoding(name), strategy="cut", chunk_chars=chunk_chars, executor="serial"
    )
    return encoder.as_tiktoken()


def ids_or_error(call: Callable[[], Any]) -> object:
    """The ids, with all that tells an array, or the error's type and text."""
    try:
        ids = call()
    except Exception as error:
        return type(error), str(error)
    if isinstance(ids, np.ndarray):
        return str(ids.dtype), ids.shape, ids.flags.writeable, ids.tolist()
    return ids


def specials_of(name: str) -> st.SearchStrategy[dict[str, Any]]:
    content = st.sampled_from([*contents(encoding(name)), "none", "a", ""])
    return st.fixed_dictionaries(
        {},
        optional={
            "allowed_special": st.just("all") | st.sets(content) | st.just(["a"]) | st.none(),
            "disallowed_special": st.just("all")
            | st.sets(content, max_size=1)
            | st.lists(content, max_size=1)
            | st.sampled_from([(), None, 0, "a", 3]),
        },
    )


def tiktoken_texts(name: str) -> st.SearchStrategy[str]:
    return texts(added=contents(encoding(name)), surrogates=True, max_size=300)


@st.composite
def tiktoken_calls(draw: st.DrawFn) -> tuple[str, str, dict[str, Any]]:
    name = draw(st.sampled_from(ENCODINGS))
    return name, draw(tiktoken_texts(name)), draw(specials_of(name))


@pytest.mark.ids
@given(call=tiktoken_calls(), method=st.sampled_from(["encode", "encode_to_numpy"]))
@example(call=("cl100k_part", "a \ud83d\ude00 b", {}), method="encode")
@example(call=("cl100k_part", "<|endoftext|>\ud800", {}), method="encode_to_numpy")
def test_encode_gives_tiktokens_ids_and_errors(
    call: tuple[str, str, dict[str, Any]], method: str
) -> None:
    name, text, options = call
    got, expected = (
        ids_or_error(lambda o=o: getattr(o, method)(text, **options))
        for o in (tiktoken_view(name), encoding(name))
    )
    assert got == expected


@given(data=st.data(), name=st.sampled_from(ENCODINGS))
def test_encode_ordinary_knows_no_special_tokens(data: st.DataObject, name: str) -> None:
    text = data.draw(tiktoken_texts(name))
    assert tiktoken_view(name).encode_ordinary(text) == encoding(name).encode_ordinary(text)


@pytest.mark.ids
@given(data=st.data(), name=st.sampled_from(ENCODINGS))
def test_a_batch_gives_tiktokens_ids_and_the_first_error(data: st.DataObject, name: str) -> None:
    rows = data.draw(st.lists(tiktoken_texts(name), max_size=3))
    options = data.draw(specials_of(name))
    threads = data.draw(st.sampled_from([{}, {}, {"num_threads": 1}, {"num_threads": 0}]))
    got, expected = (
        ids_or_error(lambda o=o: o.encode_batch(rows, **options, **threads))
        for o in (tiktoken_view(name), encoding(name))
    )
    assert got == expected
    got, expected = (
        ids_or_error(lambda o=o: o.encode_ordinary_batch(rows, **threads))
        for o in (tiktoken_view(name), encoding(name))
    )
    assert got == expected


@pytest.mark.ids
@pytest.mark.parametrize("name", ENCODINGS)
def test_a_long_text_is_encoded_in_parallel(name: str) -> None:
    text = LONG * 40
    assert len(text) > 300_000
    with tokpar.Encoder(encoding(name)) as encoder:
        assert encoder.encode(text).seams, "a text without seams shows nothing"
        mine, theirs = encoder.as_tiktoken(), encoding(name)
        assert mine.encode(text) == theirs.encode(text)
        marked = text + "<|endoftext|>" + text
        allowed = {"<|endoftext|>"}
        assert mine.encode(marked, allowed_special=allowed) == theirs.encode(
            marked, allowed_special=allowed
        )
        rows = ["a", text, "b" * 9, marked]
        assert mine.encode_ordinary_batch(rows) == theirs.encode_ordinary_batch(rows)
        got, expected = (ids_or_error(lambda o=o: o.encode_batch(rows)) for o in (mine, theirs))
        assert got == expected
        assert "disallowed special token" in str(got)


@pytest.mark.parametrize("text", [None, 3, b"a" * 9, ["a"]])
@pytest.mark.parametrize("method", ["encode", "encode_ordinary", "encode_to_numpy", "encode_batch"])
def test_what_is_no_text_gets_tiktokens_error(text: Any, method: str) -> None:
    got, expected = (
        ids_or_error(lambda o=o: getattr(o, method)(text))
        for o in (tiktoken_view("cl100k_part"), encoding("cl100k_part"))
    )
    assert got == expected


def test_an_iterator_of_disallowed_tokens_is_read_once() -> None:
    def refused(tokenizer: Any) -> object:
        names: Any = iter(["<|endoftext|>"])
        return ids_or_error(lambda: tokenizer.encode("abc <|endoftext|>", disallowed_special=names))

    expected = refused(encoding("cl100k_part"))
    assert "disallowed special token" in str(expected)
    assert refused(tiktoken_view("cl100k_part")) == expected


def test_settings_of_load_do_not_matter_to_a_view() -> None:
    adapter = tokpar.load(encoding("cl100k_part"), allowed_special="all")
    made = tokpar.Encoder(adapter, strategy="cut", chunk_chars=5, executor="serial").as_tiktoken()
    with pytest.raises(ValueError, match="disallowed special token"):
        made.encode("a b c d e f<|endoftext|>")
    for some in range(100):
        assert made.encode("a b c d e f", allowed_special={f"x{some}"})


@pytest.mark.parametrize("name", ENCODINGS)
def test_the_other_methods_are_tiktokens(name: str) -> None:
    mine, theirs = tiktoken_view(name), encoding(name)
    ids = theirs.encode("naïve 🫠 <|endoftext|>", allowed_special="all")
    for method in (
        "decode",
        "decode_bytes",
        "decode_tokens_bytes",
        "decode_with_offsets",
    ):
        for some in (ids, ids[:3], [], [10**7], np.array(ids)):
            got, expected = (
                ids_or_error(lambda o=o, m=method, s=some: getattr(o, m)(s)) for o in (mine, theirs)
            )
            assert got == expected
    assert mine.decode_batch([ids, []]) == theirs.decode_batch([ids, []])
    assert mine.decode_bytes_batch([ids, []]) == theirs.decode_bytes_batch([ids, []])
    broken = ids[:3]
    for errors in ("replace", "ignore", "strict", "other"):
        got, expected = (
            ids_or_error(lambda o=o, e=errors: o.decode(broken, errors=e)) for o in (mine, theirs)
        )
        assert got == expected
    for token in (*ids, 10**7):
        for method in ("decode_single_token_bytes", "is_special_token"):
            got, expected = (
                ids_or_error(lambda o=o, m=method, t=token: getattr(o, m)(t))
                for o in (mine, theirs)
            )
            assert got == expected
    for one in ("a", b"a", "<|endoftext|>", "no token", b"\xff"):
        got, expected = (
            ids_or_error(lambda o=o, t=one: o.encode_single_token(t)) for o in (mine, theirs)
        )
        assert got == expected
    assert mine.token_byte_values() == theirs.token_byte_values()
    for attribute in ("name", "special_tokens_set", "eot_token", "max_token_value", "n_vocab"):
        assert getattr(mine, attribute) == getattr(theirs, attribute)


def test_what_the_tiktoken_view_lacks_is_refused_with_what_to_do() -> None:
    mine = tiktoken_view("cl100k_part")
    for name in ("encode_with_unstable", "_encode_bytes", "_mergeable_ranks"):
        with pytest.raises(AttributeError, match=f"no '{name}'.* tiktoken.Encoding itself"):
            getattr(mine, name)
    with pytest.raises(TypeError, match=r"pickle the tiktoken\.Encoding"):
        pickle.dumps(mine)
    with pytest.raises(AttributeError):
        mine.name = "x"  # type: ignore[misc]


def test_every_public_method_of_tiktoken_is_there_or_refused_on_purpose() -> None:
    public = {name for name in dir(tiktoken.Encoding) if not name.startswith("_")}
    public |= {"name", "max_token_value"}
    assert public - set(dir(TiktokenView)) == {"encode_with_unstable"}


def test_a_file_of_ranks_has_a_tiktoken_view_and_other_tokenizers_have_none() -> None:
    path = ROOT / "tests" / "vocab" / "cl100k_part.tiktoken"
    own = encoding("cl100k_part")
    adapter = tokpar.load(path, pat_str=own._pat_str, special_tokens=own._special_tokens)
    assert tokpar.Encoder(adapter).as_tiktoken().encode("a b") == own.encode("a b")
    for source in ("default", tokpar.load("default", engine="pure")):
        with pytest.raises(OptionError, match=r"needs a tiktoken\.Encoding .* got "):
            tokpar.Encoder(source).as_tiktoken()


def test_an_encoding_with_an_encode_of_its_own_is_refused() -> None:
    class Own(tiktoken.Encoding):
        def encode(self, text: str, **options: Any) -> list[int]:
            return []

    own = encoding("cl100k_part")
    made = Own(
        "own",
        pat_str=own._pat_str,
        mergeable_ranks=own._mergeable_ranks,
        special_tokens=own._special_tokens,
    )
    with pytest.raises(OptionError, match=r"Own has its own encode$"):
        tokpar.Encoder(made).as_tiktoken()
    assert own_methods(own, ("missing",)) == own_methods(None, ("encode",)) == {}
    assert list(own_methods(made, ("encode", "missing"))) == ["encode"]


# --------------------------------------------------------------------------------- imports


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        ("import tokpar", ("tokpar.views", "transformers", "tokenizers", "tiktoken")),
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
