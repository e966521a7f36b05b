"""sentence-transformers: `preprocess`, which tokenizes a batch and truncates it, and the whole
`encode` with a model of one layer, patched by `patch_transformers`."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.programs.documents import documents
from tests.programs.small_models import save_model
from tests.programs.turns import Row, compare

INSTALL = ("sentence-transformers==6.2.0", "transformers==5.24.0", "torch==2.13.0")
VERSIONS = ("sentence-transformers", "transformers", "torch")


def rows() -> Iterator[Row]:
    import torch
    from sentence_transformers import SentenceTransformer

    import tokpar

    torch.set_num_threads(1)  # more of them spin while they wait, which is processor time
    with tempfile.TemporaryDirectory() as made:
        model = save_model(Path(made), "BertConfig", max_position_embeddings=512)
        own = SentenceTransformer(model, device="cpu")
        with tokpar.patch_transformers():
            ours = SentenceTransformer(model, device="cpu")
    own.max_seq_length = ours.max_seq_length = 256
    for share, size in enumerate((800, 10_000)):
        texts = documents(size, 24 if share else 96, share)
        batches = [texts[k : k + 8] for k in range(0, len(texts), 8)]
        call = f"preprocess, texts of {size:,}"
        yield compare(call, _features_of(own), _features_of(ours), batches)
    texts = documents(2_000, 48, 3)
    batches = [texts[k : k + 8] for k in range(0, len(texts), 8)]
    yield compare("encode, texts of 2,000", _vectors_of(own), _vectors_of(ours), batches)


def _features_of(model: Any) -> Callable[[list[str]], dict[str, list[Any]]]:
    def features(texts: list[str]) -> dict[str, list[Any]]:
        tensors = model.preprocess(texts)
        return {name: value.tolist() for name, value in tensors.items() if hasattr(value, "tolist")}

    return features


def _vectors_of(model: Any) -> Callable[[list[str]], list[Any]]:
    return lambda texts: model.encode(texts, show_progress_bar=False).tolist()
