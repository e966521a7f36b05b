"""Encodes a text while it arrives. Each id is returned as soon as no later text can change it.

The tokenizer encodes the text between certified cuts (proofs/stream.md), unless it streams ids by
itself. Without certified cuts, all ids come at the end."""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Protocol, runtime_checkable

from tokpar.arrays import IdArray, has_surrogate
from tokpar.contract.adapter import inserted_ids, traits_of
from tokpar.contract.interfaces import TokenizerAdapter, facts_of
from tokpar.cuts.finder import finder_for
from tokpar.cuts.stable_cuts import Window, stable_cuts_for
from tokpar.errors import OptionError
from tokpar.process.limits import require_text
from tokpar.results.adding_up import EncodesParts, Part, encode_part


@runtime_checkable
class StreamsIds(Protocol):
    """An adapter that returns ids before the next certified cut, too."""

    def stream_ids(self, chunks: Iterator[str]) -> Iterator[IdArray] | None:
        """Returns arrays of the ids of the text, before special tokens, each as soon as no later
        chunk can change it. None if certified cuts are as soon."""


def stream(
    chunks: Iterable[str],
    tokenizer: TokenizerAdapter,
    whole: Callable[[str], IdArray],
    encode: EncodesParts,
) -> Iterator[IdArray]:
    """Returns an iterator of arrays of ids, none empty. Together they are the ids of the text.

    `whole` encodes and post-processes a whole text. It is called at the end if no id is final
    before the end. `encode` encodes parts of the text. Chunks are taken one by one, when the caller
    asks for ids. Raises OptionError for a chunk that is no str. Raises the errors of encoding the
    text as soon as the part of the text that causes them arrives."""
    if isinstance(chunks, str):
        raise OptionError("stream takes the chunks of a text, got one str; pass [text]")
    if not encodes_parts(tokenizer):
        return _not_empty(_encode_at_end(_check_types(chunks), whole))
    checked = _check_chunks(_check_types(chunks), tokenizer)
    ids = tokenizer.stream_ids(checked) if isinstance(tokenizer, StreamsIds) else None
    ids = _encode_between_cuts(checked, tokenizer, encode) if ids is None else ids
    return _add_special_tokens(ids, tokenizer)


def encodes_parts(tokenizer: TokenizerAdapter) -> bool:
    """True if a text may be encoded part by part.

    The tokenizer must have certified cuts, and its post-processing must not depend on the whole
    text, as truncation and padding do."""
    only_inserts = inserted_ids(tokenizer) is not None
    return only_inserts and finder_for(facts_of(tokenizer)).refusal is None


def _add_special_tokens(ids: Iterable[IdArray], tokenizer: TokenizerAdapter) -> Iterator[IdArray]:
    inserted = inserted_ids(tokenizer) or ()
    return _not_empty(chain(inserted[:1], ids, inserted[1:]))


def _not_empty(ids: Iterable[IdArray]) -> Iterator[IdArray]:
    """Yield the arrays that are not empty. A generator, so callers can close it."""
    yield from filter(len, ids)


def _encode_at_end(chunks: Iterator[str], whole: Callable[[str], IdArray]) -> Iterator[IdArray]:
    yield whole("".join(chunks))


def _check_types(chunks: Iterable[str]) -> Iterator[str]:
    start = 0
    for number, chunk in enumerate(chunks):
        plain = require_text(chunk, f"chunk {number}, at code point {start:,} of the text,")
        start += len(plain)
        yield plain


def _check_chunks(chunks: Iterator[str], tokenizer: TokenizerAdapter) -> Iterator[str]:
    """Yield the chunks after a check of each chunk.

    A forbidden string may cross two chunks, so the end of the text before is checked again."""
    traits = traits_of(tokenizer)
    if traits.check_text is None:
        yield from chunks
        return
    reach = max(map(len, traits.forbidden), default=1)
    tail, start = "", 0
    for chunk in chunks:
        seen = tail + chunk
        try:
            traits.check_text(seen)
        except OptionError as error:
            where = f"the chunk at code point {start:,} of the text"
            raise OptionError(f"{where}: {error}") from error
        start += len(chunk)
        tail = seen[max(0, len(seen) - reach + 1) :]
        yield chunk


def _encode_between_cuts(
    chunks: Iterator[str], tokenizer: TokenizerAdapter, encode: EncodesParts
) -> Iterator[IdArray]:
    """Yield the ids of the text before the last stable cut (lemma 35). The rest waits for more
    chunks."""
    cuts = stable_cuts_for(facts_of(tokenizer))
    # `text` must stay a plain local variable, because CPython extends such a string in place
    text, start, searched, certifiable = "", 0, 0, True
    for chunk in chunks:
        text += chunk
        certifiable = certifiable and not has_surrogate(chunk)
        if not certifiable:
            continue
        cut = Window(cuts, text, begins=True).last(searched)
        searched = max(searched, cuts.final_chars(text))
        if cut is not None:
            yield encode_part(text, Part(0, cut.position), encode, start)
            taken = cut.position + cut.absorbed
            text, start, searched = text[taken:], start + taken, max(0, searched - taken)
    yield encode_part(text, Part(0, len(text)), encode, start)
