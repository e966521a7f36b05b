"""decode_batch gives the texts of decode, row for row."""

from __future__ import annotations

import pytest

from tests.support.seams import part
from tokpar import Encoder, load
from tokpar.contract.interfaces import Decodes

TEXTS = [
    "def f(x):\n    return x + 1  # one more\n",
    "Größe und Maß: naïve café, 12345 + 67890 = ?",
    "   leading and trailing spaces   ",
    "\n\n\tTabs and newlines\r\n",
    "Ünïcödé ſ Ⅷ ﬁ e\u0301 😀 👩\u200d👩 中文文本和日本語",
    "The end. " * 40,
]


@pytest.mark.parametrize(
    "name", ["deepseek_part", "cl100k_part", "bert_part", "llama_style", "metaspace_unigram"]
)
def test_a_batch_is_decoded_as_its_encodings_are(name: str) -> None:
    adapter = load(part(name))
    assert isinstance(adapter, Decodes)
    encoder = Encoder(adapter)
    batch = encoder.encode_batch(["", "one", *TEXTS])
    assert encoder.decode_batch(batch) == [adapter.decode(each.ids.tolist()) for each in batch]


def test_a_tokenizer_without_a_decoder_is_refused_as_by_decode() -> None:
    class Letters:
        name = "letters"

        def encode(self, text: str) -> list[int]:
            return list(map(ord, text))

    with pytest.raises(LookupError, match="letters cannot decode"):
        Encoder(Letters()).decode_batch([[1]])
    with pytest.raises(TypeError):
        Encoder("default").decode_batch([["a"]])  # type: ignore[list-item]
