"""FlagEmbedding: `FlagModel.encode` and `FlagReranker.compute_score` of pairs, patched by
`patch_transformers`. The network is left out: in its place stands a function of the ids and of the
mask, so all ids are compared, and the time is that of FlagEmbedding's own tokenizing calls."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.programs.documents import documents
from tests.programs.turns import Row, compare
from tests.programs.unigram_files import save_roberta

INSTALL = ("flagembedding==1.4.2", "transformers==4.57.6", "datasets==4.4.1", "torch==2.13.0")
VERSIONS = ("flagembedding", "transformers", "torch")


def rows() -> Iterator[Row]:
    import torch
    from FlagEmbedding import FlagModel, FlagReranker

    import tokpar

    torch.set_num_threads(1)
    settings = {"use_fp16": False, "devices": ["cpu"]}
    with tempfile.TemporaryDirectory() as made:
        first, second = Path(made, "embedder"), Path(made, "reranker")
        names = save_roberta(first), save_roberta(second, "AutoModelForSequenceClassification")
        own = FlagModel(names[0], **settings), FlagReranker(names[1], **settings)
        with tokpar.patch_transformers():
            ours = FlagModel(names[0], **settings), FlagReranker(names[1], **settings)
        for model in (*own, *ours):
            model.model = _network()
        yield compare(
            "FlagModel.encode, passages of 400", *map(_vectors_of, (own[0], ours[0])), _batches(0)
        )
        pairs = [[(texts[0][:60], text) for text in texts] for texts in _batches(1)]
        yield compare(
            "FlagReranker.compute_score, passages of 400",
            *map(_scores_of, (own[1], ours[1])),
            pairs,
        )


def _batches(share: int) -> list[list[str]]:
    texts = [
        text[k : k + 400] for text in documents(12_000, 24, share) for k in range(0, 12_000, 400)
    ]
    return [texts[k : k + 64] for k in range(0, len(texts), 64)]


def _network() -> Any:
    import torch

    class Network(torch.nn.Module):
        def forward(self, input_ids: Any, attention_mask: Any, **settings: Any) -> Any:
            places = torch.arange(1.0, input_ids.shape[1] + 1, dtype=torch.float64)
            weighed = (input_ids * attention_mask).double() * torch.sin(places)
            sums = weighed.sum(dim=1, keepdim=True)
            return SimpleNamespace(last_hidden_state=sums[:, None, :], logits=sums)

    return Network()


def _vectors_of(model: Any) -> Callable[[list[str]], list[Any]]:
    model.normalize_embeddings = False
    return lambda texts: model.encode(texts, batch_size=64, max_length=512).tolist()


def _scores_of(model: Any) -> Callable[[list[tuple[str, str]]], list[float]]:
    return lambda pairs: model.compute_score(pairs, batch_size=64, max_length=512)
