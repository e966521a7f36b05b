"""Byte-level BPE whose vocabulary lacks bytes: words with such a byte are encoded by the engine."""

from __future__ import annotations

from typing import Any

import pytest
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers

import tokpar
from tests.conftest import needs_below_one, needs_kernel
from tokpar.adapters import hf_call
from tokpar.compiled import compiled_build
from tokpar.compiled.compiled_build import NORMALIZED, UNMOVED
from tokpar.compiled.compiled_call import CompiledCall
from tokpar.compiled.quick_check import assigned_characters
from tokpar.errors import EngineError
from tokpar.formats.vocabulary import letters_of

pytestmark = [pytest.mark.ids, pytest.mark.compiled_at_once, needs_below_one, needs_kernel]
ACCENTS = normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents()])


def tokenizer_without(
    missing: bytes, normalizer: Any = None, added: tuple[AddedToken, ...] = (), **settings: Any
) -> Tokenizer:
    have = [byte for byte in range(256) if byte not in missing]
    vocab = {letters_of(bytes([byte])): number for number, byte in enumerate(have)}
    vocab |= {"ab": 300, "Ġab": 301, "<unk>": 302}
    merges = [("a", "b"), ("Ġ", "ab")]
    tokenizer = Tokenizer(models.BPE(vocab, merges, **settings))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.add_tokens([*added])
    return tokenizer


def call_of(tokenizer: Tokenizer) -> CompiledCall:
    adapter: Any = tokpar.load(tokenizer)
    call: CompiledCall = adapter.later_call.call
    return call


def runs_of_spaces(**flags: bool) -> tuple[AddedToken, ...]:
    return tuple(AddedToken(" " * n, normalized=True, **flags) for n in range(2, 25))


@pytest.mark.parametrize("settings", [{}, {"unk_token": "<unk>"}, {"ignore_merges": True}])
def test_only_the_word_with_a_missing_byte_is_asked_of_the_engine(settings: dict[str, Any]) -> None:
    tokenizer = tokenizer_without("é".encode(), **settings)
    call = call_of(tokenizer)
    text = "ab ab, abéab ab ab ab ab ab"
    _, holes, _ = call._call.encode(text)
    assert [part.decode() for _, part in holes] == [" abéab"]
    assert call.encode(text).tolist() == tokenizer.encode(text).ids  # type: ignore[union-attr]


def test_the_engine_s_error_for_a_missing_byte_is_that_of_its_own_call() -> None:
    """`unk_token` is no token: the engine encodes texts of its bytes, and fails for others."""
    tokenizer = tokenizer_without(b"x", unk_token="<none>")
    text = "ab ab ab ab ab x"
    assert call_of(tokenizer).encode("ab ab").tolist() == [300, 301]  # type: ignore[union-attr]
    assert call_of(tokenizer).encode(text) is None
    with pytest.raises(Exception, match=r"Unk|unk"):
        tokenizer.encode(text)
    with pytest.raises((EngineError, Exception), match=r"Unk|unk"):
        tokpar.encode(text, tokenizer)


def test_texts_with_runs_of_spaces_that_nfc_does_not_move_have_holes() -> None:
    """GPT-NeoX: 23 tokens of spaces, searched behind NFC. No text goes whole to the engine for
    them."""
    tokenizer = tokenizer_without("é".encode(), normalizers.NFC(), runs_of_spaces())
    call = call_of(tokenizer)
    for text in ("ab    ab ab abé   ab ab ab ab", "ab e\u0301 ab     ab ab  ab ab", "\u2000  ab"):
        assert call._call.encode(text) is not None
        found = call.encode(text)
        assert found is None or found.tolist() == tokenizer.encode(text).ids


def moved_cases() -> dict[str, tuple[Tokenizer, str]]:
    """A tokenizer whose normalizer makes, changes or reveals what an added token is made of."""
    strips = (AddedToken("\n", normalized=True, rstrip=True),)
    letters = (AddedToken("e", normalized=True),)
    spaces = runs_of_spaces()
    return {
        "made": (tokenizer_without(b"", normalizers.NFKC(), spaces), "ab\u00a0  ab"),
        "nothing is left": (tokenizer_without(b"", ACCENTS, spaces), "ab  \u0301 ab"),
        "flags": (tokenizer_without(b"", ACCENTS, strips), "ab\n\u0301 ab"),
        "changed": (tokenizer_without(b"", normalizers.NFC(), letters), "abe\u0301"),
    }


@pytest.mark.parametrize("name", ["made", "nothing is left", "flags", "changed"])
def test_white_space_that_stays_needs_each_condition(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokenizer, text = moved_cases()[name]
    long = text + " ab" * 20  # a hole is a small part of it
    found = call_of(tokenizer).encode(long)
    assert found is None or found.tolist() == tokenizer.encode(long).ids
    monkeypatch.setattr(hf_call, "_place_of_search", lambda *_: UNMOVED)
    monkeypatch.setattr(compiled_build, "drawn_texts", lambda *_: [])
    wrong = call_of(Tokenizer.from_str(tokenizer.to_str())).encode(long)
    assert wrong is not None
    assert wrong.tolist() != tokenizer.encode(long).ids


def test_flags_and_other_characters_are_searched_in_the_normalized_text() -> None:
    facts: Any = tokpar.load(tokenizer_without(b"", normalizers.NFC())).facts  # type: ignore[attr-defined]
    normalizer = normalizers.NFC()
    for token, place in (
        (AddedToken(" \n", normalized=True), UNMOVED),
        (AddedToken(" ", normalized=True, lstrip=True), NORMALIZED),
        (AddedToken("\u3000", normalized=True), NORMALIZED),
        (AddedToken(" a", normalized=True), NORMALIZED),
    ):
        flagged = tokenizer_without(b"", normalizer, (token,))
        adapter: Any = tokpar.load(flagged)
        [listed] = adapter.facts.added_tokens
        assert hf_call._place_of_search(listed, normalizer, facts) == place


@pytest.mark.parametrize("form", [normalizers.NFC(), normalizers.NFD(), normalizers.Lowercase()])
def test_canonical_forms_leave_white_space_of_ascii_alone(form: Any) -> None:
    """No character is made of it, it composes with none, and something is left of each."""
    chars, _ = assigned_characters()
    for space in " \t\n\r":
        others = [char for char in chars if char != space]
        images = form.normalize_str(space.join(others)).split(space)
        assert len(images) == len(others)
        assert all(images)
        assert images == form.normalize_str("\ufffe".join(others)).split("\ufffe")
