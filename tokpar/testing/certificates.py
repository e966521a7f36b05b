"""What `tokpar.check` says of encodings. Chunks of several sizes, and of several strategies, often
end at the same seams: what is equal in all that the check looks at is checked once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256

import numpy as np

from tokpar.certificate import checker
from tokpar.encoding import Encoding
from tokpar.interfaces import TokenizerAdapter
from tokpar.seams import Seams
from tokpar.testing.checks import Complaint


@dataclass(frozen=True, eq=False)
class Certificates:
    """The check of encodings by one tokenizer. Only those that passed are remembered, by digests of
    text, ids, seams and proofs."""

    tokenizer: TokenizerAdapter
    _passed_digests: set[bytes] = field(default_factory=set)

    def complaint(self, encoding: Encoding, text: str) -> Complaint | None:
        """What `tokpar.check` finds, or that a seam has no rule."""
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
    """Of all that the check looks at, types of numbers and arrays included."""
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
