"""Finds the seams of divided documents again, and checks them by the rules that license them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from types import TracebackType

from tokpar import Encoder, __version__, check
from tokpar.interfaces import TokenizerAdapter
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

    def differences(
        self, text: str, divided_document: DividedDocument, version: str
    ) -> Iterator[tuple[str, str]]:
        """Yields (found, expected) in words for each difference in a divided document.

        `version`: the version of tokpar that wrote the manifest. Another version may find other
        proofs, so digests are compared only if it is the present one."""
        encoder = self._encoder
        encoding = encoder.unprocessed_batch([text], encoder.tokenizer)[0]
        planned = len(encoding.seams.planned)
        self.seams += planned
        if planned != divided_document.seams:
            yield f"{planned:,} seams", f"{divided_document.seams:,}"
        for finding in check(encoding, text, encoder.tokenizer).findings:
            yield f"{finding.kind}: {finding.message}", "seams that rules license, and their ids"
        if version != __version__:
            note = f"digests of seams: tokpar {version} made them, this is {__version__}"
            if note not in self.not_checked:
                self.not_checked.append(note)
            return
        digest = seams_digest(encoding, text)
        if planned == divided_document.seams and digest != divided_document.digest:
            yield f"seams with digest {digest}", divided_document.digest
