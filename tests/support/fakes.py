"""Adapters for tests: a tokenizer nothing is known of, and wrappers that misbehave.

A wrapper shows the facts of what it wraps, so that a provable tokenizer stays one and is split;
around `WordHash`, the default, nothing can be proved. All of them can go to another process.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from tokpar.arrays import IdArray
from tokpar.contract.adapter import EngineTraits, traits_of
from tokpar.contract.interfaces import HasSpec, TokenizerAdapter, facts_of
from tokpar.types import Facts


class Panic(BaseException):
    """What a panicking engine raises: no Exception, as pyo3's PanicException."""


@dataclass(frozen=True)
class WordHash:
    """A hash of each word and of each space run; tells no facts, so it may never be split."""

    name: str = "word hash"

    def encode(self, text: str) -> IdArray:
        words = re.findall(r"\s+|\S+", text)
        hashes = [zlib.crc32(word.encode("utf-8", "surrogatepass")) for word in words]
        return np.array(hashes, dtype=np.uint32)

    def spec(self) -> tuple[Callable[..., TokenizerAdapter], Mapping[str, Any]]:
        return WordHash, {"name": self.name}


@dataclass(frozen=True)
class Wrapper:
    """Another adapter, as it is."""

    inner: TokenizerAdapter = field(default_factory=WordHash, kw_only=True)

    @property
    def name(self) -> str:
        return f"{type(self).__name__} {self.inner.name}"

    @property
    def facts(self) -> Facts:
        return facts_of(self.inner)

    @property
    def traits(self) -> EngineTraits:
        return replace(traits_of(self.inner), check_text=None, wants_one_thread=None)

    def encode(self, text: str) -> IdArray:
        return self.inner.encode(text)

    def spec(self) -> tuple[Callable[..., TokenizerAdapter], Mapping[str, Any]]:
        assert isinstance(self.inner, HasSpec), f"{self.inner.name} cannot go to another process"
        own = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "inner"}
        return rebuilt, {"kind": type(self), "inner": self.inner.spec(), "own": own}


def rebuilt(
    kind: type[Wrapper],
    inner: tuple[Callable[..., TokenizerAdapter], Mapping[str, Any]],
    own: Mapping[str, Any],
) -> Wrapper:
    """The wrapper that a `spec` describes."""
    make, settings = inner
    return kind(inner=make(**settings), **own)


@dataclass(frozen=True)
class RaisesOn(Wrapper):
    """Raises ValueError on texts with the marker."""

    marker: str = "\x07"

    def encode(self, text: str) -> IdArray:
        if self.marker in text:
            raise ValueError(f"cannot encode {self.marker!r} at {text.index(self.marker)}")
        return self.inner.encode(text)


@dataclass(frozen=True)
class PanicsOn(Wrapper):
    """Panics, with a BaseException, on texts with the marker."""

    marker: str = "\x07"

    def encode(self, text: str) -> IdArray:
        if self.marker in text:
            raise Panic(f"panicked at {text.index(self.marker)}")
        return self.inner.encode(text)


@dataclass(frozen=True)
class FailsWithout(Wrapper):
    """Raises ValueError on texts without the marker, on most slices of a text then."""

    marker: str = "\x07"

    def encode(self, text: str) -> IdArray:
        if self.marker not in text:
            raise ValueError(f"no {self.marker!r}")
        return self.inner.encode(text)
