"""Summarize an encode: number of ids, speed, tokenizer, and certified cuts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from tokpar.arrays import byte_length
from tokpar.cli.cuts import Cuts, rule_counts
from tokpar.cli.screen import plural, visible
from tokpar.contract.adapter import later_call_of, loader_of, why_not_compiled
from tokpar.pipeline.call_result import DIVIDED

if TYPE_CHECKING:
    from tokpar.cli.text_files import TextSource
    from tokpar.contract.interfaces import TokenizerAdapter
    from tokpar.results.encoding import Encoding

PACKAGES = {"huggingface": "tokenizers", "pure": "tokpar", "incremental": "tokpar"}
"""The packages of engines whose name differs from the name of their package."""


@dataclass
class Total:
    """The results of the texts of one input, added up."""

    name: str
    tokenizer: str
    texts: int = 0
    ids: int = 0
    code_points: int = 0
    bytes: int = 0
    seconds: float = 0.0
    rules: Counter[str] = field(default_factory=Counter)
    lossless: bool = True
    chunks: int = 0
    at_spaces: bool = False
    """True if the cache cut a text at every certified space."""
    why: str = ""
    """Why the last text was not cut, if it was not cut."""

    def add(self, source: TextSource, encoding: Encoding) -> None:
        """Add one text."""
        self.texts += 1
        self.ids += len(encoding)
        self.code_points += len(source.text)
        self.bytes += byte_length(source.text)
        self.chunks += encoding.report.chunks
        report = encoding.report
        self.why = "it is one segment" if report.plan == DIVIDED else report.why
        self.why = self.why or f"strategy {report.strategy}"
        self.seconds += sum(encoding.report.seconds.values())
        self.rules.update(rule_counts(encoding.seams, source.text))
        self.lossless &= encoding.lossless
        self.at_spaces |= encoding.seams.everywhere is not None

    def join(self, other: Total) -> None:
        """Add all texts of another input."""
        for name in ("texts", "ids", "code_points", "bytes", "seconds", "chunks"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.rules.update(other.rules)
        self.lossless &= other.lossless
        self.at_spaces |= other.at_spaces
        self.why = other.why

    @property
    def summary(self) -> str:
        """The result in one line."""
        parts = [f"{self._amount()}{self._speed()}", f"tokenizer {self.tokenizer}"]
        if self.rules:
            each = "each certified" if self.lossless else "NOT all certified"
            parts.append(f"{Cuts(self.rules, self.chunks, self.at_spaces)}, {each}")
        elif self.texts == 1:
            parts.append(f"not cut: {self.why}")
        parts.append("lossless" if self.lossless else "NOT lossless")
        return f"{visible(self.name)}: " + "; ".join(parts)

    def _amount(self) -> str:
        texts = "" if self.texts == 1 else f"{plural(self.texts, 'text')}, "
        few = plural(self.bytes, "byte")
        size = few if self.bytes < 10_000 else f"{self.bytes / 1e6:,.3g} MB"
        size = f"{plural(self.code_points, 'code point')}, {size}"
        return f"{plural(self.ids, 'id')} of {texts}{size}"

    def _speed(self) -> str:
        if not self.seconds:
            return ""
        speed = f"{self.bytes / 1e6 / self.seconds:,.1f} MB/s, {self.ids / self.seconds:,.0f} ids/s"
        return f", in {self.seconds:.4f} s ({speed})"


def label_of(tokenizer_name: str, tokenizer: TokenizerAdapter) -> str:
    """The tokenizer's name as given, and the package that encodes: "bert.json (tokenizers
    0.23.1)"."""
    return f"{Path(tokenizer_name).name or tokenizer_name} ({engine_of(tokenizer)})"


def describe_loader(tokenizer: TokenizerAdapter) -> str | None:
    """What made the tokenizer of a directory: "AutoTokenizer, class LlamaTokenizer, tokenizers
    0.23.3, transformers 5.24.0". None for a file."""
    loader = loader_of(tokenizer)
    return None if loader is None else str(loader)


def describe_compiled_call(tokenizer: TokenizerAdapter) -> str:
    """Returns "tables made in 1.4 s, kept in ...", and why the engine is asked for new words, if it
    is; or why no compiled call encodes texts: "none, because there is no pre-tokenizer". Waits for
    the tables."""
    later = later_call_of(tokenizer)
    if later is not None:
        later.wait()
    why = why_not_compiled(tokenizer)
    if why or later is None:
        return f"none, because {why}"
    by_engine = later.call.why_by_engine
    asked = f"; new words by the engine, because {by_engine}" if by_engine else ""
    return f"tables {later.tables}{asked}"


def engine_of(tokenizer: TokenizerAdapter) -> str:
    """The package that encodes, with its version: "tokenizers 0.23.1"."""
    engine = tokenizer.name.partition(":")[0]
    package = PACKAGES.get(engine, engine)
    try:
        return f"{package} {metadata.version(package)}"
    except metadata.PackageNotFoundError:  # an adapter of a plugin or of the caller
        return tokenizer.name
