"""Vocabulary files for an engine, with the adapter of each file's own library. The adapter does
everything but encoding: facts, post-processing, spans and decoding."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tokpar import OptionError, load
from tokpar.plugin.tokenizer import (
    AddedToken,
    Facts,
    Origin,
    cached_property,
    facts_of,
    origin_of,
    shipped_pattern,
    traits_of,
)

POSTPROCESS_FLAGS = ("add_special_tokens", "truncation", "padding")
"""Post-processing steps of a file. Each can be left out."""
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
"""The pattern of a ByteLevel, which the file does not contain."""
# settings of stages whose values are not searched in texts
_NAMES = ("type", "behavior", "prepend_scheme")
_APPLIED_ONCE = ("truncation", "padding", "post_processor")


class JsonFile:
    """A ``tokenizer.json``.

    Settings: `add_special_tokens`, `truncation`, `padding`. True means: as the file says. Raises
    OptionError for other settings, FileFormatError, FileNotFoundError."""

    library = "tokenizers"
    forbidden: frozenset[str] = frozenset()

    def __init__(self, path: Path, **settings: Any) -> None:
        _require_flags(settings)
        self.path = path
        self.own: Any = load(path, engine="huggingface", **settings)
        """The adapter of the file in tokenizers."""
        self.facts = _of_known_pattern(facts_of(self.own))
        self._data = path.read_bytes()
        self._flags = {name: settings.get(name, True) for name in POSTPROCESS_FLAGS}

    @property
    def origin(self) -> Origin:
        """The bytes of the file, and the settings of its post-processing, for a checker."""
        return Origin(self._data, self._flags)

    @cached_property
    def config(self) -> dict[str, Any]:
        """The JSON of the file."""
        config: dict[str, Any] = json.loads(self._data)
        return config

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
        return self._data, repr(sorted(self._flags.items()))

    def check_text(self, text: str) -> None:
        """Accepts every text."""


class RankFile:
    """A ``.tiktoken`` file. It has the settings and the errors of tiktoken's adapter."""

    library = "tiktoken"

    def __init__(self, path: Path, settings: Mapping[str, Any]) -> None:
        self.path = path
        self.own: Any = load(path, engine="tiktoken", **settings)
        """The adapter of the file in tiktoken."""
        facts = facts_of(self.own)
        if facts.unprovable is not None:  # which of two special tokens tiktoken takes is chance
            raise OptionError(f"{path}: {facts.unprovable}")
        self.facts = _of_known_pattern(facts)
        self.pattern = facts.patterns[0]
        self.written = (self.pattern,)
        self.added = facts.added_tokens
        self.special = {token.content: token.id for token in facts.added_tokens}
        """The allowed special tokens and their ids."""
        traits = traits_of(self.own)
        assert traits.check_text is not None
        self.check_text, self.forbidden = traits.check_text, traits.forbidden
        self.origin = origin_of(self.own)

    @property
    def key(self) -> tuple[bytes | str, ...]:
        """Everything that the ids depend on."""
        special, forbidden = sorted(self.special.items()), sorted(self.forbidden)
        return self.path.read_bytes(), self.pattern, repr(special), repr(forbidden)


def _require_flags(settings: Mapping[str, Any]) -> None:
    for name, value in settings.items():
        if name not in POSTPROCESS_FLAGS:
            known_names = ", ".join((*POSTPROCESS_FLAGS, "cut", "trust"))
            raise OptionError(f"unknown setting {name!r}; known: {known_names}")
        if not isinstance(value, bool):
            raise OptionError(f"{name} must be True or False, got {value!r}")


def _of_known_pattern(facts: Facts) -> Facts:
    """Returns the facts. They prove nothing if the pattern is not shipped: tokpar asks the
    library of the file about such a pattern, and cannot ask the engine, which has its own."""
    known = shipped_pattern(facts.engine, facts.patterns)
    if facts.unprovable is not None or known is not None or not facts.patterns:
        return facts
    shown = " then ".join(map(repr, facts.patterns))
    return replace(facts, unprovable=f"the pattern {shown} is not shipped")
