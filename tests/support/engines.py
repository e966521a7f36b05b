"""Other engines as an outside author would plug them in: a name and `encode`, nothing more; and the
vocabularies of docs/findings.md. A package is imported when one of its tokenizers is made.
"""

from __future__ import annotations

import base64
import importlib
import io
import json
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import tiktoken
from tokenizers import AddedToken, Tokenizer, normalizers

import tokpar
from tests.support.tokenizers_drawn import DATA, PATTERNS, VOCAB, ByteLevelSpec, build
from tokpar.arrays import IdArray
from tokpar.contract.interfaces import TokenizerAdapter

CHUNK_LEN = 8
"""Code points of a chunk of `parallel_encode`: short, so that short texts have several."""
LINES = ("aa aaa aaaaa aaaaa b", "1 2")
"""What the sentencepiece models are trained on."""


@dataclass(frozen=True)
class Calls:
    """A tokenizer that asks `call` for the ids."""

    name: str
    call: Callable[[str], Iterable[int]]

    def encode(self, text: str) -> IdArray:
        return np.array(list(self.call(text)), dtype=np.uint32)


@dataclass(frozen=True)
class Ranks:
    """A tiktoken vocabulary; `scheme` is what gigatoken calls its pattern."""

    ranks: Mapping[bytes, int] = field(hash=False)
    pattern: str
    scheme: str

    @property
    def special(self) -> dict[str, int]:
        return {"<|endoftext|>": max(self.ranks.values()) + 1}

    @property
    def file(self) -> bytes:
        """The `.tiktoken` file."""
        rows = (f"{base64.b64encode(token).decode()} {n}\n" for token, n in self.ranks.items())
        return "".join(rows).encode()


Vocabulary = str | Ranks
"""The contents of a tokenizer.json, or a `.tiktoken` file and its pattern."""


# ------------------------------------------------------------------------------- engines


