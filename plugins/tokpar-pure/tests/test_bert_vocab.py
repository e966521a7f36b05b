"""`tokpar.load("vocab.txt")` against Hugging Face's BERT tokenizers, with both engines."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import (
    BertWordPieceTokenizer,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
)

import tokpar
from tests.support.paths import VOCAB
from tests.support.texts import texts
from tokpar.errors import FileFormatError
from tokpar.formats.bert import bert_config, read_vocab_txt

pytestmark = pytest.mark.compiled_at_once

PART = VOCAB / "bert_part.json"
ENGINES = (None, "pure")
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")

any_text = texts(added=("[MASK]", "[SEP]", "[unk]", "the"), max_size=300)
cased_text = st.tuples(any_text, st.text("AbcÉéİıßΣ T", max_size=20)).map("".join)


def part_tokens() -> list[str]:
    """Tokens of the committed part of BERT's uncased vocabulary, in the order of their ids."""
    vocab: dict[str, int] = json.loads(PART.read_text(encoding="utf-8"))["model"]["vocab"]
    return sorted(vocab, key=vocab.__getitem__)


def cased_tokens() -> list[str]:
    """The same, and words that have capitals and accents."""
    known = part_tokens()
    more = [changed for t in known if t not in SPECIAL for changed in (t.upper(), t.capitalize())]
    accented = ["É", "##É", "é", "##é", "ï", "##ï", "İ", "##İ"]
    return list(dict.fromkeys([*known, *more, *accented]))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, Path]:
    """A vocab.txt for `lowercase` True and False."""
    found = {}
    for lowercase, tokens in ((True, part_tokens()), (False, cased_tokens())):
        found[lowercase] = tmp_path_factory.mktemp("bert") / "vocab.txt"
        written = "".join(f"{token}\n" for token in tokens)
        found[lowercase].write_bytes(written.encode("utf-8"))
    return found


@cache
def native(path: Path, lowercase: bool) -> Tokenizer:
    """What `BertTokenizerFast` is made of, by hand."""
    vocab = models.WordPiece.read_file(str(path))
    tokenizer = Tokenizer(models.WordPiece(vocab, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.add_special_tokens([token for token in SPECIAL if token in vocab])
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(token, vocab[token]) for token in ("[CLS]", "[SEP]")],
    )
    return tokenizer


@cache
def loaded(path: Path, engine: str | None, **settings: bool) -> Any:
    return tokpar.load(path, engine=engine, **settings)


# What is loaded


@pytest.mark.ids
@pytest.mark.each_value
@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("engine", ENGINES)
@given(text=cased_text)
@example(text="")
@example(text="Ａ\u0301é 中文 naïve İstanbul ΑΣ\tﬁ The [MASK] [mask] " + "x" * 101)
def test_ids_spans_and_decoded_text_are_those_of_hf(
    files: dict[bool, Path], engine: str | None, lowercase: bool, text: str
) -> None:
    path = files[lowercase]
    ours, theirs = loaded(path, engine, lowercase=lowercase), native(path, lowercase)
    expected = theirs.encode(text).ids
    assert ours.encode_whole(text).tolist() == expected
    assert ours.decode(expected) == theirs.decode(expected, skip_special_tokens=False)
    inner = theirs.encode(text, add_special_tokens=False)
    assert ours.encode(text).tolist() == inner.ids
    bare = loaded(path, engine, lowercase=lowercase, add_special_tokens=False)
    assert bare.encode_whole(text).tolist() == inner.ids
    starts = [len(text[:i].encode("utf-8")) for i in range(len(text) + 1)]
    spans = [[starts[start], starts[stop]] for start, stop in inner.offsets]
    assert ours.locate(ours.encode(text), text).tolist() == spans


def test_the_file_that_hf_wrote_says_the_same(files: dict[bool, Path]) -> None:
    """All but the vocabulary, ids, and what its owners stored on top."""
    stored = json.loads(PART.read_text(encoding="utf-8"))
    ours = bert_config(files[True])
    for key in ("version", "normalizer", "pre_tokenizer", "decoder"):
        assert ours[key] == stored[key]
    assert ours.keys() == stored.keys()
    for part in (ours, stored):
        part["model"].pop("vocab")
        part["post_processor"].pop("special_tokens")
        for token in part["added_tokens"]:
            token.pop("id")
    for key in ("model", "post_processor", "added_tokens"):
        assert ours[key] == stored[key]


