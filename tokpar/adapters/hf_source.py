"""What the caller gave: a tokenizer object, its wrapper, a file, or a parsed file."""

from __future__ import annotations

import json
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from tokpar.adapters.engine_batches import call_batch, pad_batch
from tokpar.adapters.settings import DirectoryTokenizer, path_of, refusing
from tokpar.arrays import IdArray


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller's tokenizer.

    `wrapper`: the transformers tokenizer around `own`, or None. `is_fixed`: True for a tokenizer
    from a file or a directory, which nobody else holds; its calls go to `own`. `was_trained`: its
    model was changed in place, see `hf_kept`. `loader`: the `Loader` of a directory, or None.
    `file_bytes`: the bytes of the file, or None."""

    own: Any
    wrapper: Any = None
    is_fixed: bool = False
    was_trained: bool = False
    file_bytes: Any = field(default=None, repr=False, compare=False)
    loader: Any = None

    @property
    def native(self) -> Any:
        """The object whose call encodes: `own`, or the transformers tokenizer of a caller."""
        return self.own if self.wrapper is None or self.is_fixed else self.wrapper

    def ids(self, text: str, add_special_tokens: bool) -> IdArray:
        """Returns the ids that the caller gets for one text."""
        native = self.native
        found = native.encode(text, add_special_tokens=add_special_tokens)
        return id_array(found.ids if native is self.own else found)

    def batch(self, texts: Sequence[str], add_special_tokens: bool) -> list[IdArray]:
        """Returns the ids that the caller gets for several texts in one call."""
        if self.native is not self.own:
            return [self.ids(text, add_special_tokens) for text in texts]
        call = self.own.encode_batch
        encodings = call_batch(call, texts, add_special_tokens=add_special_tokens)
        pad_batch(self.own, encodings)
        return [id_array(encoding.ids) for encoding in encodings]


def caller_of(source: object) -> Caller | None:
    """Returns what `source` is, or None if it is nothing of tokenizers below 1.0."""
    if isinstance(source, Mapping):
        return Caller(Tokenizer.from_str(json.dumps(source)), is_fixed=True)
    if isinstance(source, Tokenizer):
        return Caller(source)
    loader = source.loader if isinstance(source, DirectoryTokenizer) else None
    if isinstance(source, DirectoryTokenizer) and source.tokenizer is not None:
        own = source.tokenizer.backend_tokenizer
        return Caller(own, wrapper=source.tokenizer, is_fixed=True, loader=loader)
    path = path_of(source, ".json")
    if path is not None:
        data = path.read_bytes()
        with refusing(path):
            own = Tokenizer.from_str(data.decode("utf-8"))
            return Caller(own, is_fixed=True, loader=loader, file_bytes=data)
    backend = getattr(source, "backend_tokenizer", None)
    return Caller(backend, wrapper=source) if isinstance(backend, Tokenizer) else None


def id_array(ids: list[int]) -> IdArray:
    return np.frombuffer(array("I", ids), dtype=np.uint32)
