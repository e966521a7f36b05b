"""torchtitan: its `HuggingFaceTokenizer`, which opens a `tokenizer.json`, unchanged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tests.programs.documents import documents
from tests.programs.tokenizer_files import directory
from tests.programs.turns import Row, compare

INSTALL = ("torchtitan==0.3.0", "torch==2.13.0")
VERSIONS = ("torchtitan", "tokenizers", "torch")


def rows() -> Iterator[Row]:
    from torchtitan.components.tokenizer import HuggingFaceTokenizer

    import tokpar

    own = HuggingFaceTokenizer(tokenizer_path=directory())
    with tokpar.patch_tokenizers():
        ours = HuggingFaceTokenizer(tokenizer_path=directory())
    yield compare("HuggingFaceTokenizer.encode", _ids_of(own), _ids_of(ours), documents())


def _ids_of(tokenizer: Any) -> Callable[[str], list[int]]:
    return lambda text: list(tokenizer.encode(text))
