"""What post-processors trim is counted in what the engine calls a token (theorem 53)."""

from __future__ import annotations

from unittest import mock

import pytest
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers, processors

from tests.support.offsets_drawn import WORDS, assert_engine_offsets, tiling
from tests.support.stages_drawn import shaped
from tests.support.tokenizers_drawn import NORMALIZERS
from tokpar.adapters.hf_trimming import Blanks

pytestmark = [pytest.mark.ids, pytest.mark.compiled_at_once]


def masking(content: str, **flags: bool) -> Tokenizer:
    own = tiling()
    own.add_special_tokens([AddedToken(content, **flags)])
    own.post_processor = processors.RobertaProcessing(("</s>", 1), ("<s>", 2), True, False)
    return own


@pytest.mark.each_value
@pytest.mark.parametrize("flags", [{"lstrip": True}, {"rstrip": True}, {"normalized": True}, {}])
@pytest.mark.parametrize("content", ["<mask>", " <m>", "a", "Ġ"])
@pytest.mark.parametrize("names", [(), ("NFC",), ("Replace space by mark",)])
def test_an_added_token_is_trimmed_by_what_it_was_found_as(
    content: str, flags: dict[str, bool], names: tuple[str, ...]
) -> None:
    own = masking(content, **flags)
    own.normalizer = normalizers.Sequence([NORMALIZERS[name]() for name in names])
    for text in (f"b {content} b  {content}  {content}c", f" {content}", f"{content}\t", "b a"):
        assert_engine_offsets(own, text)


def test_unknown_pieces_and_shared_ids_are_trimmed_by_what_the_engine_calls_them() -> None:
    pieces = [("<unk>", 0.0), ("a", -1.0), (" a", -1.5), (" ", -2.0)]
    row = [pre_tokenizers.Split(" ", "merged_with_next")]
    unigram = shaped(models.Unigram(pieces, 0), [], row)
    shared = shaped(models.WordLevel({"a": 0, " a": 0, "[UNK]": 1}, "[UNK]"), [], row)
    sparse = shaped(models.WordLevel({"a": 1, " a": 1 << 23, "[UNK]": 0}, "[UNK]"), [], row)
    for own in (unigram, shared, sparse):
        own.post_processor = processors.ByteLevel(trim_offsets=True, add_prefix_space=False)
        assert_engine_offsets(own, "a a b a", " b a  a", "a")


def test_where_a_token_took_white_space_the_text_tells_without_the_engine() -> None:
    own = masking("<mask>", lstrip=True)
    with mock.patch.object(Blanks, "_count_by_engine", side_effect=AssertionError):
        assert_engine_offsets(own, f"{WORDS} \t<mask>  {WORDS}")
