"""What a call returns: columns as lists, numpy arrays or torch tensors."""

from collections import UserDict
from collections.abc import Sequence
from importlib import import_module
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
            import_module("torch")
        except ImportError as error:
            raise ImportError(
                "return_tensors='pt' needs PyTorch: pip install torch, or use return_tensors='np'"
            ) from error


def shaped(name: str, column: Sequence[IntArray], kind: str | None) -> Any:
    """A column as a call returns it: lists of ints, and of (start, stop) for offsets; or an array
    or tensor, int64, and a numpy array of arrays where texts differ in length. "length": how many
    ids each text has, padding included. OptionError where texts make no torch tensor."""
    lengths = [len(values) for values in column]
    if name == "length":
        return lengths if kind is None else _stacked(np.array(lengths, dtype=np.int64), kind)
    if kind is None:
        return [
            list(map(tuple, values.tolist())) if values.ndim == 2 else values.tolist()
            for values in column
        ]
    some = [values if len(values) else values.reshape(0) for values in column]
    if len(set(lengths)) == 1:
        return _stacked(np.stack(some), kind)
    if kind == "pt":
        raise OptionError(
            f"texts of different lengths make no tensor of {name!r}: pass padding=True, or "
            "truncation=True with a max_length"
        )
    ragged = np.empty(len(column), dtype=object)
    for i, values in enumerate(some):
        ragged[i] = values if len(values) else np.asarray([])
    return ragged


def _stacked(array: IntArray, kind: str) -> Any:
    return array if kind == "np" else import_module("torch").from_numpy(array)
