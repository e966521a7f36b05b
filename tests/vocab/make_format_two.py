"""Writes format_two.json: small tokenizers as tokenizers 1.0.0rc3 reads and as it writes them.

pip install tokenizers==1.0.0rc3
python tests/vocab/make_format_two.py
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from tokpar.files.vocabulary import GPT2_PATTERN, byte_alphabet

FILE = Path(__file__).parent / "format_two.json"
Json = dict[str, Any]


def added(content: str, id_: int, **flags: bool) -> Json:
    off = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {"id": id_, "content": content, **off, "special": True, **flags}


def split(pattern: str) -> Json:
    return {
        "type": "Split",
        "pattern": {"Regex": pattern},
        "behavior": "Isolated",
        "invert": False,
    }


def byte_level(use_regex: bool) -> Json:
    flags = {"add_prefix_space": False, "trim_offsets": True, "use_regex": use_regex}
    return {"type": "ByteLevel", **flags}


def config(model: Json, **parts: Any) -> Json:
    names = (
        "truncation",
        "padding",
        "added_tokens",
        "normalizer",
        "pre_tokenizer",
        "post_processor",
        "decoder",
    )
    return {"version": "1.0", **dict.fromkeys(names), "added_tokens": [], **parts, "model": model}


def bpe(vocab: list[str], merges: list[str], **settings: Any) -> Json:
    off = {
        "dropout": None,
        "unk_token": None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": False,
    }
    pairs = [merge.split(" ") for merge in merges]
    tokens = [*vocab, *("".join(pair) for pair in pairs)]
    numbered = {token: n for n, token in enumerate(tokens)}
    return {"type": "BPE", **off, **settings, "vocab": numbered, "merges": pairs}


def template(before: list[tuple[str, int]], after: list[tuple[str, int]]) -> Json:
    def entries(some: list[tuple[str, int]]) -> list[Json]:
        return [{"SpecialToken": {"id": name, "type_id": 0}} for name, _ in some]

    sides = [{"Sequence": {"id": name, "type_id": n}} for n, name in enumerate("AB")]
    return {
        "type": "TemplateProcessing",
        "single": [*entries(before), sides[0], *entries(after)],
        "pair": [*entries(before), *sides, *entries(after)],
        "special_tokens": {
            name: {"id": name, "ids": [id_], "tokens": [name]} for name, id_ in (*before, *after)
        },
    }


def samples() -> dict[str, Json]:
    letters, merges = list(byte_alphabet()), ["Ġ t", "h e", "Ġt he", "1 2", "Ġ Ġ"]
    mark = "<｜x｜>"
    byte_model, with_mark = bpe(letters, merges), bpe([mark, *letters], merges)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *"abehlotu,.", "##a", "##b", "##he", "the", "é"]
    pieces = ["<unk>", "▁", "▁a", "a", "b", "▁the", "the", "he", "t"]
    bytes_ = [f"<0x{byte:02X}>" for byte in range(256)]
    llama = bpe(
        ["<unk>", "<s>", *bytes_, "▁", "a", "b", "t", "h", "e", "rare"],
        ["▁ a", "h e", "t he"],
        unk_token="<unk>",
        fuse_unk=True,
        byte_fallback=True,
    )
    metaspace = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"}
    unigram = {
        "type": "Unigram",
        "unk_id": 0,
        "vocab": [[piece, -0.1 * n - 1.0 / 3] for n, piece in enumerate(pieces)],
        "byte_fallback": False,
    }
    return {
        "ByteLevel's own regex": config(
            with_mark,
            added_tokens=[added(mark, 0), added("<end>", 262, special=False, normalized=True)],
            pre_tokenizer=byte_level(use_regex=True),
            post_processor=template([(mark, 0)], [("<end>", 262)]),
            decoder=byte_level(use_regex=True),
        ),
        "NFC, Split, ByteLevel": config(
            byte_model,
            normalizer={"type": "NFC"},
            pre_tokenizer={
                "type": "Sequence",
                "pretokenizers": [split(GPT2_PATTERN), byte_level(False)],
            },
            decoder=byte_level(use_regex=True),
        ),
        "ByteLevel without a regex": config(
            byte_model, pre_tokenizer=byte_level(False), decoder=byte_level(use_regex=True)
        ),
        "BERT": config(
            {
                "type": "WordPiece",
                "unk_token": "[UNK]",
                "continuing_subword_prefix": "##",
                "max_input_chars_per_word": 100,
                "vocab": {word: n for n, word in enumerate(words)},
            },
            truncation={
                "direction": "Right",
                "max_length": 9,
                "strategy": "LongestFirst",
                "stride": 0,
            },
            padding={
                "strategy": {"Fixed": 9},
                "direction": "Right",
                "pad_to_multiple_of": None,
                "pad_id": 0,
                "pad_type_id": 0,
                "pad_token": "[PAD]",
            },
            added_tokens=[added(word, n) for n, word in enumerate(words[:4])],
            normalizer={
                "type": "BertNormalizer",
                "clean_text": True,
                "handle_chinese_chars": True,
                "strip_accents": None,
                "lowercase": True,
            },
            pre_tokenizer={"type": "BertPreTokenizer"},
            post_processor=template([("[CLS]", 2)], [("[SEP]", 3)]),
            decoder={"type": "WordPiece", "prefix": "##", "cleanup": True},
        ),
        "Llama 2": config(
            llama,
            added_tokens=[added("<unk>", 0), added("<s>", 1)],
            normalizer={
                "type": "Sequence",
                "normalizers": [
                    {"type": "Prepend", "prepend": "▁"},
                    {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
                ],
            },
            post_processor=template([("<s>", 1)], []),
            decoder={"type": "Fuse"},
        ),
        "Metaspace": config(
            unigram,
            added_tokens=[added("<unk>", 0)],
            normalizer={"type": "NFKC"},
            pre_tokenizer={**metaspace, "split": True},
            decoder={**metaspace, "split": True},
        ),
        "Metaspace that does not split": config(
            bpe([*pieces, "rare"], ["▁ a"], unk_token="<unk>"),
            pre_tokenizer={**metaspace, "split": False},
        ),
    }


def written(sample: Json) -> Json:
    from tokenizers import Tokenizer

    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "tokenizer.json"
        path.write_text(json.dumps(sample), encoding="utf-8")
        own = Tokenizer.from_file(str(path))
    result: Json = json.loads(own.__reduce__()[1][0])
    return result


if __name__ == "__main__":
    both = {name: {"one": one, "two": written(one)} for name, one in samples().items()}
    text = json.dumps(both, ensure_ascii=False, separators=(",", ":"))
    FILE.write_text(text + "\n", encoding="utf-8")
