"""The engine's own `tokenizers.Encoding` objects of a result, made only when somebody asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from tokpar.adapters.hf_copy import private_copy


class LazyEncodings(Sequence[Any]):
    """The encodings of `count` texts: `make` gives them all, at the first question."""

    def __init__(self, make: Callable[[], list[Any]], count: int) -> None:
        self._make = make
        self._count = count

    @cached_property
    def _own_encodings(self) -> list[Any]:
        return self._make()

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, k: Any) -> Any:
        return self._own_encodings[k]

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = None  # type: ignore[assignment]  # as the list that it stands for

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (self._own_encodings,)


def own_encodings(
    engine: Any,
    texts: Sequence[str],
    add_special_tokens: bool,
    truncation: Mapping[str, Any] | None,
    padding: Mapping[str, Any] | None,
) -> list[Any]:
    """What `engine`, a `tokenizers.Tokenizer`, gives for the texts with these settings, which are
    set on a copy: other threads may be using `engine`."""
    copy, _ = private_copy(engine)
    if truncation is not None:
        copy.enable_truncation(**truncation)
    if padding is not None:
        copy.enable_padding(**padding)
    encodings: list[Any] = copy.encode_batch(list(texts), add_special_tokens=add_special_tokens)
    return encodings
