"""Encodes a text while it arrives. Each id is returned as soon as no later text can change it.

The tokenizer encodes the text between certified cuts (proofs/stream.md). A tokenizer that encodes
eagerly also returns ids inside a pre-token. Without certified cuts, all ids come at the end."""

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import chain
from typing import Protocol, runtime_checkable

import numpy as np

from tokpar.adapter_parts import inserted_ids, traits_of
from tokpar.arrays import IdArray, has_surrogate
from tokpar.concatenation import EncodeRows, Part, encode_parts
from tokpar.cuts.finder import finder_for
from tokpar.cuts.incremental_pretokenizer import Sink, TokenSplitter, splitters
from tokpar.cuts.stable_cuts import Window, stable_cuts_for
from tokpar.errors import OptionError
from tokpar.interfaces import TokenizerAdapter, facts_of
from tokpar.limits import require_text
from tokpar.patterns.pattern_reader import UnsupportedPatternError

CACHED_PRETOKENS = 1 << 16
CACHED_LENGTH = 32


class EagerModel(Protocol):
    """Turns pre-tokens into ids, one pre-token after the other, while their bytes arrive."""

    def feed(self, data: bytes) -> list[int]:
        """Take more bytes of the pre-token. Returns the ids that became final."""

    def finish(self) -> list[int]:
        """End the pre-token. Returns its remaining ids."""


@runtime_checkable
class EncodesEagerly(Protocol):
    """An adapter that can return the first ids of a pre-token before the pre-token ends."""

    def eager_model(self) -> EagerModel:
        """Returns a new model, at the start of a pre-token.

        Raises OptionError if, with this vocabulary, the first ids of a pre-token may depend on its
        end at any distance."""


def stream(
    chunks: Iterable[str],
    tokenizer: TokenizerAdapter,
    whole: Callable[[str], IdArray],
    encode: EncodeRows,
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
    eager = _eager_ids(checked, tokenizer)
    ids = _encode_between_cuts(checked, tokenizer, encode) if eager is None else eager
    return _add_special_tokens(ids, tokenizer)


def stream_parts(
    chunks: Iterable[str], tokenizer: TokenizerAdapter, encode: EncodeRows
) -> Iterator[IdArray]:
    """Returns the arrays of `stream` for a tokenizer for which `encodes_parts` is true.

    `encode` encodes each part without special tokens: in parallel, or from a cache. Parts are as
    long as the chunks allow."""
    checked = _check_chunks(_check_types(chunks), tokenizer)
    return _add_special_tokens(_encode_between_cuts(checked, tokenizer, encode), tokenizer)


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
    chunks: Iterator[str], tokenizer: TokenizerAdapter, encode: EncodeRows
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
            yield encode_parts(text, [Part(0, cut.position)], encode, start).ids
            taken = cut.position + cut.absorbed
            text, start, searched = text[taken:], start + taken, max(0, searched - taken)
    yield encode_parts(text, [Part(0, len(text))], encode, start).ids


def _eager_ids(chunks: Iterator[str], tokenizer: TokenizerAdapter) -> Iterator[IdArray] | None:
    """Returns arrays of ids that also come inside pre-tokens. None if that is not possible."""
    facts = facts_of(tokenizer)
    plain = not any(t.lstrip or t.rstrip or t.single_word for t in facts.added_tokens)
    # the pre-tokens are the matches of `regex` and the gaps; no normalizer changes the text before
    known = plain and facts.engine == "regex" and facts.scheme == "regex" and facts.tiles
    if not isinstance(tokenizer, EncodesEagerly) or not known:
        return None
    try:
        merging = _Merging(tokenizer.eager_model())
        sink = splitters(facts.patterns, merging)
    except (OptionError, UnsupportedPatternError):
        return None
    for normalized in (True, False):  # the last, outer splitter finds tokens first
        tokens = {t.content: t.id for t in facts.added_tokens if t.normalized is normalized}
        if tokens:
            sink = TokenSplitter(tokens, sink, merging.ids.append)
    return _feed_chunks(chunks, sink, merging)


class _Merging:
    """The last sink: turns pre-tokens into ids.

    Caches the ids of a short pre-token that ends before `take_ids` gets a part of it."""

    def __init__(self, model: EagerModel) -> None:
        self.ids: list[int] = []
        self._model = model
        self._text, self._is_partly_fed = "", False
        self._cached_ids = lru_cache(CACHED_PRETOKENS)(self._encode)

    def feed(self, text: str) -> None:
        self._text += text

    def end(self) -> None:
        may_cache = not self._is_partly_fed and len(self._text) <= CACHED_LENGTH
        self.ids += self._cached_ids(self._text) if may_cache else self._encode(self._text)
        self._text, self._is_partly_fed = "", False

    def take_ids(self) -> IdArray:
        """Returns the ids since the last call, with the final ids of the unfinished pre-token."""
        self.ids += self._model.feed(self._text.encode())
        self._text, self._is_partly_fed = "", self._is_partly_fed or bool(self._text)
        taken = np.array(self.ids, dtype=np.uint32)
        self.ids.clear()
        return taken

    def _encode(self, rest: str) -> list[int]:
        return self._model.feed(rest.encode()) + self._model.finish()


def _feed_chunks(chunks: Iterator[str], sink: Sink, merging: _Merging) -> Iterator[IdArray]:
    for chunk in chunks:
        sink.feed(chunk)
        yield merging.take_ids()
    sink.end()
    yield merging.take_ids()
