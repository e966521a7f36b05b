"""Encodes blocks of documents: short documents together in one call, long documents one by one,
divided at certified cuts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tokpar import Encoder, Encoding
from tokpar.contract.interfaces import TokenizerAdapter
from tokpar.errors import (
    ControlTokenError,
    EngineError,
    FileFormatError,
    MismatchError,
    WorkerError,
)
from tokpar.types import Rows
from tokpar_corpus.control_documents import UntrustedEncoder, plain_tokenizer
from tokpar_corpus.document_blocks import CONTROL, REFUSED, TOO_LONG, BadDocument, Block
from tokpar_corpus.inputs import Input
from tokpar_corpus.manifest import DividedDocument, Options
from tokpar_corpus.tokenizer_source import surround_rows

LONG = 1 << 19
"""From this many code points on, a document is divided in a call of its own."""
CHUNK = 1 << 18
"""Code points between two planned cuts, which the digest has. The encoder may divide the text
between two of them further. Those cuts depend on the content of the cache, so they are not in the
digest."""
MOST_TOKENS = (1 << 31) - 1


def is_refusal(error: Exception) -> bool:
    """True for an error that a tokenizer raises about a text, False for an error of the program."""
    if isinstance(error, (MismatchError, WorkerError)):
        return False
    return isinstance(error, (ValueError, EngineError)) or type(error) is Exception


@dataclass(frozen=True, slots=True)
class EncodedBlock:
    """A block with the ids of its documents, one row each. `divided_documents`: the long documents,
    with their number in the block. `control_documents`: the numbers of documents that spell a
    control token."""

    block: Block
    rows: Rows
    divided_documents: Sequence[DividedDocument]
    control_documents: Sequence[int] = ()


class DocumentEncoder:
    """Turns blocks of documents into ids. A context manager: `__exit__` closes its thread pools."""

    def __init__(
        self,
        tokenizer: TokenizerAdapter,
        options: Options,
        inputs: Sequence[Input],
        workers: int | None = None,
    ) -> None:
        self._options = options
        self._inputs = inputs
        self._most = np.iinfo(options.dtype).max
        if options.untrusted == "text":
            tokenizer = plain_tokenizer(tokenizer)
        self._encoder = Encoder(tokenizer, workers=workers)
        self._untrusted = UntrustedEncoder(self._encoder)
        if options.untrusted == "text":
            self._untrusted.require_text()
        self._dividing = Encoder(tokenizer, strategy="cut", workers=workers, chunk_chars=CHUNK)

    def __enter__(self) -> DocumentEncoder:
        return self

    def __exit__(self, *error: object) -> None:
        self._encoder.close()
        self._dividing.close()

    def encode(self, block: Block) -> EncodedBlock:
        """Returns the ids of a block, with the ids that the options insert around each document.

        A document becomes a fault if the tokenizer or `--untrusted refuse` refuses it, or if it has
        too many tokens. Raises FileFormatError for an id that the dtype cannot hold."""
        rows, divided_documents, refusals = self._encode_texts(block.texts)
        options = self._options
        spelt = []
        if not options.chat_template:  # which writes control tokens itself
            spelt = self._untrusted.spelt_in(block.texts, rows)
        if spelt and options.untrusted == "text":
            rows = self._encode_as_text(block.texts, rows, spelt, refusals)
            divided_documents = [each for each in divided_documents if each.document not in spelt]
        elif spelt and options.untrusted == "refuse":
            for k in spelt:
                content = self._untrusted.first_in(rows[k])
                refusals[k] = CONTROL, f"spells the control token {content!r}"
        rows = surround_rows(rows, options.prefix, options.suffix, options.eod)
        for k in np.flatnonzero(np.diff(rows.offsets) > MOST_TOKENS).tolist():
            refusals.setdefault(k, (TOO_LONG, f"has more than {MOST_TOKENS:,} tokens"))
        if len(rows.ids) and int(rows.ids.max()) > self._most:
            first = int(np.argmax(rows.ids > self._most))
            where = self._place(block, int(np.searchsorted(rows.offsets, first, "right")) - 1)
            raise FileFormatError(
                f"{where}: the id {rows.ids[first]:,} does not fit {options.dtype}: choose a wider "
                "one by --dtype"
            )
        encoded = EncodedBlock(block, rows, divided_documents, spelt)
        if not refusals:
            return encoded
        named = {
            k: (kind, f"{self._place(block, k)}: {message}")
            for k, (kind, message) in refusals.items()
        }
        return _drop_refused(encoded, named)

    def _encode_as_text(
        self, texts: list[str], rows: Rows, spelt: list[int], refusals: dict[int, tuple[str, str]]
    ) -> Rows:
        """Returns the rows with other ids for the documents `spelt`, in which control tokens are
        text. Adds to `refusals` those for which the tokenizer has no such ids."""
        own = {}
        for k in spelt:
            try:
                own[k] = self._untrusted.encode(texts[k])
            except ControlTokenError as error:
                refusals[k] = REFUSED, str(error)
        return Rows.of([own.get(k, rows[k]) for k in range(len(rows))])

    def _place(self, block: Block, k: int) -> str:
        """Returns where document k of the block is, for a message. Counts lines only if the error
        ends the build, because counting reads the input again."""
        begin = int(block.begins[k])
        return self._inputs[block.input].place(begin, count=self._options.errors == "stop")

    def _encode_texts(
        self, texts: list[str]
    ) -> tuple[Rows, list[DividedDocument], dict[int, tuple[str, str]]]:
        """Returns one row of ids for each text, the divided documents, and the refused texts:
        number of the text -> (kind, message). A refused text has an empty row."""
        long = [k for k, text in enumerate(texts) if len(text) >= LONG]
        refusals: dict[int, tuple[str, str]] = {}
        divided_documents: list[DividedDocument] = []
        parts: list[Rows] = []
        done = 0
        for k in [*long, len(texts)]:
            if k > done:
                parts.append(self._short(texts[done:k], done, refusals))
            if k < len(texts):
                parts.append(self._long(texts[k], k, divided_documents, refusals))
            done = k + 1
        return Rows.concatenate(parts) if parts else Rows.of([]), divided_documents, refusals

    def _short(self, texts: list[str], first: int, refusals: dict[int, tuple[str, str]]) -> Rows:
        encoder = self._encoder
        try:
            return encoder.unprocessed_batch(texts, encoder.tokenizer).rows
        except Exception as error:
            if not is_refusal(error):
                raise
            if len(texts) == 1:
                refusals[first] = REFUSED, str(error)
                return Rows.of([[]])
        half = len(texts) // 2
        left = self._short(texts[:half], first, refusals)
        return Rows.concatenate([left, self._short(texts[half:], first + half, refusals)])

    def _long(
        self,
        text: str,
        number: int,
        divided_documents: list[DividedDocument],
        refusals: dict[int, tuple[str, str]],
    ) -> Rows:
        encoder = self._dividing
        try:
            encoding = encoder.unprocessed_batch([text], encoder.tokenizer)[0]
        except Exception as error:
            if not is_refusal(error):
                raise
            refusals[number] = REFUSED, str(error)
            return Rows.of([[]])
        if len(encoding.seams.planned):
            digest = seams_digest(encoding, text)
            divided_documents.append(DividedDocument(number, len(encoding.seams.planned), digest))
        return Rows.of([encoding.ids])


def seams_digest(encoding: Encoding, text: str) -> str:
    """Returns the sha256 of a divided document: its text, its ids, and its planned seams with the
    proofs that they name. The digest does not depend on the cache."""
    planned, proofs = encoding.seams.planned, sorted(encoding.seams.proofs.items())
    digest = hashlib.sha256(text.encode())
    digest.update(json.dumps([planned.licences, proofs]).encode())
    for column in (encoding.ids, planned.positions, planned.tokens, planned.codes):
        digest.update(column.astype("<i8").tobytes())
    return digest.hexdigest()


def _drop_refused(
    encoded_block: EncodedBlock, refusals: dict[int, tuple[str, str]]
) -> EncodedBlock:
    """Returns the block without the refused documents, which become faults at their places."""
    block = encoded_block.block
    kept = np.ones(len(block.texts), dtype=np.bool_)
    kept[list(refusals)] = False
    good = np.concatenate([[0], np.cumsum(kept)]).tolist()
    faults = [
        replace(fault, documents_before=good[fault.documents_before]) for fault in block.faults
    ]
    for k, (kind, message) in refusals.items():
        faults.append(BadDocument(good[k], kind, message))
    faults.sort(key=lambda fault: fault.documents_before)
    own = np.flatnonzero(kept).tolist()
    names = block.names
    smaller = replace(
        block,
        texts=[block.texts[k] for k in own],
        sizes=block.sizes[kept],
        begins=block.begins[kept],
        names=None if names is None else [names[k] for k in own],
        faults=faults,
    )
    rows = Rows.of([encoded_block.rows[k] for k in own])
    divided_documents = [
        replace(each, document=good[each.document])
        for each in encoded_block.divided_documents
        if kept[each.document]
    ]
    control = [good[k] for k in encoded_block.control_documents if kept[k]]
    return EncodedBlock(smaller, rows, divided_documents, control)