@pytest.mark.parametrize("lowercase", [True, False])
def test_transformers_makes_the_same_tokenizer(files: dict[bool, Path], lowercase: bool) -> None:
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    path = files[lowercase]
    theirs = transformers.BertTokenizerFast.from_pretrained(path.parent, do_lower_case=lowercase)
    assert json.loads(theirs.backend_tokenizer.to_str()) == bert_config(path, lowercase)
    text = "The naïve [MASK] 中文, ÉTÉ and so on."
    for engine in ENGINES:
        ours = loaded(path, engine, lowercase=lowercase)
        assert ours.encode_whole(text).tolist() == theirs.encode(text)


PIECES = (
    *(
        "a",
        "b",
        "ab",
        "##a",
        "##b",
        "##ab",
        "ba",
        "中",
        "É",
        "é",
        "##é",
        "##",
        "x\u2028y",
        "a ",
        "a",
    ),
    *(
        "",
        "",
        " ",
        "  ",
        "\t",
        "\u2028",
        "\u2029",
        "\x85",
        "\x1c",
        "\ufeff",
        "[UNK]",
        "[SEP]",
        "a b",
    ),
)
odd_files = st.tuples(
    st.lists(st.sampled_from(PIECES), max_size=14).flatmap(
        lambda lines: st.permutations([*SPECIAL, *lines])
    ),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "\n", "\n\n"]),
).map(lambda drawn: drawn[1].join(drawn[0]) + drawn[2])
odd_texts = st.text(" aabbéÉ中x\n\t\u2028\x85\x1c#[MASK]", max_size=60)


@pytest.mark.ids
@given(written=odd_files, lowercase=st.booleans(), text=odd_texts)
@example("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nab\n\u2028\n(\n##b\n", True, "ab\u2028(abb")
@example("[UNK]\n[CLS]\n[SEP]\na\n\nb\n \na\n##b\n\n", False, "a b ab a")
@example("# 3\n[UNK]\n[CLS]\n[SEP]\n", False, "# 3")
def test_what_the_own_library_reads_is_read_alike(
    tmp_path_factory: pytest.TempPathFactory, written: str, lowercase: bool, text: str
) -> None:
    path = tmp_path_factory.mktemp("odd") / "vocab.txt"
    path.write_bytes(written.encode("utf-8"))
    theirs = BertWordPieceTokenizer.from_file(str(path), lowercase=lowercase)
    assert read_vocab_txt(path) == models.WordPiece.read_file(str(path))
    expected, expected_often = theirs.encode(text).ids, theirs.encode(f"{text} " * 50).ids
    for engine in ENGINES:
        ours = tokpar.load(path, engine=engine, lowercase=lowercase)
        assert ours.encode_whole(text).tolist() == expected
        assert ours.decode(expected) == theirs.decode(expected, skip_special_tokens=False)
        divided = tokpar.Encoder(ours, strategy="cut", workers=2, chunk_chars=9)
        encoding = divided.encode(f"{text} " * 50)
        assert encoding.ids.tolist() == expected_often
        assert tokpar.check(encoding, f"{text} " * 50, ours).findings == ()


# What is refused

TOKENS = b"[UNK]\n[CLS]\n[SEP]\n"
BAD = {
    "not UTF-8": (TOKENS + b"a\n\xff\n", ", line 5: expected UTF-8 text"),
    "an empty file": (b"", ": {}, the file is empty"),
    "JSON": (b'{\n  "version": "1.0"', ", line 1: {}, got '{{'"),
    "ranks": (b"IQ== 0\nIg== 1\n", ", line 1: {}, got 'IQ== 0'"),
    "prose": (b"Chapter\nTo be, or not to be\n", ", line 2: {}, got 'To be, or not to be'"),
    "no [UNK]": (b"[CLS]\n[SEP]\na\n", "none of the 3 tokens is [UNK]"),
    "no [CLS] and [SEP]": (b"[UNK]\na\n", "none of the 2 tokens is [CLS] or [SEP]"),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("what", BAD)
def test_a_file_that_is_no_vocabulary_is_named(
    tmp_path: Path, engine: str | None, what: str
) -> None:
    content, message = BAD[what]
    path = tmp_path / "vocab.txt"
    path.write_bytes(content)
    with pytest.raises(FileFormatError) as caught:
        tokpar.load(path, engine=engine)
    assert str(caught.value).startswith(str(path))
    assert message.format("expected one token of a BERT vocabulary per line") in str(caught.value)


# The command line
