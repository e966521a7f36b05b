"""litgpt: its `Tokenizer`, which opens a `tokenizer.json`, unchanged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tests.programs.documents import documents
from tests.programs.tokenizer_files import directory
from tests.programs.turns import Row, compare

INSTALL = ("litgpt==0.5.13", "torch==2.13.0")
VERSIONS = ("litgpt", "tokenizers", "torch")


def rows() -> Iterator[Row]:
    from litgpt.tokenizer import Tokenizer

    import tokpar

    own = Tokenizer(directory())
    with tokpar.patch_tokenizers():
        ours = Tokenizer(directory())
    yield compare("Tokenizer.encode", _ids_of(own), _ids_of(ours), documents())


def _ids_of(tokenizer: Any) -> Callable[[str], list[int]]:
    return lambda text: tokenizer.encode(text, bos=False, eos=True).tolist()
