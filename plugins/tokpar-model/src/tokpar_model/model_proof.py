"""Level `model`: ids proved from the tokenizer's file and the class tables, without an engine."""

from __future__ import annotations

import numpy as np

from tokpar.arrays import IntArray, has_surrogate
from tokpar.certificate.canonical_form import (
    MOST_ID,
    JsonForm,
    RankForm,
    form_of_json,
    parse_json,
)
from tokpar.certificate.certificate_file import text_digest
from tokpar.certificate.check_context import RefusedError, once, require
from tokpar.certificate.fact_differences import checked_facts
from tokpar.certificate.findings import Finding, ModelProof
from tokpar.contract.interfaces import TokenizerAdapter
from tokpar_model.byte_file import (
    ByteTokenizer,
    byte_tokenizer_of_json,
    byte_tokenizer_of_ranks,
)
from tokpar_model.byte_ids import byte_id_findings
from tokpar_model.class_members import tables_digest
from tokpar_model.greedy_merging import StepLimit
from tokpar_model.laid_text import LaidText
from tokpar_model.word_file import WordTokenizer, word_tokenizer_of_json
from tokpar_model.word_ids import word_id_findings

WORK = 256
"""Steps that are allowed for each character of the text, and for each token of the file."""


def model_findings(tokenizer: TokenizerAdapter, text: str, ids: object) -> ModelProof:
    """Returns whether `ids` are the ids of the text, by the file that the checker read (theorems 32
    and 33).

    `ids`: an array or a sequence of whole numbers, without those that post-processing inserts. The
    tokenizer encodes nothing."""
    reading = checked_facts(tokenizer)
    if reading.form is None:
        unread = reading.unread or f"{tokenizer.name} does not tell its file"
        return ModelProof(refusal=("file", unread))
    return form_findings(reading.form, text, ids)


def file_findings(data: str, text: str, ids: object) -> ModelProof:
    """Does what `model_findings` does, for the JSON of a file. Raises no error for any file or
    ids."""
    try:
        form = form_of_json(parse_json(data), text_digest(data))
    except RefusedError as refusal:
        return ModelProof(refusal=(refusal.kind, str(refusal)))
    return form_findings(form, text, ids)


def form_findings(form: JsonForm | RankForm, text: str, ids: object) -> ModelProof:
    """Does what `model_findings` does, for a form."""
    try:
        require(not has_surrogate(text), "surrogate", "the text has a lone surrogate")
        known = once(form.cache, "model", lambda: _tokenizer_of(form))
        row = _id_row(ids)
        findings = [row] if isinstance(row, Finding) else _findings(known, text, row)
    except RefusedError as refusal:
        return ModelProof(refusal=(refusal.kind, str(refusal)))
    digest = once(form.cache, "digest", lambda: _digest_of(form))
    assumed = (
        f"The tokenizer that ran is the one of this file (sha256 {digest}).",
        "Its regex engine has the character classes of the tables shipped with tokpar "
        f"(sha256 {tables_digest()}).",
    )
    return ModelProof(tuple(findings), assumed)


def _digest_of(form: JsonForm | RankForm) -> str:
    """Returns the sha256 of a file, or of ranks and all else that decides ids."""
    if isinstance(form, JsonForm):
        return form.digest
    added = [(token.content, token.id) for token in form.added_tokens]
    parts = form.patterns, sorted(form.specials.items()), sorted(added), form.merges
    return text_digest(repr((*parts, list(form.tokens.items()))))


def _findings(tokenizer: ByteTokenizer | WordTokenizer, text: str, row: IntArray) -> list[Finding]:
    if isinstance(tokenizer, WordTokenizer):
        return word_id_findings(
            tokenizer, text, row, StepLimit(WORK * (len(text) + len(tokenizer.vocabulary)))
        )
    work = StepLimit(WORK * (len(text) + len(tokenizer.merging.vocabulary.ids)))
    laid = LaidText(tokenizer, text, work)
    tokenizer.merging.require_bytes(laid.text.codes)
    return byte_id_findings(tokenizer, laid, row, work)


def _tokenizer_of(form: JsonForm | RankForm) -> ByteTokenizer | WordTokenizer:
    """Returns what decides the ids. Refused outside the gate."""
    if isinstance(form, RankForm):
        return byte_tokenizer_of_ranks(form)
    require(form.no_file is None, "file", f"its ids may be others than its file's: {form.no_file}")
    if form.kind == "WordPiece":
        return word_tokenizer_of_json(form)
    require(form.kind == "BPE", "model", f"ids of a {form.kind} model are not proved: open")
    return byte_tokenizer_of_json(form)


def _id_row(ids: object) -> IntArray | Finding:
    """Returns the ids as int64, or the finding that they are no ids."""
    try:
        row = np.asarray(ids)
    except (ValueError, TypeError, OverflowError):
        return Finding("ids", "expected an array of whole numbers")
    if row.ndim == 1 and not row.size:
        return np.empty(0, dtype=np.int64)
    if row.ndim != 1 or row.dtype.kind not in "iu":
        message = f"expected whole numbers, one row, got {row.dtype} of shape {row.shape}"
        return Finding("ids", message)
    if int(row.min()) < 0 or int(row.max()) > MOST_ID:
        wrong = np.flatnonzero((row < 0) | (row > MOST_ID))[0]
        return Finding("ids", f"id {wrong}: {row[wrong]} is no token")
    return row.astype(np.int64)