def with_file(load: Callable[[str], Any], data: bytes) -> Any:
    """What `load` makes of a file with these contents."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "tokenizer.json"
        path.write_bytes(data)
        return load(str(path))


def gigatoken(vocabulary: Vocabulary) -> Calls:
    package = importlib.import_module("gigatoken")
    if isinstance(vocabulary, str):
        return Calls("gigatoken", package.Tokenizer.from_json(vocabulary).encode)
    load = partial(
        package.Tokenizer.from_tiktoken,
        pretokenizer=vocabulary.scheme,
        special_tokens=vocabulary.special,
    )
    return Calls("gigatoken", with_file(load, vocabulary.file).encode)


def fastokens(vocabulary: Vocabulary) -> Calls:
    package = importlib.import_module("fastokens")
    if isinstance(vocabulary, str):
        tokenizer = package.Tokenizer.from_json_str(vocabulary)
    else:
        load = partial(
            package.Tokenizer.from_tiktoken,
            pattern=vocabulary.pattern,
            special_tokens=vocabulary.special,
        )
        tokenizer = with_file(load, vocabulary.file)
    return Calls("fastokens", lambda text: tokenizer.encode(text).ids)


def tokie(vocabulary: Vocabulary) -> Calls:
    package = importlib.import_module("tokie")
    assert isinstance(vocabulary, str), "tokie reads no .tiktoken files"
    tokenizer = with_file(package.Tokenizer.from_json, vocabulary.encode())
    return Calls("tokie", lambda text: tokenizer.encode(text, add_special_tokens=False).ids)


ENGINES: dict[str, Callable[[Vocabulary], Calls]] = {
    "gigatoken": gigatoken,
    "fastokens": fastokens,
    "tokie": tokie,
}


def reference(vocabulary: Vocabulary) -> TokenizerAdapter:
    """The library that the vocabulary was made for: tokenizers or tiktoken."""
    if isinstance(vocabulary, str):
        return tokpar.load(Tokenizer.from_str(vocabulary))
    encoding = tiktoken.Encoding(
        "ranks",
        pat_str=vocabulary.pattern,
        mergeable_ranks=dict(vocabulary.ranks),
        special_tokens=vocabulary.special,
    )
    return tokpar.load(encoding, allowed_special="all")


@cache
def trained(model: str, normalization: str) -> Any:
    """A sentencepiece model."""
    package = importlib.import_module("sentencepiece")
    written = io.BytesIO()
    package.SentencePieceTrainer.train(
        sentence_iterator=iter(LINES),
        model_writer=written,
        model_type=model,
        vocab_size=20,
        hard_vocab_limit=False,
        normalization_rule_name=normalization,
        num_threads=1,
        minloglevel=2,
    )
    return package.SentencePieceProcessor(model_proto=written.getvalue())


def parallel_and_serial(model: str, normalization: str) -> tuple[Calls, Calls]:
    """`parallel_encode` and `encode` of one sentencepiece model."""
    processor = trained(model, normalization)
    parallel = partial(processor.parallel_encode, chunk_len=CHUNK_LEN, num_threads=2)
    return Calls("parallel_encode", parallel), Calls("encode", processor.encode)


# ------------------------------------------------------------------------------- vocabularies


def plain(tokenizer: Tokenizer) -> str:
    """A tokenizer.json without truncation and padding."""
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return str(tokenizer.to_str())


def read(name: str) -> str:
    return plain(Tokenizer.from_file(str(VOCAB / f"{name}.json")))


def bundled(*contents: str, normalizer: Any = None, **flags: bool) -> str:
    """The bundled tokenizer with added tokens that have these flags."""
    tokenizer = Tokenizer.from_file(str(DATA / "default.json"))
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    flags = {"normalized": False} | flags
    tokenizer.add_tokens([AddedToken(content, **flags) for content in contents])
    return plain(tokenizer)


def renumbered(name: str) -> str:
    """A part vocabulary with ids 0, 1, 2, ... in the order of its own."""
    parts = json.loads(read(name))
    vocab, added = parts["model"]["vocab"], parts["added_tokens"]
    old = sorted({*vocab.values(), *(token["id"] for token in added)})
    new = {id_: n for n, id_ in enumerate(old)}
    parts["model"]["vocab"] = {token: new[id_] for token, id_ in vocab.items()}
    parts["added_tokens"] = [token | {"id": new[token["id"]]} for token in added]
    return json.dumps(parts | {"post_processor": None})


def family(name: str) -> str:
    """Byte-level BPE with 300 random merges behind a published pattern."""
    return plain(build(ByteLevelSpec(name, seed=1, merges=300)))


def part_ranks(name: str, scheme: str, gaps: bool = False) -> Ranks:
    """A part of a `.tiktoken` file; its ranks have gaps, or are 0, 1, 2, ... in their order."""
    rows = (line.split() for line in (VOCAB / f"{name}.tiktoken").read_bytes().splitlines())
    ranks = {base64.b64decode(token): int(rank) for token, rank in rows}
    if not gaps:
        ranks = {token: n for n, token in enumerate(sorted(ranks, key=ranks.__getitem__))}
    pattern = json.loads((VOCAB / "patterns.json").read_text(encoding="utf-8"))[name]
    return Ranks(ranks, pattern, scheme)


CONTENTS = ("<x>", "<xy>", "foobarbaz")
ACCENTED = ("caféx", "e\u0301y")

VOCABULARIES: dict[str, Callable[[], Vocabulary]] = {
    "bundled": bundled,
    "bundled, added tokens": partial(bundled, *CONTENTS),
    "bundled, `lstrip`": partial(bundled, *CONTENTS, lstrip=True),
    "bundled, `rstrip`": partial(bundled, *CONTENTS, rstrip=True),
    "bundled, `single_word`": partial(bundled, *CONTENTS, single_word=True),
    "bundled, NFC, `normalized`": lambda: bundled(
        *ACCENTED, normalizer=normalizers.NFC(), normalized=True
    ),
    "bundled, NFC, not `normalized`": lambda: bundled(*ACCENTED, normalizer=normalizers.NFC()),
    "bundled, `Lowercase`": lambda: bundled(normalizer=normalizers.Lowercase()),
    "bundled, added token of the model": partial(bundled, ">"),
    "`llama_style.json`": partial(read, "llama_style"),
    "`metaspace_unigram.json`": partial(read, "metaspace_unigram"),
    "`bert_part.json`": partial(read, "bert_part"),
    "`bert_part.json`, renumbered": partial(renumbered, "bert_part"),
    "`deepseek_part.json`": partial(read, "deepseek_part"),
    "`deepseek_part.json`, renumbered": partial(renumbered, "deepseek_part"),
    **{f"pattern {name}": partial(family, name) for name in PATTERNS},
    "`cl100k_part.tiktoken`": partial(part_ranks, "cl100k_part", "cl100k", gaps=True),
    "`cl100k_part.tiktoken`, renumbered": partial(part_ranks, "cl100k_part", "cl100k"),
    "`o200k_part.tiktoken`, renumbered": partial(part_ranks, "o200k_part", "o200k"),
}
"""By the names that docs/findings.md gives them."""

MODELS = {
    f"{model}, `{rules}`": partial(parallel_and_serial, model, rules)
    for model in ("unigram", "bpe", "char")
    for rules in ("nmt_nfkc", "identity")
}
