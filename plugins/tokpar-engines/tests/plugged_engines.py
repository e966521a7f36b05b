"""An engine as a plugin brings it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from tokpar_engines import Calls, Engine, JsonFile, RankFile

from tokpar.arrays import IdArray
from tokpar.types import Rows


def of_json(tokenizers: Any, file: JsonFile) -> Calls:
    tokenizer = tokenizers.Tokenizer.from_str(file.plain)
    assert tokenizer.truncation is tokenizer.padding is tokenizer.post_processor is None
    return calls(lambda text: tokenizer.encode(text, add_special_tokens=False).ids)


def of_ranks(tokenizers: Any, file: RankFile) -> Calls:
    from tiktoken import Encoding

    from tokpar.formats.formats import read_ranks

    ranks = read_ranks(file.path)
    encoding = Encoding(
        "e", pat_str=file.pattern, mergeable_ranks=ranks, special_tokens=file.special
    )
    return calls(partial(encoding.encode, allowed_special="all"))


def calls(ids: Callable[[str], list[int]]) -> Calls:
    def encode(text: str) -> IdArray:
        return np.array(ids(text), dtype=np.uint32)

    return Calls(encode, lambda texts: Rows.of(map(encode, texts)))


ENGINE = Engine("tokenizers", "0.1", of_json, of_ranks)
