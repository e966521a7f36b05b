"""Each condition of proofs/chunks.md: a text that is wrong without it, and the slices right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers

import tokpar
from tokpar.arrays import IdArray
from tokpar.chunks.encoded_text import EncodedText
from tokpar.cuts.finder import finder_for
from tokpar.results.adding_up import EncodesParts
from tokpar.types import Rows

pytestmark = pytest.mark.ids


def ids_of(tokenizer: Tokenizer, text: str) -> list[int]:
    found: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
    return found


@dataclass
class ByEngine:
    """Encodes parts as if there were no compiled call, and counts them."""

    own: EncodesParts
    asked: int = 0
    is_compiled: bool = False

    def __call__(self, texts: Sequence[str]) -> Rows:
        return Rows.of(map(self.one, texts))

    def places(self, text: str) -> None:
        return None

    def one(self, text: str) -> IdArray:
        self.asked += 1
        return self.own.one(text)


def assert_every_slice(tokenizer: Tokenizer, text: str) -> None:
    """Every slice between places that count as cuts has the ids that lie between them in the
    text."""
    adapter = tokpar.load(tokenizer)
    encoder = tokpar.Encoder(adapter)
    encode = ByEngine(encoder.rows_of_parts)
    whole = EncodedText(text, adapter, encode, 1)
    for start in filter(whole.begins_alone, range(len(text))):
        for stop in filter(whole.ends_alone, range(start + 1, len(text) + 1)):
            own = ids_of(tokenizer, text[start:stop])
            assert ids_of(tokenizer, text[:start]) + own == ids_of(tokenizer, text[:stop])
            assert whole.ids_alone(start, stop).tolist() == own, (start, stop)
    assert not whole.is_exact or encode.asked == 1


def is_cut(tokenizer: Tokenizer, text: str, place: int) -> bool:
    finder = finder_for(tokpar.load(tokenizer).facts)
    return finder.certify(text, place) is not None


def byte_level() -> Tokenizer:
    """The regex of GPT-2, a token for each byte and one for two spaces."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: k for k, token in enumerate([*alphabet, "ĠĠ"])}
    tokenizer = Tokenizer(models.BPE(vocabulary, [("Ġ", "Ġ")]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return tokenizer


def test_slices_that_end_in_a_run_of_spaces_have_their_own_ids() -> None:
    tokenizer = byte_level()
    assert tokenizer.encode("a  b").tokens == ["a", "Ġ", "Ġ", "b"]
    assert tokenizer.encode("a  ").tokens == ["a", "ĠĠ"]
    assert_every_slice(tokenizer, "a  b   c \n  d\n\n   e")


def dummy_prefix() -> Tokenizer:
    tokens = ["<unk>", "▁", "a", "b", "c", "▁b", "▁a", "▁c", "bc", "▁bc"]
    merges = [("▁", "b"), ("▁", "a"), ("▁", "c"), ("b", "c"), ("▁", "bc")]
    model = models.BPE({t: k for k, t in enumerate(tokens)}, merges, unk_token="<unk>")
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    tokenizer.decoder = decoders.Metaspace()
    return tokenizer


def test_a_slice_that_begins_with_an_absorbed_space_has_an_id_more() -> None:
    tokenizer = dummy_prefix()
    assert tokenizer.encode("a b").tokens == ["▁a", "▁b"]
    assert tokenizer.encode(" b").tokens == ["▁", "▁b"]
    assert is_cut(tokenizer, "a b", 1)
    assert_every_slice(tokenizer, "a bc b  a c ab a bc c b")


def test_a_slice_that_ends_inside_a_word_has_other_ids() -> None:
    vocabulary = {"[UNK]": 0, "a": 1, "##b": 2, "ab": 3, "##c": 4, "abc": 5, "##a": 6}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    assert tokenizer.encode("abc").tokens == ["abc"]
    assert tokenizer.encode("ab").tokens == ["ab"]
    assert_every_slice(tokenizer, "abc ab a abcabc  a abc")
