"""Loads the tokenizer of a corpus without truncation and padding, and finds its BOS and EOS."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from tokpar import __version__, load
from tokpar.contract.adapter import inserted_ids, loader_of, special_ids_of, vocabulary_of
from tokpar.contract.interfaces import Decodes, TokenizerAdapter, facts_of
from tokpar.errors import OptionError
from tokpar.formats.vocabulary import Vocabulary
from tokpar.types import AddedToken, Rows
from tokpar_corpus.manifest import TokenizerRecord

_WHOLE = {"truncation": False, "padding": False}
_CONFIGS = ("tokenizer_config.json", "special_tokens_map.json")
ROLES = {"bos": "bos_token", "eod": "eos_token"}
"""The names in transformers of the tokens that --bos and --append-eod insert."""


@runtime_checkable
class IdentifiedTokenizer(Protocol):
    """An adapter that a manifest can identify. `fingerprint`: None if it has none."""

    @property
    def fingerprint(self) -> str | None: ...

    @property
    def vocabulary_size(self) -> int: ...


@dataclass(frozen=True)
class CorpusTokenizer:
    """An adapter, with its data for a manifest. `source`: the object that the caller gave."""

    adapter: TokenizerAdapter
    source: object

    def record(self) -> TokenizerRecord:
        """Returns the record of the tokenizer for a manifest. Raises OptionError for a tokenizer
        without a fingerprint."""
        adapter = self.adapter
        digest = adapter.fingerprint if isinstance(adapter, IdentifiedTokenizer) else None
        if digest is None or not isinstance(adapter, IdentifiedTokenizer):
            raise OptionError(
                f"{adapter.name} has no fingerprint, which a manifest needs: load it from a file, "
                "without components written in Python"
            )
        source = self.source
        return TokenizerRecord(
            source=os.fspath(source) if isinstance(source, (str, os.PathLike)) else adapter.name,
            fingerprint=digest,
            engine=engine_of(adapter),
            engine_version=_version(engine_of(adapter)),
            vocabulary_size=adapter.vocabulary_size,
            loader=loader_of(adapter),
        )

    def own_ids(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Returns the ids that the tokenizer's own call puts before and after a text.

        Raises OptionError if the own call does more after encoding."""
        adapter = self.adapter
        inserted = inserted_ids(adapter)
        if inserted is None:
            raise OptionError(
                f"{adapter.name} does more after encoding than to insert ids (it cuts, pads, or "
                "its post-processor is unknown): give --bos or --no-bos, which leave that out"
            )
        return tuple(inserted[0].tolist()), tuple(inserted[1].tolist())

    def special_id(self, role: str, token: str | int | None) -> int:
        """Returns the id for `role`, which is "bos" or "eod". `token`: the text or the id of the
        token; None: the token that the settings of the tokenizer name. Raises OptionError."""
        if token is None:
            found = self._named_id(role)
            if found is None:
                raise OptionError(
                    f"{self.adapter.name} does not tell its {ROLES[role]}: name the token by "
                    f"--{role}-token TEXT or --{role}-token ID"
                )
            return found
        text = str(token)
        if isinstance(token, int) or (text.isascii() and text.isdigit()):
            return self._require_id(int(text), role)
        return self._id_of(text, f"--{role}-token")

    def _named_id(self, role: str) -> int | None:
        """Returns the id for `role` from the settings of the tokenizer, or None. Looks in the
        caller's object, and in the files next to tokenizer.json."""
        found = special_ids_of(self.adapter).get(ROLES[role])
        if found is not None:
            return found
        text = next(filter(None, (each.get(ROLES[role]) for each in self._configs())), None)
        text = text.get("content") if isinstance(text, Mapping) else text
        return None if text is None else self._id_of(str(text), ROLES[role])

    def _configs(self) -> Iterator[Mapping[str, Any]]:
        if not isinstance(self.source, (str, os.PathLike)):
            return
        path = Path(self.source)
        folder = path if path.is_dir() else path.parent
        for name in _CONFIGS if path.exists() else ():
            if (folder / name).is_file():
                yield json.loads((folder / name).read_text(encoding="utf-8"))

    def _id_of(self, text: str, what: str) -> int:
        for token in (*facts_of(self.adapter).added_tokens, *self._tokens_of_tiktoken()):
            if token.content == text:
                return token.id
        ids = self.adapter.encode(text).tolist()
        decodes = self.adapter.decode if isinstance(self.adapter, Decodes) else None
        if len(ids) == 1 and (decodes is None or decodes(ids) == text):
            return int(ids[0])
        raise OptionError(f"{what}: {text!r} is no token of {self.adapter.name}")

    def _tokens_of_tiktoken(self) -> tuple[AddedToken, ...]:
        """The special tokens of an encoding, also those that a text must not hold."""
        vocabulary = vocabulary_of(self.adapter) if engine_of(self.adapter) == "tiktoken" else None
        return vocabulary.added if isinstance(vocabulary, Vocabulary) else ()

    def _require_id(self, id_: int, role: str) -> int:
        size = (
            self.adapter.vocabulary_size if isinstance(self.adapter, IdentifiedTokenizer) else None
        )
        if size is not None and id_ >= size:
            raise OptionError(f"--{role}-token: the vocabulary has ids below {size:,}, got {id_:,}")
        return id_


def load_for_corpus(
    source: object, engine: str | None, settings: Mapping[str, Any]
) -> CorpusTokenizer:
    """Returns the tokenizer. Switches truncation and padding off if this kind of tokenizer has
    them.

    Raises the errors of `tokpar.load`."""
    try:
        return CorpusTokenizer(load(source, engine=engine, **settings, **_WHOLE), source)
    except OptionError as error:
        if not any(f"{name!r}" in str(error) for name in _WHOLE):  # not about these two settings
            raise
    return CorpusTokenizer(load(source, engine=engine, **settings), source)


def engine_of(adapter: TokenizerAdapter) -> str:
    """Returns the name of the package that encodes: "tokenizers", "tiktoken", "gigatoken"."""
    prefix = adapter.name.partition(":")[0]
    return {"huggingface": "tokenizers"}.get(prefix, prefix)


def _version(engine: str) -> str:
    from importlib import metadata

    try:
        return metadata.version(engine)
    except metadata.PackageNotFoundError:
        return __version__


def surround_rows(
    rows: Rows, prefix: tuple[int, ...], suffix: tuple[int, ...], eod: int | None
) -> Rows:
    """Returns `rows` with `prefix` before and `suffix` after each row, and then `eod` after each
    row that has ids.

    >>> surround_rows(Rows.of([[7], []]), (1,), (), 2).offsets.tolist()
    [0, 3, 5]
    """
    if not prefix and not suffix and eod is None:
        return rows
    lengths = np.diff(rows.offsets)
    before, after = len(prefix), len(suffix)
    ended = np.zeros(len(rows), dtype=np.int64)
    if eod is not None:
        ended += lengths + before + after > 0
    whole = lengths + before + after + ended
    offsets = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum(whole, out=offsets[1:])
    ids = np.empty(int(offsets[-1]), dtype=np.uint32)
    shift = np.repeat(offsets[:-1] + before - rows.offsets[:-1], lengths)
    ids[np.arange(len(rows.ids)) + shift] = rows.ids
    for k, id_ in enumerate(prefix):
        ids[offsets[:-1] + k] = id_
    for k, id_ in enumerate(suffix):
        ids[offsets[:-1] + before + lengths + k] = id_
    if eod is not None:
        ids[offsets[1:][ended > 0] - 1] = eod
    return Rows(ids, offsets)
