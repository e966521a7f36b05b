"""Vocabulary files for `engine`: everything but encoding, such as facts, post-processing and
decoding."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tokpar.adapters import hf_version, tiktoken
from tokpar.adapters.hf_postprocess import Padding, PostProcess, Truncation
from tokpar.adapters.settings import POSTPROCESS_FLAGS, flags
from tokpar.arrays import IdArray, SpanArray
from tokpar.errors import FileFormatError, OptionError
from tokpar.facts.families import GPT2
from tokpar.facts.hf_facts import facts_with_tokens, token_lengths
from tokpar.facts.token_lengths import TokenLengths
from tokpar.interfaces import TokenizerAdapter
from tokpar.pure.formats import read_config
from tokpar.pure.postprocess import read_postprocess
from tokpar.types import AddedToken, DecodingParts, Facts, Origin, Rows

if TYPE_CHECKING:
    from tokpar.adapters.hf_version import FileAdapter

_APPLIED_ONCE = ("truncation", "padding", "post_processor")
# settings of stages whose values are not searched in texts
_NAMES = ("type", "behavior", "prepend_scheme")


class JsonFile:
    """A ``tokenizer.json``.

    Settings: `add_special_tokens`, `truncation`, `padding`. True means: as the file says. Raises
    OptionError for other settings, FileFormatError, FileNotFoundError."""

    library = "tokenizers"

    def __init__(self, path: Path, **settings: Any) -> None:
        self.path = path
        self._settings = flags(settings, (*POSTPROCESS_FLAGS, "cut", "trust"))
        self._data = path.read_bytes()
        self.config = read_config(path)
        postprocess_flags = {name: self._settings.get(name, True) for name in POSTPROCESS_FLAGS}
        try:
            postprocess = _postprocess(self.config, postprocess_flags)
            self.facts = facts_with_tokens(self.config)
        except FileFormatError as error:
            raise FileFormatError(f"{path}: {error}") from None
        except (AttributeError, KeyError, TypeError) as error:
            raise FileFormatError(f"{path} is no tokenizer.json: {error!r} is missing") from error
        self.postprocess, self.pads = postprocess.rows, postprocess.pads
        self.special_tokens = postprocess.special_tokens
        self.truncates_to = postprocess.truncates_to

    @property
    def origin(self) -> Origin:
        """The bytes of the file, and the settings of its post-processing, for a checker."""
        return Origin(
            self._data, {name: self._settings.get(name, True) for name in POSTPROCESS_FLAGS}
        )

    @property
    def added(self) -> tuple[AddedToken, ...]:
        """The added tokens with their flags."""
        return self.facts.added_tokens

    @property
    def written(self) -> tuple[str, ...]:
        """The patterns and other strings in the settings of normalizer and pre-tokenizer."""
        found: dict[str, None] = {}
        todo = [self.config.get("normalizer"), self.config.get("pre_tokenizer")]
        while todo:
            match todo.pop():
                case list(items):
                    todo += items
                case dict(stage):
                    todo += [value for name, value in stage.items() if name not in _NAMES]
                case str(text):
                    found[text] = None
        return (*found, *[GPT2] * ("ByteLevel" in repr(self.config.get("pre_tokenizer"))))

    @property
    def plain(self) -> str:
        """The JSON of the file without truncation, padding and post-processor."""
        if not any(self.config.get(name) for name in _APPLIED_ONCE):
            return self._data.decode("utf-8")
        return json.dumps({**self.config, **dict.fromkeys(_APPLIED_ONCE)}, ensure_ascii=False)

    @property
    def key(self) -> tuple[bytes | str, ...]:
        """Everything that the ids depend on."""
        return self._data, repr(sorted(self._settings.items()))

    @property
    def fingerprint(self) -> str | None:
        """The fingerprint of the file in its own library; None for components written in Python."""
        return self._own.fingerprint

    @property
    def vocabulary_size(self) -> int:
        """The highest id plus one; at least the number of tokens."""
        return self._own.vocabulary_size

    def reference(self) -> FileAdapter:
        """Returns the adapter of the file's own library."""
        adapter = hf_version.load(self.path, **self._settings)
        assert adapter is not None
        return adapter

    forbidden: frozenset[str] = frozenset()

    def check_text(self, text: str) -> None:
        """Accepts every text."""

    def locate(self, ids: IdArray, text: str) -> SpanArray:
        if self._lengths is not None:
            return self._lengths.spans(ids, text)
        return self._own.locate(ids, text)

    def decode(self, ids: Sequence[int]) -> str:
        return self._own.decode(ids)

    def decoding_parts(self, skip_special_tokens: bool) -> DecodingParts:
        return self._own.decoding_parts(skip_special_tokens)

    @cached_property
    def _lengths(self) -> TokenLengths | None:
        return token_lengths(self.config) if self.facts.tiles else None

    _own = cached_property(reference)


class RankFile:
    """A ``.tiktoken`` file. It has the settings and the errors of tiktoken's adapter."""

    library = "tiktoken"

    def __init__(self, path: Path, settings: Mapping[str, Any]) -> None:
        adapter = tiktoken.load(path, **settings)
        assert isinstance(adapter, tiktoken.TiktokenTokenizer)
        self.path = path
        self._adapter = adapter
        self.facts: Facts = adapter.facts
        if self.facts.family is None:  # an engine that tokpar cannot ask runs the pattern
            unknown = f"the pattern is of no known family: {adapter.facts.patterns[0]!r}"
            self.facts = replace(self.facts, unprovable=self.facts.unprovable or unknown)
        self.pattern: str = adapter.facts.patterns[0]
        self.written = (self.pattern,)
        self.added = self.facts.added_tokens
        self.special = {token.content: token.id for token in self.facts.added_tokens}
        """The allowed special tokens and their ids."""
        hidden = tiktoken.shadowed_reason(adapter.encoding._special_tokens, frozenset(self.special))
        if hidden is not None:
            raise OptionError(f"{path}: {hidden}")
        self.check_text, self.forbidden = adapter.check_text, adapter.traits.forbidden
        self.decode, self.locate = adapter.decode, adapter.locate
        self.decoding_parts = adapter.decoding_parts
        self.special_tokens = np.empty(0, np.uint32), np.empty(0, np.uint32)
        self.origin = adapter.origin
        self.truncates_to: int | None = None
        self.pads = False

    @property
    def key(self) -> tuple[bytes | str, ...]:
        """Everything that the ids depend on."""
        special, forbidden = sorted(self.special.items()), sorted(self.forbidden)
        return self.path.read_bytes(), self.pattern, repr(special), repr(forbidden)

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the encoding in tiktoken."""
        return self._adapter.fingerprint

    @property
    def vocabulary_size(self) -> int:
        """The highest id plus one."""
        return self._adapter.vocabulary_size

    def reference(self) -> TokenizerAdapter:
        """Returns the adapter of the file's own library."""
        return self._adapter

    def postprocess(self, rows: Rows) -> Rows:
        return rows


def _postprocess(config: Mapping[str, Any], postprocess_flags: Mapping[str, bool]) -> PostProcess:
    read = read_postprocess(config, **postprocess_flags)
    side = "left" if read.keeps_end else "right"
    cut = None if read.limit is None else Truncation(read.limit, "longest_first", side, 0)
    pad_side = "left" if read.pads_start else "right"
    padding = None if read.pad is None else Padding(read.length, read.multiple, pad_side, read.pad)
    prefix, suffix = (np.array(ids, dtype=np.uint32) for ids in (read.prefix, read.suffix))
    return PostProcess(prefix, suffix, cut, padding)
