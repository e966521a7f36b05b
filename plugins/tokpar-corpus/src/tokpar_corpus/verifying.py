"""Verifies a folder of shards against its manifest, and sampled documents against the tokenizer."""

from __future__ import annotations

import hashlib
import os
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np

from tokpar import Encoder
from tokpar.arrays import IdArray, first_difference
from tokpar.errors import FileFormatError, OptionError
from tokpar.process.cached_property import cached_property
from tokpar.types import Rows
from tokpar_corpus.audit_inputs import InputFiles
from tokpar_corpus.audit_report import CheckedReport, CheckResult, FaultLog
from tokpar_corpus.control_documents import UntrustedEncoder, plain_tokenizer
from tokpar_corpus.document_blocks import REFUSED, TOO_LONG
from tokpar_corpus.document_encoder import LONG
from tokpar_corpus.id_texts import IdTexts, tokens_of
from tokpar_corpus.inputs import Input, Paths, find_inputs, name_list
from tokpar_corpus.journal import range_digest
from tokpar_corpus.manifest import (
    MANIFEST_NAME,
    DividedDocument,
    InputFile,
    Manifest,
    Shard,
    TokenizerRecord,
)
from tokpar_corpus.respelling import Respelling
from tokpar_corpus.shards import RawIds, ShardSource, open_shard
from tokpar_corpus.tokenizer_source import CorpusTokenizer, load_for_corpus, surround_rows
from tokpar_corpus.verify_seams import SeamVerifier

CHECKS = {
    "files": "each file of a shard has the size and the digest of the manifest",
    "counts": "each shard has as many documents and tokens as the manifest says",
    "tokenizer": "the tokenizer has the fingerprint of the manifest",
    "edges": "BOS and EOS of the manifest are those of the tokenizer",
    "inputs": "each input has the size and the digests of the manifest",
    "samples": "the tokenizer's own serial call gives the ids of sampled documents",
    "seams": "each divided document has the seams of the manifest, and they hold",
}
"""Name of each check of a verification -> the claim that it checks."""


@dataclass(frozen=True, slots=True)
class VerifyReport(CheckedReport):
    """The result of `tokpar_corpus.verify`; true if no check found a difference.

    `documents`: documents of the manifest. `sampled`: documents that were encoded again. `seams`:
    seams that were found and checked again. `seed`: the seed of the sample; the same seed samples
    the same documents. `notes`: how texts were read. `not_checked`: checks that could not run.
    """

    folder: str
    results: tuple[CheckResult, ...]
    documents: int
    sampled: int
    seams: int
    seed: int
    notes: tuple[str, ...] = ()
    not_checked: tuple[str, ...] = ()


def verify(
    folder: str | os.PathLike[str],
    *,
    tokenizer: object = None,
    sample: float = 0.01,
    against: Paths = (),
    seed: int | None = None,
    workers: int | None = None,
    on_read: Callable[[int], object] = lambda count: None,
) -> VerifyReport:
    """Returns the differences between a folder that `build` wrote and its manifest.

    Digests every file again. Encodes sampled documents again by the tokenizer's own serial call.
    Finds and checks the seams of divided documents again.

    `tokenizer`: anything that `tokpar.load` takes; None: the source in the manifest.
    `sample`: the share of the documents of each shard to encode again, 0 to 1; unless it is 0, at
    least one document of each shard.
    `against`: the inputs in their order; without inputs, the texts are decoded from the shards.
    `seed`: the seed of the sample; None: a new one.
    `on_read`: called with the bytes of shards that were verified since: `bytes_to_verify` in all.
    Raises FileFormatError for a folder without a manifest, OptionError, also for a tokenizer that
    another loader made, and the errors of `load`."""
    if not 0 <= sample <= 1:
        raise OptionError(f"sample is a part of the documents, from 0 to 1, got {sample}")
    path = Path(folder)
    if not (path / MANIFEST_NAME).is_file():
        raise FileFormatError(f"{path}: no {MANIFEST_NAME}: no build was finished in this folder")
    manifest = Manifest.from_json((path / MANIFEST_NAME).read_text(encoding="utf-8"))
    source = manifest.tokenizer.source if tokenizer is None else tokenizer
    corpus_tokenizer = load_for_corpus(source, None, {})
    _require_loader(manifest.tokenizer, corpus_tokenizer.record())
    options = manifest.options
    inputs = find_inputs(name_list(against), options.lines, options.text).files
    seed = random.SystemRandom().getrandbits(32) if seed is None else seed
    adapter = corpus_tokenizer.adapter
    plain = plain_tokenizer(adapter) if options.untrusted == "text" else adapter
    with SeamVerifier(plain, workers) as seams:
        run = _Verification(
            path, manifest, corpus_tokenizer, tokens_of(adapter), inputs, seams, on_read
        )
        run.files()
        run.tokenizer_record()
        run.input_digests()
        run.samples(sample, random.Random(seed))
    checks = [name for name in CHECKS if inputs or name != "inputs"]
    return VerifyReport(
        os.fspath(folder),
        run.log.results(tuple(checks)),
        manifest.documents,
        run.sampled_count,
        seams.seams,
        seed,
        tuple(run.notes),
        (*run.not_checked, *seams.not_checked),
    )


