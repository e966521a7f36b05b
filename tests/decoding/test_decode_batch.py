"""decode_batch gives the texts of decode, row for row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.seams import part
from tests.support.tokenizers_drawn import hf_tokenizers, is_panic, tiktoken_encodings
from tokpar import Encoder, load
from tokpar.errors import OptionError
from tokpar.interfaces import Decodes


@pytest.mark.ids
@given(hf_tokenizers() | tiktoken_encodings(), st.data())
def test_rows_of_any_tokenizer_are_decoded_as_by_its_own_decode(
    tokenizer: Any, data: st.DataObject
) -> None:
    count = tokenizer.n_vocab if hasattr(tokenizer, "n_vocab") else tokenizer.get_vocab_size()
    rows = data.draw(st.lists(st.lists(st.integers(0, count), max_size=8), max_size=6))
    encoder = Encoder(tokenizer)
    try:
        expected = [encoder.decode(row) for row in rows]
    except BaseException as error:
        if not (isinstance(error, LookupError) or is_panic(error)):
            raise
        with pytest.raises(type(error)):
            encoder.decode_batch(rows)
        return
    arrays = (np.array(row, dtype=np.uint32) for row in rows)
    assert encoder.decode_batch(rows) == encoder.decode_batch(arrays) == expected


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
    with pytest.raises((OptionError, ValueError)):
        Encoder("default").decode_batch([["a"]])  # type: ignore[list-item]
