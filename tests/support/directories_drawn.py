"""Drawn directories of tokenizers: small files of several classes, and the files that lie beside
them."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
)

WORDS = ("the", "two", "cat", "Cat", "cafe", "Café", "中文", "don't", "12", "<x>", "</s>", "[SEP]")
_BYTES = sorted(pre_tokenizers.ByteLevel.alphabet())
_QWEN = r"(?i:'s|'t)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+(?!\S)|\s+"


def _merges(symbols: list[str], words: tuple[str, ...]) -> tuple[dict[str, int], list[Any]]:
    """A vocabulary of these symbols, and merges that join each word from the left."""
    vocab, merges = {symbol: k for k, symbol in enumerate(symbols)}, []
    for word in words:
        for stop in range(2, len(word) + 1):
            if word[:stop] not in vocab:
                vocab[word[:stop]] = len(vocab)
                merges.append((word[: stop - 1], word[stop - 1]))
    return vocab, merges


def _special(own: Tokenizer, *contents: str) -> Tokenizer:
    own.add_special_tokens([AddedToken(c, special=True, normalized=False) for c in contents])
    return own


def _llama() -> Tokenizer:
    symbols = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    symbols += [*"▁thewocan", "▁▁"]
    vocab, merges = _merges(symbols, ("▁the", "▁two", "cat"))
    merges = [("▁", "▁"), *merges]
    own = Tokenizer(models.BPE(vocab, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    own.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    own.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    )
    own.post_processor = processors.TemplateProcessing("<s> $A", "<s> $A $B", [("<s>", 1)])
    return _special(own, "<unk>", "<s>", "</s>")


def _gpt2() -> Tokenizer:
    own = Tokenizer(models.BPE(*_merges(list(_BYTES), ("Ġthe", "Ġtwo", "cat", "ĠĠ"))))
    own.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    own.decoder = decoders.ByteLevel()
    own.post_processor = processors.ByteLevel(trim_offsets=False)
    return _special(own, "<|endoftext|>")


def _qwen() -> Tokenizer:
    own = Tokenizer(models.BPE(*_merges(list(_BYTES), ("Ġthe", "Ġtwo", "cat", "ĠĠ"))))
    own.normalizer = normalizers.NFC()
    own.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_QWEN), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    own.decoder = decoders.ByteLevel()
    return _special(own, "<|endoftext|>", "<|im_start|>", "<|im_end|>")


def _bert() -> Tokenizer:
    contents = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "two", "Cat", "cafe", "don"]
    contents += [*"abcdefgtowh'中文", "##t", "##at", "##h", "##e", "Café"]
    vocab = {content: k for k, content in enumerate(dict.fromkeys(contents))}
    own = Tokenizer(models.WordPiece(vocab, unk_token="[UNK]"))
    own.normalizer = normalizers.BertNormalizer(lowercase=True)
    own.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    own.decoder = decoders.WordPiece()
    own.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    own.enable_truncation(12)
    own.enable_padding(length=12, pad_id=0, pad_token="[PAD]")
    return _special(own, "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def _unigram() -> Tokenizer:
    pieces = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", -1.0), ("▁", -2.5), ("▁the", -3.25)]
    pieces += [("▁two", -3.5), ("cat", -4.0), *((letter, -6.0) for letter in "thewocan")]
    own = Tokenizer(models.Unigram(pieces, 2, False))
    own.pre_tokenizer = pre_tokenizers.Metaspace()
    own.decoder = decoders.Metaspace()
    own.post_processor = processors.TemplateProcessing("$A </s>", "$A $B </s>", [("</s>", 1)])
    return _special(own, "<pad>", "</s>", "<unk>")


_MAKERS: dict[str, Callable[[], Tokenizer]] = {
    "llama": _llama,
    "gpt2": _gpt2,
    "qwen": _qwen,
    "bert": _bert,
    "unigram": _unigram,
}
KINDS = tuple(_MAKERS)


@cache
def file_of(kind: str) -> str:
    """The tokenizer.json of a kind."""
    return str(_MAKERS[kind]().to_str())


@cache
def special_tokens(kind: str) -> tuple[dict[str, Any], ...]:
    """The added tokens of the file of a kind, all special."""
    return tuple(json.loads(file_of(kind))["added_tokens"])


def silent_files(kind: str) -> st.SearchStrategy[dict[str, Any]]:
    """Files beside a tokenizer.json that transformers may leave without effect."""
    contents = [token["content"] for token in special_tokens(kind)]
    decoder = {
        str(token["id"]): {name: value for name, value in token.items() if name != "id"}
        for token in special_tokens(kind)
    }
    roles = st.fixed_dictionaries(
        {},
        optional={
            "eos_token": st.sampled_from(contents),
            "pad_token": st.sampled_from([None, *contents]),
            "additional_special_tokens": st.lists(st.sampled_from(contents), unique=True),
        },
    )
    config = st.fixed_dictionaries(
        {},
        optional={
            "tokenizer_class": st.sampled_from(["PreTrainedTokenizerFast", "TokenizersBackend"]),
            "model_max_length": st.just(8),
            "padding_side": st.just("left"),
            "chat_template": st.just("{{ messages }}"),
            "split_special_tokens": st.just(False),
            "clean_up_tokenization_spaces": st.booleans(),
            "added_tokens_decoder": st.just(decoder),
        },
    )
    both = st.tuples(config, roles).map(lambda pair: pair[0] | pair[1])
    return st.fixed_dictionaries(
        {},
        optional={
            "tokenizer_config.json": both,
            "special_tokens_map.json": roles,
            "README.md": st.just("words"),
            "generation_config.json": st.just({"eos_token_id": 2}),
        },
    )


_CLASSES = (
    *("LlamaTokenizer", "LlamaTokenizerFast", "GPT2Tokenizer", "BertTokenizer", "Qwen2Tokenizer"),
    *("T5Tokenizer", "GemmaTokenizer", "RobertaTokenizer", "NllbTokenizer", "WhisperTokenizer"),
    *("CodeLlamaTokenizer", "LayoutLMv2Tokenizer", "LukeTokenizer", "CTRLTokenizer"),
    *("CodeGenTokenizer", "NoSuchTokenizer", "PreTrainedTokenizerFast"),
)
_MODELS = ("llama", "mistral", "qwen2", "gpt2", "bert", "t5", "gemma", "phi3", "no-such-model")
_ANY_TOKENS = ("<x>", "[PAD]", "<unk>", "the", "</s>", "<|endoftext|>", "two cat")


def _written_token(content: str, lstrip: bool, normalized: bool) -> dict[str, Any]:
    flags = {"rstrip": False, "single_word": False, "lstrip": lstrip, "normalized": normalized}
    return {"__type": "AddedToken", "content": content, **flags}


_TOKENS = st.one_of(
    st.sampled_from(_ANY_TOKENS),
    st.builds(_written_token, st.sampled_from(_ANY_TOKENS), st.booleans(), st.booleans()),
)
_SETTINGS: dict[str, st.SearchStrategy[Any]] = {
    "added_tokens_decoder": st.dictionaries(
        st.sampled_from(["2", "40", "500"]),
        st.builds(
            lambda content, lstrip, special: {
                **_written_token(content, lstrip, normalized=False),
                "special": special,
            },
            st.sampled_from(_ANY_TOKENS),
            st.booleans(),
            st.booleans(),
        ).map(lambda token: {name: value for name, value in token.items() if name != "__type"}),
        max_size=2,
    ),
    "add_prefix_space": st.booleans(),
    "add_bos_token": st.booleans(),
    "add_eos_token": st.booleans(),
    "legacy": st.booleans(),
    "split_special_tokens": st.booleans(),
    "additional_special_tokens": st.lists(_TOKENS, max_size=2),
    "extra_special_tokens": st.one_of(
        st.lists(st.sampled_from(_ANY_TOKENS), max_size=2), st.just({"image_token": "<x>"})
    ),
    "pad_token": _TOKENS,
    "unk_token": _TOKENS,
    "bos_token": _TOKENS,
    "do_lower_case": st.booleans(),
    "strip_accents": st.sampled_from([None, True, False]),
    "tokenize_chinese_chars": st.booleans(),
    "clean_up_tokenization_spaces": st.booleans(),
    "auto_map": st.sampled_from([{"AutoTokenizer": ["code.Slow", "code.Fast"]}, ["a.B", None]]),
    "src_lang": st.sampled_from(["eng_Latn", "deu_Latn"]),
}


_CONFIGS = st.tuples(
    st.lists(st.sampled_from(sorted(_SETTINGS)), unique=True, max_size=3).flatmap(
        lambda names: st.fixed_dictionaries({name: _SETTINGS[name] for name in names})
    ),
    st.one_of(st.just({}), st.sampled_from([{"tokenizer_class": name} for name in _CLASSES])),
).map(lambda pair: pair[0] | pair[1])
_MODEL_CONFIGS = st.sampled_from([{}, *({"model_type": name} for name in _MODELS)])
_OTHERS: dict[str, st.SearchStrategy[Any]] = {
    "special_tokens_map.json": st.fixed_dictionaries(
        {}, optional={"pad_token": _TOKENS, "unk_token": _TOKENS}
    ),
    "added_tokens.json": st.sampled_from([{}, {"<x>": 500}, {"two cat": 300}]),
}


def _deciding_files(kind: str) -> st.SearchStrategy[dict[str, Any]]:
    """A tokenizer.json, and files beside it that may decide ids."""
    return st.fixed_dictionaries(
        {"tokenizer.json": st.just(file_of(kind))},
        optional={
            "tokenizer_config.json": _CONFIGS,
            "config.json": _MODEL_CONFIGS,
            "tekken.json": st.just(_tekken()),
            **_OTHERS,
        },
    ).filter(lambda files: len(files) > 1)


def _other_vocabularies(kind: str) -> st.SearchStrategy[dict[str, Any]]:
    """A directory without a tokenizer.json: vocab.txt, or vocab.json and merges.txt."""
    model = json.loads(file_of(kind))["model"]
    vocab = model["vocab"]
    if not isinstance(vocab, dict):
        vocab = {content: k for k, (content, _) in enumerate(vocab)}
    merges = "\n".join(" ".join(merge) for merge in model.get("merges", ()))
    vocabulary: dict[str, Any] = {"vocab.json": vocab, "merges.txt": f"#version: 0.2\n{merges}\n"}
    classes = ("GPT2Tokenizer", "Qwen2Tokenizer", "RobertaTokenizer", "LlamaTokenizer")
    if kind in ("bert", "unigram"):
        vocabulary = {"vocab.txt": "".join(f"{content}\n" for content in vocab)}
        classes = ("BertTokenizer", "DistilBertTokenizer", "MPNetTokenizer", "BertTokenizerFast")
    named = st.sampled_from([{}, *({"tokenizer_class": name} for name in classes)])
    config = st.tuples(_CONFIGS, named).map(lambda pair: pair[0] | pair[1])
    files = st.fixed_dictionaries(
        {"tokenizer_config.json": config}, optional={"config.json": _MODEL_CONFIGS, **_OTHERS}
    )
    return files.map(lambda files: files | vocabulary)


_CONTROLS = (
    *("<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]"),
    *("[TOOL_RESULTS]", "[/TOOL_RESULTS]", "[TOOL_CALLS]", "<pad>", "[PREFIX]", "[MIDDLE]"),
    "[SUFFIX]",
)


def _tekken() -> dict[str, Any]:
    vocab = [
        {"rank": k, "token_bytes": base64.b64encode(bytes([k])).decode(), "token_str": None}
        for k in range(256)
    ]
    special = [
        {"rank": k, "token_str": content, "is_control": True} for k, content in enumerate(_CONTROLS)
    ]
    count = len(_CONTROLS)
    sizes = {"default_vocab_size": 256 + count, "default_num_special_tokens": count}
    sizes |= {"num_vocab_tokens": 256}
    config = {"pattern": r"\s+|\S+", "version": "v3", **sizes}
    return {"config": config, "vocab": vocab, "special_tokens": special}


def drawn_files(kind: str) -> st.SearchStrategy[dict[str, Any]]:
    """The files of a directory, by name: a text, or a value for JSON."""
    file = {"tokenizer.json": file_of(kind)}
    return st.one_of(
        _deciding_files(kind),
        silent_files(kind).map(lambda files: files | file),
        _other_vocabularies(kind),
        _deciding_files(kind),
    )


def write_directory(folder: Path, files: Mapping[str, Any]) -> Path:
    """Write the files into a new folder."""
    folder.mkdir(parents=True)
    for name, content in files.items():
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def drawn_texts() -> st.SearchStrategy[str]:
    """Words that the kinds know, their special tokens and others, several spaces, letters."""
    kinds = [token["content"] for kind in KINDS for token in special_tokens(kind)]
    pieces = st.sampled_from([*WORDS, *kinds, *_ANY_TOKENS, " ", "  ", "\n", "é"])
    return st.lists(st.one_of(pieces, st.text(max_size=3)), max_size=12).map("".join)
