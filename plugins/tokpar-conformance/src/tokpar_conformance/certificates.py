"""Run `tokpar.check` on encodings, once for equal encodings.

Strategies and chunk sizes often end at the same seams. An encoding that equals an earlier one in
all that the checker looks at is not checked again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256

import numpy as np

from tokpar.certificate import checker
from tokpar.encoding import Encoding
from tokpar.interfaces import TokenizerAdapter
from tokpar.seams import Seams
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
    found = sha256()
    for part in _parts(encoding, text):
        found.update(b"%d:" % len(part))
        found.update(part)
    return found.digest()


def _parts(encoding: Encoding, text: str) -> Iterator[bytes]:
    yield text.encode("utf-8", "surrogatepass")
    seams = encoding.seams
    arrays: list[object] = [encoding.ids]
    if isinstance(seams, Seams):
        planned, everywhere = seams.planned, seams.everywhere
        arrays += [planned.positions, planned.tokens, planned.codes]
        yield repr((planned.licences, sorted(seams.proofs.items()))).encode()
        if everywhere is not None:
            arrays.append(everywhere.regions)
            yield repr(everywhere.licence).encode()
    else:
        yield repr(tuple(seams)).encode()
    for given in arrays:
        array = np.asarray(given)
        yield f"{type(given)} {array.dtype} {array.shape}".encode()
        yield repr(array.tolist()).encode() if array.dtype.hasobject else array.tobytes()
