"""The names of tokens, as the `tokens` of the engine's own encodings have them (below 1.0)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from tokpar.process.cached_property import cached_property


class TokenNames(dict[int, "str | None"]):
    """The name of each id of one engine, None for an id whose name depends on the text: an added
    token that takes the spaces beside it, an id of several tokens, an unknown piece of a Unigram
    model. Thread-safe."""

    def __init__(self, engine: Any) -> None:
        self.engine = engine

    def __missing__(self, id_: int) -> str | None:
        name = self[id_] = self._find(id_)
        return name

    def names_of(self, ids: Sequence[int]) -> list[str]:
        """Returns the names of ids. Raises LookupError if one of them depends on the text."""
        names = list(map(self.__getitem__, ids))
        if None in names:
            raise LookupError("the name of a token depends on the text")
        return names  # type: ignore[return-value]  # no None is in it

    def _find(self, id_: int) -> str | None:
        if id_ in self.shared_ids:
            return None
        token = self.added_tokens.get(id_)
        name: str | None = self._model.id_to_token(id_)
        if token is None:
            return name
        if token.lstrip or token.rstrip:
            return None
        content: str = token.content
        if token.normalized and self.engine.normalizer is not None:
            content = self.engine.normalizer.normalize_str(content)
        return content if name is None or name == content else None

    @cached_property
    def _model(self) -> Any:
        return self.engine.model

    @cached_property
    def added_tokens(self) -> dict[int, Any]:
        """The added tokens by id."""
        return dict(self.engine.get_added_tokens_decoder())

    @cached_property
    def shared_ids(self) -> frozenset[int]:
        """The ids that several tokens share, and the id of unknown pieces of a Unigram model."""
        counts = Counter(self.engine.get_vocab(with_added_tokens=False).values())
        shared = {id_ for id_, count in counts.items() if count > 1}
        if type(self.engine.model).__name__ == "Unigram":
            unknown = json.loads(self.engine.model.__getstate__())["unk_id"]
            shared |= set() if unknown is None else {unknown}
        return frozenset(shared)