def bytes_to_verify(manifest: Manifest) -> int:
    """Returns how many bytes of a folder `verify` reads: all files once, and the ids again."""
    files = sum(file.bytes for shard in manifest.shards for file in shard.files)
    return files + manifest.tokens * np.dtype(manifest.options.dtype).itemsize


def _require_loader(expected: TokenizerRecord, found: TokenizerRecord) -> None:
    """Raises OptionError if something else made the tokenizer than made that of the build.

    Other versions of the same loader are a fault of the check "tokenizer"."""
    one, other = found.loader, expected.loader
    if (one and (one.name, one.tokenizer_class)) == (other and (other.name, other.tokenizer_class)):
        return
    made = [f"by {loader}" if loader else "from a file or an object" for loader in (other, one)]
    raise OptionError(
        f"the tokenizer of the build, {expected.source}, was loaded {made[0]}; {found.source} is "
        f"loaded {made[1]}: verify where the same loader is installed, with the same --tokenizer"
    )


@dataclass
class _Verification:
    """The state of one running verification. Each public method is one step of it."""

    folder: Path
    manifest: Manifest
    corpus_tokenizer: CorpusTokenizer
    tokens: IdTexts
    inputs: Sequence[Input]
    seams: SeamVerifier
    on_read: Callable[[int], object]
    log: FaultLog = field(default_factory=FaultLog)
    notes: list[str] = field(default_factory=list)
    not_checked: list[str] = field(default_factory=list)
    sampled_count: int = 0

    def files(self) -> None:
        """Digests all files of the shards. Reports files that look like shards, but are not in the
        manifest."""
        named = {file.name for shard in self.manifest.shards for file in shard.files}
        for shard in self.manifest.shards:
            for file in shard.files:
                path = self.folder / file.name
                self.on_read(file.bytes)
                if not path.is_file():
                    self.log.add("files", file.name, None, "no such file", f"{file.bytes:,} bytes")
                    continue
                size = path.stat().st_size
                if size != file.bytes:
                    self.log.add("files", file.name, None, f"{size:,} bytes", f"{file.bytes:,}")
                    continue
                with path.open("rb") as opened:
                    digest = hashlib.file_digest(opened, "sha256").hexdigest()
                if digest != file.sha256:
                    self.log.add("files", file.name, None, f"sha256 {digest}", file.sha256)
        for path in sorted(self.folder.glob("shard-*")):
            if path.name not in named:
                self.log.add("files", path.name, None, "a file", "none: the manifest has no such")

    def tokenizer_record(self) -> None:
        """Compares the fingerprint of the tokenizer, and the ids that its own call inserts, with
        the manifest."""
        expected, found = self.manifest.tokenizer, self.corpus_tokenizer.record()
        if found.fingerprint != expected.fingerprint:
            one = f"{_describe(found)}, fingerprint {found.fingerprint}"
            other = f"{_describe(expected)}, {expected.fingerprint}"
            self.log.add("tokenizer", found.source, None, one, other)
        options = self.manifest.options
        if options.bos is None:
            own = self.corpus_tokenizer.own_ids()
            if own != (options.prefix, options.suffix):
                shown = f"{list(options.prefix)} and {list(options.suffix)} around each document"
                self.log.add(
                    "edges", MANIFEST_NAME, None, shown, f"{list(own[0])} and {list(own[1])}"
                )

    def input_digests(self) -> None:
        """Compares the sizes and digests of the given inputs with the manifest."""
        if not self.inputs:
            self.not_checked.append("the inputs: --against takes them (against=, in Python)")
            return
        expected = self.manifest.inputs
        if len(expected) != len(self.inputs):
            found = f"{len(self.inputs)} inputs"
            self.log.add("inputs", MANIFEST_NAME, None, found, f"{len(expected)}")
        for manifest_input, input_ in zip(expected, self.inputs, strict=False):
            if manifest_input.bytes != input_.bytes:
                found = f"{input_.bytes:,} bytes"
                self.log.add(
                    "inputs",
                    input_.name,
                    None,
                    found,
                    f"{manifest_input.bytes:,}, as {manifest_input.name}",
                )
            else:
                self._digests(manifest_input, input_)

    def _digests(self, manifest_input: InputFile, input_: Input) -> None:
        for each in manifest_input.digests:
            digest = range_digest(input_, each)
            if digest != each.sha256:
                part = f"sha256 {digest} of bytes {each.start:,} to {each.stop:,}"
                self.log.add("inputs", input_.name, None, part, each.sha256)

    def samples(self, part: float, chance: random.Random) -> None:
        """Counts all documents, and encodes a share `part` of them again."""
        texts = self._input_texts()
        for shard in self.manifest.shards:
            if shard.files:
                self._shard(shard, part, chance, texts)
        if texts is not None and next(texts, None) is not None:
            self.log.add("counts", MANIFEST_NAME, None, "more texts in the input", "no more")

    def _input_texts(self) -> Iterator[str] | None:
        """Returns the texts of the inputs, one for each document. Returns None without inputs, or
        if it is not certain which text belongs to which document."""
        if not self.inputs:
            return None
        if any(set(shard.skipped) & {REFUSED, TOO_LONG} for shard in self.manifest.shards):
            self.notes.append("the build left out documents: their neighbours were decoded")
            return None
        options = self.manifest.options
        if options.chat_template is not None:
            self.notes.append("the texts were made by a chat template: they were decoded")
            return None
        files = InputFiles(self.inputs, options.field)
        return (text for batch in files.batches() for text in batch)

    def _shard(
        self, shard: Shard, part: float, chance: random.Random, texts: Iterator[str] | None
    ) -> None:
        name = shard.files[0].name
        try:
            opened = open_shard(str(self.folder / name))
        except (FileFormatError, OSError) as error:
            self.log.add("counts", name, None, str(error), "a shard")
            return
        counts = (opened.documents, opened.tokens)
        if counts != (shard.documents, shard.tokens):
            found = f"{counts[0]:,} documents, {counts[1]:,} tokens"
            expected = f"{shard.documents:,} documents, {shard.tokens:,} tokens"
            self.log.add("counts", name, None, found, expected)
        if not opened.documents:
            return
        count = max(int(np.ceil(part * opened.documents)), part > 0)
        chosen = set(chance.sample(range(opened.documents), count))
        divided = {each.document: each for each in shard.divided}
        own = None if texts is None else islice(texts, shard.documents)
        for document, ids, text in _documents(opened, chosen | set(divided), own, self.on_read):
            spelled = self._text(name, document, ids) if text is None else text
            if spelled is None:
                continue
            if document in chosen:
                self._encode_again(name, document, ids, spelled)
            if document in divided:
                self._seams(name, divided[document], spelled, is_original=text is not None)

    def _seams(
        self, shard: str, divided_document: DividedDocument, text: str, is_original: bool
    ) -> None:
        spelling = self.tokens.spelling
        keeps_text = isinstance(spelling, Respelling) and (
            spelling.kind == "bytes" and not spelling.normalizes
        )
        if not is_original and not keeps_text:
            self._once("seams: the ids do not spell the whole text; give the inputs by against")
            return
        version = self.manifest.tokpar_version
        for found, expected in self.seams.differences(text, divided_document, version):
            self.log.add("seams", shard, divided_document.document, found, expected)

    def _text(self, shard: str, document: int, ids: RawIds) -> str | None:
        """Returns the text that the ids of a document spell, without the ids that the options
        insert. If there is none, reports the reason and returns None."""
        options = self.manifest.options
        stop = len(ids) - len(options.suffix) - (options.eod is not None)
        body = ids[len(options.prefix) : max(stop, len(options.prefix))]
        spelling = self.tokens.spelling
        if isinstance(spelling, str) or not spelling.exact:
            why = spelling if isinstance(spelling, str) else "its normalizer may change a text"
            self._once(f"samples: {why}; give the inputs by against")
            return None
        if len(body) and not all(self.tokens.is_token(int(id_)) for id_ in np.unique(body)):
            self.log.add("samples", shard, document, "an id that is no token", "tokens")
            return None
        try:
            text = self.tokens.text_of(body)
        except UnicodeDecodeError as error:
            self.log.add("samples", shard, document, str(error), "UTF-8")
            return None
        unknown = self.tokens.unknown
        if text is None or (unknown not in self.tokens.added_tokens and (body == unknown).any()):
            text = None
            self._once("samples with the unknown token, which hides text; give the inputs")
        return text

    def _once(self, note: str) -> None:
        if note not in self.not_checked:
            self.not_checked.append(note)

    def _encode_again(self, shard: str, document: int, ids: RawIds, text: str) -> None:
        options = self.manifest.options
        self.sampled_count += 1
        own = self._own_ids(text)
        expected = surround_rows(Rows.of([own]), options.prefix, options.suffix, options.eod).ids
        if np.array_equal(ids, expected):
            return
        place = first_difference(ids, expected)
        shown = [f"{some[place]}" if place < len(some) else "the end" for some in (ids, expected)]
        self.log.add("samples", shard, document, shown[0], shown[1], place)

    def _own_ids(self, text: str) -> IdArray:
        """Returns the ids of a document by the tokenizer's own serial call; of a long document, for
        which that call takes very long, by the own calls of the checker's segments; of one that
        spells a control token and was built with --untrusted text, by the encoder of untrusted
        text."""
        if len(text) >= LONG and (found := self.seams.certified_ids(text)) is not None:
            own = found
        else:
            own = self.seams.tokenizer.encode(text)
        if self.manifest.options.untrusted != "text":
            return own
        is_spelt = bool(self._untrusted.spelt_in([text], Rows.of([own])))
        return self._untrusted.encode(text) if is_spelt else own

    @cached_property
    def _untrusted(self) -> UntrustedEncoder:
        return UntrustedEncoder(Encoder(self.seams.tokenizer, strategy="serial"))


def _describe(record: TokenizerRecord) -> str:
    loader = "" if record.loader is None else f", loaded by {record.loader}"
    return f"{record.engine} {record.engine_version}{loader}"


def _documents(
    shard: ShardSource,
    numbers: set[int],
    texts: Iterator[str] | None,
    on_read: Callable[[int], object],
) -> Iterator[tuple[int, RawIds, str | None]]:
    """Yields the number, the ids and the text of each document in `numbers`. `texts`: the texts of
    all documents of the shard; the function consumes all of them. Without `texts`, the text is
    None. `on_read`: called with the bytes of ids that were yielded or passed over."""
    for block in shard.blocks():
        for k in range(len(block)):
            text = None if texts is None else next(texts, None)
            if block.first + k in numbers:
                yield block.first + k, block[k], text
        on_read(block.ids.nbytes)
    for _ in texts or ():
        pass
