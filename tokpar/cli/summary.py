"""Say what an encode did: how many ids, how fast, by which tokenizer, and what was certified."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tokpar.cli.screen import plural
from tokpar.kernels import byte_length
from tokpar.seams import Seams

if TYPE_CHECKING:
    from tokpar.cli.texts import Source
    from tokpar.encoding import Encoding
    from tokpar.interfaces import TokenizerAdapter
    from tokpar.types import Report

PACKAGES = {"huggingface": "tokenizers", "pure": "tokpar", "incremental": "tokpar"}
"""Of engines that have another name than their package."""


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
    has_segments: bool = False
    """The cache divided texts further: its segments are what the seams are between."""
    report: Report | None = None
    """Of the last text."""

    def add(self, source: Source, encoding: Encoding) -> None:
        """One more text."""
        self.texts += 1
        self.ids += len(encoding)
        self.code_points += len(source.text)
        self.bytes += byte_length(source.text)
        self.report = encoding.report
        self.seconds += sum(encoding.report.seconds.values())
        self.rules.update(rule_counts(encoding.seams, source.text))
        self.lossless &= encoding.lossless
        self.has_segments |= encoding.seams.everywhere is not None

    @property
    def summary(self) -> str:
        """The result in one line."""
        parts = [f"{self._amount()}{self._speed()}", f"tokenizer {self.tokenizer}"]
        if self.report is not None and self.texts == 1:
            parts.append(_way(self.report, bool(self.rules)))
        if self.rules:
            between = "segments" if self.has_segments else "chunks"
            counts = ", ".join(f"{count:,} {rule}" for rule, count in sorted(self.rules.items()))
            each = "each certified" if self.lossless else "NOT all certified"
            seams = plural(sum(self.rules.values()), "seam")
            parts.append(f"{seams} between {between}, {each} ({counts})")
        parts.append("lossless" if self.lossless else "NOT lossless")
        return f"{self.name}: " + "; ".join(parts)

    def _amount(self) -> str:
        texts = "" if self.texts == 1 else f"{plural(self.texts, 'text')}, "
        megabytes = f"{self.bytes / 1e6:,.3g} MB"
        return f"{plural(self.ids, 'id')} of {texts}{plural(self.code_points, 'code point')}, {megabytes}"

    def _speed(self) -> str:
        if not self.seconds:
            return ""
        speed = f"{self.bytes / 1e6 / self.seconds:,.1f} MB/s, {self.ids / self.seconds:,.0f} ids/s"
        return f", in {self.seconds:.4f} s ({speed})"


def _way(report: Report, has_seams: bool) -> str:
    if report.chunks > 1:
        return plural(report.chunks, "chunk")
    return report.plan if has_seams else f"serial: {report.why}"


def label_of(given: str, tokenizer: TokenizerAdapter) -> str:
    """The tokenizer that was asked for, and who encodes: "bert.json (tokenizers 0.23.1)"."""
    return f"{Path(given).name or given} ({engine_of(tokenizer)})"


def engine_of(tokenizer: TokenizerAdapter) -> str:
    """The package that encodes, with its version: "tokenizers 0.23.1"."""
    engine = tokenizer.name.partition(":")[0]
    package = PACKAGES.get(engine, engine)
    try:
        return f"{package} {metadata.version(package)}"
    except metadata.PackageNotFoundError:  # an adapter of a plugin or of the caller
        return tokenizer.name


def rule_counts(seams: Seams, text: str) -> dict[str, int]:
    """How many seams of `text` rest on each rule: {"K1": 7}; "none" are uncertified."""
    rules = [rule or "none" for rule, _, _ in seams.planned.licences]
    counts: Counter[str] = Counter()
    for code, count in enumerate(np.bincount(seams.planned.codes, minlength=len(rules)).tolist()):
        counts[rules[code]] += count
    if seams.everywhere is not None:
        counts[seams.everywhere.licence.rule or "none"] += seams.everywhere.count(text)
    return {rule: count for rule, count in sorted(counts.items()) if count}
