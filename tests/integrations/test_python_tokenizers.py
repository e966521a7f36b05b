"""`as_hf` of tokenizers in Python that keep a `tiktoken.Encoding`, as remote code of Kimi and the
first Qwen does."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import tiktoken
from hypothesis import example, given
from hypothesis import strategies as st

import tokpar
from tests.support.hf_sources import save_remote_code
from tests.support.paths import VOCAB
from tests.support.texts import surrogate_texts, texts
from tokpar import OptionError
from tokpar.formats.formats import read_ranks

pytestmark = [pytest.mark.ids, pytest.mark.compiled_at_once]

KEPT_AS = {"KimiLike": "model", "QwenLike": "tokenizer"}
SPECIALS = ("<|im_end|>", "[BOS]", "<|im_start|>", "<|endoftext|>")
LONG = "The quick brown fox, 1234567 times.\n\n  Naïve café 中文字! <|im_end|> " * 400


def made(kind: str) -> Any:
    pytest.importorskip("transformers", reason="transformers is missing")
    from tests.support import python_tokenizers

    ranks = read_ranks(VOCAB / "o200k_part.tiktoken")
    dense = {token: place for place, token in enumerate(sorted(ranks, key=ranks.__getitem__))}
    tokenizer = getattr(python_tokenizers, kind)(dense)
    skip_unless_it_encodes(tokenizer)
    return tokenizer


def skip_unless_it_encodes(own: Any) -> None:
    """transformers 5.0 makes an error of each call of some classes."""
    try:
        own("a")
    except ValueError as error:
        pytest.skip(f"this release of transformers cannot call such a class: {error}")


original = cache(made)
faster = cache(lambda kind: tokpar.as_hf(made(kind), smallest_text=1))


def calls_of(tokenizer: Any) -> int:
    return int(getattr(tokenizer, KEPT_AS[type(tokenizer).__name__]).tokpar_calls)


def answers(tokenizer: Any, text: str) -> dict[str, Any]:
    """What a tokenizer answers about a text, errors included."""
    ordinary: dict[str, Any] = {"allow_special_tokens": False}
    if type(tokenizer).__name__ == "QwenLike":
        ordinary = {"allowed_special": set(), "disallowed_special": "all"}
    asked: dict[str, Callable[[], Any]] = {
        "call": lambda: tokenizer(text).data,
        "batch": lambda: tokenizer([text, "a", text], padding=True).data,
        "encode": lambda: tokenizer.encode(text),
        "ordinary": lambda: tokenizer.encode(text, **ordinary),
        "tokens": lambda: tokenizer.tokenize(text),
        "text": lambda: tokenizer.decode(tokenizer.encode(text)),
        "cut": lambda: tokenizer(text, truncation=True, max_length=5).data,
    }
    found: dict[str, Any] = {}
    for name, ask in asked.items():
        try:
            found[name] = ask()
        except (ValueError, UnicodeError, TypeError) as error:
            found[name] = repr(error)
    return found


@pytest.mark.parametrize("kind", KEPT_AS)
@given(text=texts(added=SPECIALS) | surrogate_texts(added=SPECIALS))
@example(text="<|im_start|>user\nhi<|im_end|> <|im_en d|>[BOS]")
def test_answers_are_those_of_the_tokenizer_as_it_was(kind: str, text: str) -> None:
    assert answers(faster(kind), text) == answers(original(kind), text)


@pytest.mark.parametrize("kind", KEPT_AS)
@pytest.mark.parametrize(
    "text",
    [LONG * 45, " " * 60_000 + "x" * 26_000 + LONG, "中" * 25_001 + "\n" * 50_001],
    ids=["parts", "runs", "no space"],
)
def test_long_texts_go_through_tokpar_with_the_same_ids(kind: str, text: str) -> None:
    tokenizer = faster(kind)
    before = calls_of(tokenizer)
    assert tokenizer.encode(text) == original(kind).encode(text)
    assert calls_of(tokenizer) > before


@pytest.mark.parametrize("kind", KEPT_AS)
def test_the_object_itself_is_returned_and_its_texts_are_counted(kind: str) -> None:
    from tokpar.integrations import hf

    own = made(kind)
    kept = getattr(own, KEPT_AS[kind])
    assert tokpar.as_hf(own) is own
    assert vars(getattr(own, KEPT_AS[kind])) is vars(kept)
    before = hf.calls()
    own.encode(LONG)
    assert hf.calls() == before + 1 == before + calls_of(own)
    assert tokpar.as_hf(own, workers=1) is own
    assert own.encode(LONG) == original(kind).encode(LONG)


@pytest.mark.parametrize("kind", KEPT_AS)
@pytest.mark.parametrize(
    "copied", [lambda each: each, copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_untrusted_text_is_refused_and_not_ignored(kind: str, copied: Callable[[Any], Any]) -> None:
    tokenizer = copied(tokpar.as_hf(made(kind)))
    assert isinstance(tokenizer, type(original(kind)))
    named = rf"tokenizer in Python.*: tokenizer\.{KEPT_AS[kind]}\.encode\(text, untrusted="
    chat = [{"role": "user", "content": "a"}]
    for call in (tokenizer, tokenizer.encode, tokenizer.apply_chat_template):
        with pytest.raises(OptionError, match=named):
            call(chat if call == tokenizer.apply_chat_template else "a", untrusted=[(0, 1)])
    template = "{{ messages[0].content }}"
    options = {"chat_template": template, "tokenize": False, "untrusted": False}
    assert tokenizer.apply_chat_template(chat, **options) == "a"


def test_a_tokenizer_in_python_without_an_encoding_is_refused_as_before() -> None:
    own = made("KimiLike")
    for kept in (object(), [own.model]):
        own.model = kept
        with pytest.raises(OptionError, match=r"keeps a tiktoken\.Encoding in an .*, got KimiLike"):
            tokpar.as_hf(own)
        assert own.model is kept


def test_an_encoding_that_cannot_be_followed_is_refused_and_stays() -> None:
    class Own(tiktoken.Encoding):  # type: ignore[misc]
        def encode(self, *_: Any, **__: Any) -> list[int]:
            return [1]

    own = made("KimiLike")
    mine, plain = Own.__new__(Own), own.model
    mine.__dict__ = plain.__dict__
    own.second = mine
    with pytest.raises(OptionError, match="as_tiktoken cannot follow this encoding: the class"):
        tokpar.as_hf(own)
    assert (own.model, own.second) == (plain, mine)


@given(
    tokens=st.sets(st.text("<a|>", min_size=1, max_size=4), max_size=4),
    text=st.text("<a|>x", max_size=30),
)
@example(tokens={"a", "<a<"}, text="<aa<<aa<aa>aa")
@example(tokens={"<|a|>", "<|a", "|"}, text="<|a|><|a<|<|a|")
@example(tokens={"<a>", "<a>a"}, text="<<a>a<a>")
def test_added_tokens_are_those_that_transformers_finds(tokens: set[str], text: str) -> None:
    from tokpar.integrations.hf_python import AddedTokenSearch, Trie

    own = Trie()
    for token in sorted(tokens):
        own.add(token)
    search = AddedTokenSearch(own)
    assert search.split(text) == own.split(text)
    search.add("x")
    assert search.split(text) == own.split(text)  # which shares the tokens


def test_remote_code_that_a_patched_transformers_loads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    auto = pytest.importorskip("transformers", reason="transformers is missing").AutoTokenizer
    folder = save_remote_code(tmp_path, monkeypatch)
    own = auto.from_pretrained(folder, trust_remote_code=True)
    skip_unless_it_encodes(own)
    with tokpar.patch_transformers(smallest_text=1):
        tokenizer = auto.from_pretrained(folder, trust_remote_code=True)
    assert type(tokenizer).__module__.startswith("transformers_modules.")
    assert type(own.model) is tiktoken.Encoding
    assert tokenizer(LONG).data == own(LONG).data
    assert tokenizer.model.tokpar_calls > 0
