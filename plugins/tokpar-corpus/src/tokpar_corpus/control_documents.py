"""Finds documents that spell a control token such as `<|endoftext|>`, and encodes them as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tokpar import Encoder
from tokpar.arrays import IdArray
from tokpar.contract.adapter import inserted_ids, trust_parts_of
from tokpar.contract.interfaces import TokenizerAdapter, facts_of
from tokpar.errors import OptionError
from tokpar.process.cached_property import cached_property
from tokpar.types import Rows
from tokpar_corpus.shards import RawIds

UNTRUSTED = ("text", "refuse")
"""What `--untrusted` does with documents that spell a control token."""


@dataclass(frozen=True, eq=False)
class ControlIds:
    """The ids of control tokens -> their contents: as `Encoder.encode` has them by default, or, for
    an engine without untrusted text, the special tokens."""

    contents: Mapping[int, str]

    @classmethod
    def of(cls, tokenizer: TokenizerAdapter) -> ControlIds:
        parts = trust_parts_of(tokenizer)
        if parts is None:
            added = [token for token in facts_of(tokenizer).added_tokens if token.special]
        else:
            added = [token for token in parts.added_tokens if token.content in parts.default]
        return cls({token.id: token.content for token in added})

    @cached_property
    def _is_control(self) -> NDArray[np.bool_]:
        found = np.zeros(max(self.contents, default=0) + 2, np.bool_)
        found[list(self.contents)] = True
        return found

    def rows_in(self, rows: Rows) -> list[int]:
        """Returns the numbers of the rows that have a control token's id."""
        last = len(self._is_control) - 1  # the place of all higher ids
        places = np.flatnonzero(self._is_control[np.minimum(rows.ids, last)])
        found = np.searchsorted(rows.offsets, places, side="right") - 1
        return [int(row) for row in np.unique(found)]

    def first_in(self, ids: RawIds) -> str:
        """Returns the content of the first control token in the ids of a document."""
        return next(self.contents[id_] for id_ in ids.tolist() if id_ in self.contents)


def plain_tokenizer(adapter: TokenizerAdapter) -> TokenizerAdapter:
    """The adapter that encodes the text between special tokens, for an engine that looks for them
    only if it is told to."""
    allowing: Callable[[frozenset[str]], TokenizerAdapter] | None
    allowing = getattr(adapter, "allowing", None)
    return adapter if allowing is None else allowing(frozenset())


@dataclass(frozen=True, slots=True)
class UntrustedBatch:
    """The ids of texts that cannot spell a control token."""

    rows: Rows


class UntrustedEncoder:
    """Encodes texts that cannot spell a control token: with the members of `Encoder` that builds
    and audits use. Only texts whose ids have a control token are encoded again, because without one
    an untrusted text has the ids of a trusted one."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._control = ControlIds.of(encoder.tokenizer)

    @property
    def tokenizer(self) -> TokenizerAdapter:
        return self._encoder.tokenizer

    def unprocessed_batch(
        self, texts: Sequence[str], tokenizer: TokenizerAdapter
    ) -> UntrustedBatch:
        """Returns the ids of `texts` before special tokens. Raises OptionError for an engine that
        has no untrusted text, ControlTokenError."""
        rows = self._encoder.unprocessed_batch(texts, tokenizer).rows
        spelt = set(self.spelt_in(texts, rows))
        if not spelt:
            return UntrustedBatch(rows)
        own = [self.encode(texts[k]) if k in spelt else rows[k] for k in range(len(rows))]
        return UntrustedBatch(Rows.of(own))

    def spelt_in(self, texts: Sequence[str], rows: Rows) -> list[int]:
        """Returns the numbers of the texts that spell a control token. `rows`: their ids, which
        have its id; a model may give it for another text, as WordPiece gives that of [UNK]."""
        return [row for row in self._control.rows_in(rows) if self._spells(texts[row])]

    def first_in(self, ids: RawIds) -> str:
        """Returns the content of the first control token in the ids of a document."""
        return self._control.first_in(ids)

    def _spells(self, text: str) -> bool:
        try:
            return bool(self._encoder.trusted_encoder().matches(text, []))
        except OptionError:  # an engine without untrusted text
            return any(content in text for content in self._control.contents.values())

    def require_text(self) -> None:
        """Raises OptionError if the tokenizer cannot encode control tokens as text."""
        self._encoder.trusted_encoder().engine_for("")
        self.encode("")

    def encode(self, text: str) -> IdArray:
        """Returns the ids of one text before special tokens. Raises as `unprocessed_batch`."""
        inserted = inserted_ids(self.tokenizer)
        if inserted is None:
            raise OptionError(
                f"--untrusted text: {self.tokenizer.name} does more after encoding than to insert "
                "ids (it cuts, pads, or its post-processor is unknown)"
            )
        ids = self._encoder.trusted_encoder().encode(text, [(0, len(text))] if text else []).ids
        return ids[len(inserted[0]) : len(ids) - len(inserted[1])]
