"""Infinity (infinity-emb): the tokenizing calls of its embedder, `tokenize_lengths`, by which it
sorts requests, and `encode_pre`, which makes the batch; patched by `patch_transformers`."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.programs.documents import documents
from tests.programs.turns import Row, compare
from tests.programs.unigram_files import save_roberta

INSTALL = (
    "infinity-emb==0.0.78",
    "sentence-transformers==3.4.1",
    "transformers==4.57.6",
    "torch==2.13.0",
    "orjson",
    "rich<14",
)
VERSIONS = ("infinity-emb", "sentence-transformers", "transformers", "torch")


def rows() -> Iterator[Row]:
    import torch
    from infinity_emb.args import EngineArgs
    from infinity_emb.transformer.embedder.sentence_transformer import SentenceTransformerPatched

    import tokpar

    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as made:
        name = save_roberta(Path(made))
        settings = {"device": "cpu", "bettertransformer": False, "model_warmup": False}
        args = EngineArgs(model_name_or_path=name, engine="torch", **settings)
        own = SentenceTransformerPatched(engine_args=args)
        with tokpar.patch_transformers():
            ours = SentenceTransformerPatched(engine_args=args)
    own.max_seq_length = ours.max_seq_length = 512
    lengths = "tokenize_lengths, passages of 400"
    yield compare(lengths, own.tokenize_lengths, ours.tokenize_lengths, _batches(0))
    batch = "encode_pre, passages of 400"
    yield compare(batch, _features_of(own), _features_of(ours), _batches(1))


def _batches(share: int) -> list[list[str]]:
    texts = [
        text[k : k + 400] for text in documents(12_000, 24, share) for k in range(0, 12_000, 400)
    ]
    return [texts[k : k + 64] for k in range(0, len(texts), 64)]


def _features_of(model: Any) -> Callable[[list[str]], dict[str, list[Any]]]:
    def features(texts: list[str]) -> dict[str, list[Any]]:
        return {name: value.tolist() for name, value in model.encode_pre(texts).items()}

    return features
