"""What a call returns: columns as lists, numpy arrays or torch tensors."""

from __future__ import annotations

from collections import UserDict
from collections.abc import Sequence
from typing import Any

import numpy as np

from tokpar.errors import OptionError
from tokpar.kernels import IntArray

BY_NUMBER = (
    "a view returns columns, such as batch['input_ids'], and no tokenizers.Encoding by number: "
    "call the tokenizer itself for those, got "
)


class Batch(UserDict[str, Any]):
    """Columns by name, `batch["input_ids"]` or `batch.input_ids`, as in transformers'
    BatchEncoding, for tokenizers that transformers has no part in."""

    def __getattr__(self, name: str) -> Any:
        columns = self.__dict__.get("data", {})  # none yet while it is being copied or unpickled
        if name in columns:
            return columns[name]
        raise AttributeError(f"no column {name!r}; columns: {', '.join(columns)}")

    def __getitem__(self, name: str) -> Any:
        if not isinstance(name, str):
            raise OptionError(f"{BY_NUMBER}[{name!r}]")
        return self.data[name]


def check_tensors(kind: str | None) -> None:
    """ImportError if torch tensors are wanted and torch is not installed."""
    if kind == "pt":
        try:
            import torch  # type: ignore[import-not-found, unused-ignore]  # noqa: F401
        except ImportError as error:
            raise ImportError(
                "return_tensors='pt' needs PyTorch: pip install torch, or use return_tensors='np'"
            ) from error


def lists(column: Sequence[IntArray]) -> list[list[Any]]:
    """Lists of ints, and of (start, stop) for offsets."""
    return [
        list(zip(values[:, 0].tolist(), values[:, 1].tolist(), strict=True))
        if values.ndim == 2
        else values.tolist()
        for values in column
    ]


def tensor(name: str, column: Sequence[IntArray], kind: str) -> Any:
    """One array or tensor, int64; a numpy array of arrays where texts differ in length.

    Raises ValueError where torch tensors would have to.
    """
    if len({len(values) for values in column}) == 1:
        stacked = np.stack([values if len(values) else values.reshape(0) for values in column])
        return stacked if kind == "np" else _torch(stacked)
    if kind == "pt":
        raise OptionError(
            f"texts of different lengths make no tensor of {name!r}: pass padding=True, or "
            "truncation=True with a max_length"
        )
    ragged = np.empty(len(column), dtype=object)
    for i, values in enumerate(column):
        ragged[i] = values if len(values) else np.asarray([])
    return ragged


def lengths(column: Sequence[IntArray], kind: str | None) -> Any:
    """How many ids each text has, padding included."""
    counts = [len(values) for values in column]
    if kind is None:
        return counts
    stacked = np.array(counts, dtype=np.int64)
    return stacked if kind == "np" else _torch(stacked)


def _torch(array: IntArray) -> Any:
    import torch

    return torch.from_numpy(array)
