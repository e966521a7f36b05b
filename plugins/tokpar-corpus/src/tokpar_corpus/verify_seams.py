"""Finds the seams of divided documents again, and checks them by the rules that license them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from types import TracebackType

from tokpar import CheckReport, Encoder, Encoding, __version__, check
from tokpar.arrays import IdArray
from tokpar.contract.interfaces import TokenizerAdapter
from tokpar_corpus.document_encoder import CHUNK, seams_digest
from tokpar_corpus.manifest import DividedDocument


@dataclass
class SeamVerifier:
    """Divides documents again as a build does, and checks their seams.

    `seams`: the number of seams that were found and checked so far. `not_checked`: notes about
    checks that could not run. A context manager: `__exit__` closes its thread pool."""

    tokenizer: TokenizerAdapter
    workers: int | None = None
    seams: int = 0
    not_checked: list[str] = field(default_factory=list)
    _last: tuple[str, Encoding, CheckReport] | None = None

    def __post_init__(self) -> None:
        self._encoder = Encoder(
            self.tokenizer, strategy="cut", workers=self.workers, chunk_chars=CHUNK
        )

    def __enter__(self) -> SeamVerifier:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._encoder.close()

    def certified_ids(self, text: str) -> IdArray | None:
        """Returns the ids of a long document, each of which the checker compared with the
        tokenizer's own serial call of its segment; None if the checker found a fault."""
        encoding, report = self._checked(text)
        return encoding.ids if report else None

    def _checked(self, text: str) -> tuple[Encoding, CheckReport]:
        """Divides a text, and returns its encoding and what the checker finds. Remembers the last
        text, which may be sampled and have seams in the manifest."""
        if self._last is None or self._last[0] != text:
            encoder = self._encoder
            encoding = encoder.unprocessed_batch([text], encoder.tokenizer)[0]
            self._last = text, encoding, check(encoding, text, encoder.tokenizer)
        return self._last[1:]

    def differences(
        self, text: str, divided_document: DividedDocument, version: str
    ) -> Iterator[tuple[str, str]]:
        """Yields (found, expected) in words for each difference in a divided document.

        `version`: the version of tokpar that wrote the manifest. Another version may find other
        proofs, so digests are compared only if it is the present one."""
        encoding, report = self._checked(text)
        planned = len(encoding.seams.planned)
        self.seams += planned
        if planned != divided_document.seams:
            yield f"{planned:,} seams", f"{divided_document.seams:,}"
        for finding in report.findings:
            yield f"{finding.kind}: {finding.message}", "seams that rules license, and their ids"
        if version != __version__:
            note = f"digests of seams: tokpar {version} made them, this is {__version__}"
            if note not in self.not_checked:
                self.not_checked.append(note)
            return
        digest = seams_digest(encoding, text)
        if planned == divided_document.seams and digest != divided_document.digest:
            yield f"seams with digest {digest}", divided_document.digest
