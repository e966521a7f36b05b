"""Audit shards: is this the tokenizer, are BOS and EOS there, is anything missing?"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator
from itertools import accumulate

from tokpar import Encoder
from tokpar.contract.adapter import traits_of
from tokpar.errors import OptionError
from tokpar.process.limits import worker_count
from tokpar_corpus.audit_against import Digests, ShardDocuments, compare
from tokpar_corpus.audit_documents import MOST_BLOCKS, RUN, DocumentAudit
from tokpar_corpus.audit_edges import (
    AUTO,
    NONE,
    DocumentEdges,
    bodies_of,
    expected_edges,
    token_named,
)
from tokpar_corpus.audit_inputs import are_untrusted, input_files
from tokpar_corpus.audit_report import AGAINST, CHECKS, AuditReport, ShardSummary
from tokpar_corpus.audit_texts import TextAudit
from tokpar_corpus.control_documents import UntrustedEncoder, plain_tokenizer
from tokpar_corpus.id_texts import IdTexts, tokens_of
from tokpar_corpus.inputs import Paths, name_list
from tokpar_corpus.respelling import Respelling
from tokpar_corpus.shards import RawIds, ShardSource, in_documents, open_shards
from tokpar_corpus.tokenizer_source import load_for_corpus


def audit(
    shards: Paths,
    tokenizer: object,
    *,
    against: Paths = (),
    field: str | None = None,
    lines: bool = False,
    text: bool = False,
    bos: str | int = AUTO,
    eos: str | int = AUTO,
    packed: bool = False,
    ordered: bool = True,
    workers: int | None = None,
    on_read: Callable[[int], object] | None = None,
) -> AuditReport:
    """Returns what is wrong with shards of ids, whoever made them; true if nothing is.

    `shards`: files, folders and globs of Megatron (`.bin` with `.idx`), datatrove (`.ds` with
    `.ds.index`), parquet and Arrow (a column `input_ids`), NumPy (`.npy`). `tokenizer`: anything
    that `tokpar.load` takes. `against`: the files that the shards were made of, read as `build`
    reads them: by the manifest beside the shards; or with the text in `field`, and with a text in
    each line if `lines`, and text files of folders beside their rows if `text`. `bos`, `eos`:
    "auto" is what the tokenizer's own call inserts, and what most documents have; "none"; or a
    token, by its content or its id. `packed`: rows are pieces of one stream, in which each document
    ends with `eos`. `ordered`: documents must be in the order of the input. `on_read` is called
    with the bytes of ids that were checked since.

    Needs memory for the longest document, and about 200 bytes for each document, three times that
    with `against`. A shard that cannot be read is a fault of the report. Raises OptionError,
    FileFormatError for an input that cannot be read, OSError, and what `load` raises."""
    corpus_tokenizer = load_for_corpus(tokenizer, None, {})
    adapter = corpus_tokenizer.adapter
    tokens = tokens_of(adapter)
    opened, unreadable = open_shards(name_list(shards))
    texts, notes = None, list[str]()
    names = [each.name for each in opened] + [each.name for each in unreadable]
    is_untrusted = are_untrusted(names)
    if against:
        reading = (field, lines, text)
        texts, notes = input_files(name_list(against), names, corpus_tokenizer, *reading)
    if packed:
        opened = [in_documents(shard, _end_of(eos, tokens)) for shard in opened]
    edges = expected_edges(adapter, tokens, opened, bos, eos)
    # a text with a special token that the tokenizer refuses is taken for plain text
    plain = plain_tokenizer(adapter)
    adapter_of_texts = plain if is_untrusted or traits_of(adapter).forbidden else adapter
    threads = worker_count(workers)
    blocks = min(threads, MOST_BLOCKS)
    with Encoder(plain, workers=threads // blocks) as encoder:
        text_audit = None
        if isinstance(tokens.spelling, Respelling):
            # the ids of a checked document are those of an equal text only by the same tokenizer
            same = texts is not None and adapter_of_texts is plain
            used = UntrustedEncoder(encoder) if is_untrusted else encoder
            text_audit = TextAudit(encoder.tokenizer, tokens, tokens.spelling, used, same)
        digests = Digests(with_heads=texts is not None)
        run = DocumentAudit(tokens, edges, text_audit, digests, blocks, notes=notes)
        for each in unreadable:
            run.log.add("readable", each.name, None, each.why, "a shard that can be read")
        counts = []
        for shard in opened:
            counts.append(0)
            for block in run.check(shard):
                counts[-1] += len(block)
                if on_read is not None:
                    on_read(block.ids.nbytes)
        if texts is not None:
            with Encoder(adapter_of_texts, workers=workers) as own:
                documents = _documents(opened, counts, edges, run)
                used = UntrustedEncoder(own) if is_untrusted else own
                run.notes += compare(documents, texts, used, run.log, ordered)
            if texts.unusable:
                run.notes.append(f"{texts.unusable:,} rows of the input hold no text")
    return _report(adapter.name, opened, run, texts is not None)


def _end_of(eos: str | int, tokens: IdTexts) -> int:
    if eos in (AUTO, NONE):
        raise OptionError("packed shards need eos, the token after which a document ends")
    return token_named(eos, tokens)


def _documents(
    shards: list[ShardSource], counts: list[int], edges: DocumentEdges, run: DocumentAudit
) -> ShardDocuments:
    ends = list(accumulate(counts))

    def where(document: int) -> tuple[str, int]:
        k = bisect_right(ends, document)
        return shards[k].name, document - (ends[k] - counts[k])

    def read(numbers: Collection[int]) -> Iterator[tuple[int, RawIds]]:
        asked, done = set(numbers), 0
        for shard, count in zip(shards, counts, strict=True):
            if not asked.isdisjoint(range(done, done + count)):
                for block in shard.blocks():
                    bodies = bodies_of(block, edges)
                    for k in range(len(block)):
                        if done + block.first + k in asked:
                            own = slice(int(bodies.starts[k]), int(bodies.stops[k]))
                            yield done + block.first + k, block.ids[own]
            done += count

    return ShardDocuments(run.digests, where, read)


def _report(
    tokenizer: str, shards: list[ShardSource], run: DocumentAudit, has_input: bool
) -> AuditReport:
    checks = [check for check in CHECKS if has_input or check not in AGAINST]
    if run.texts is None:
        checks = [check for check in checks if check not in ("ids", "utf8")]
    summaries = [
        ShardSummary(shard.name, shard.format, shard.dtype.name, shard.documents, shard.tokens)
        for shard in shards
    ]
    return AuditReport(
        tokenizer,
        tuple(summaries),
        run.log.results(tuple(checks)),
        run.text_bytes,
        (*run.notes, *run.edges.notes, *_notes_of_counts(run)),
        (*run.edges.not_checked, *_reasons_not_checked(run)),
    )


def _notes_of_counts(run: DocumentAudit) -> Iterator[str]:
    """Yields the notes of the report: facts that are worth knowing but are no faults."""
    strange = sum(run.log.total(check) for check in ("range", "utf8", "ids"))
    if 2 * strange > len(run.digests.whole):
        yield "most documents are not what this tokenizer gives: another one made them"
    if run.empties:
        yield f"{run.empties:,} documents have no text: {'; '.join(run.empty)}"
    some = len(run.digests.whole) - run.empties
    distinct = len(set(run.digests.whole)) - bool(run.empties)
    if some > distinct:
        yield f"{some - distinct:,} documents have the ids of an earlier one"
    if run.long_runs:
        yield f"{run.long_runs:,} runs of {RUN} equal ids and more are the ids of their text"


def _reasons_not_checked(run: DocumentAudit) -> Iterator[str]:
    """What the checks could not tell, and why."""
    if run.texts is None:
        yield f"whether the ids are those of a text: {run.tokens.why_not}"
        return
    if run.unknown:
        yield f"the ids of {run.unknown:,} documents: the unknown token in them hides text"
    if run.rewritten_count:
        yield (
            f"the ids of {run.rewritten_count:,} documents: the tokenizer does not leave the text "
            "that they spell as it is"
        )
    if run.tokens.cut_at:
        yield (
            "whether a special token that is written in a text is one id: that depends on the "
            "call, and both were accepted"
        )
