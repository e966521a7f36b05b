"""Run `tokpar.check` on encodings, once for equal encodings.

Strategies and chunk sizes often end at the same seams. An encoding that equals an earlier one in
all that the checker looks at is not checked again."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from hashlib import sha256

from tokpar.certificate import checker
from tokpar.contract.interfaces import TokenizerAdapter
from tokpar.results.encoding import Encoding
from tokpar_conformance.checks import Complaint


@dataclass(frozen=True, eq=False)
class Certificates:
    """Check the encodings of one tokenizer.

    An encoding that passed is stored as a digest of text, ids, seams and proofs. An encoding that
    failed is not stored."""

    tokenizer: TokenizerAdapter
    _passed_digests: set[bytes] = field(default_factory=set)

    def complaint(self, encoding: Encoding, text: str) -> Complaint | None:
        """The first finding of `tokpar.check`, or a complaint about a seam without a rule, or
        None."""
        if not encoding.lossless:
            bare = next(seam for seam in encoding.seams if seam.rule is None)
            return Complaint("a seam without a rule", got=repr(bare))
        if not encoding.seams:
            return None
        key = digest(encoding, text)
        if key in self._passed_digests:
            return None
        report = checker.check(encoding, text, self.tokenizer)
        if report.ok:
            self._passed_digests.add(key)
            return None
        finding = report.findings[0]
        return Complaint(f"the certificate fails: {finding.kind}, {finding.message}")


def digest(encoding: Encoding, text: str) -> bytes:
    """SHA-256 of all that the checker looks at, with the types of numbers and arrays."""
    return sha256(pickle.dumps((text, encoding.ids, encoding.seams))).digest()
