"""Ids of a text while it arrives, each as soon as nothing that follows can change it: between
certified cuts by the tokenizer itself (proofs/stream.md), inside pre-tokens by one that encodes
eagerly, and at the end where nothing is certified."""

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import chain
from typing import Protocol, runtime_checkable

import numpy as np

from tokpar.arrays import IdArray, has_surrogate
from tokpar.cuts.finder import finder_for
from tokpar.cuts.incremental_pretokenizer import Sink, TokenSplitter, splitters
from tokpar.cuts.stream_cuts import UnfinishedText
from tokpar.errors import EngineError, OptionError
from tokpar.interfaces import Ability, ChecksText, PostProcesses, TokenizerAdapter, facts_of
from tokpar.patterns.expression import UnsupportedPatternError

MEMO_PIECES = 1 << 16
MEMO_LENGTH = 32


class EagerModel(Protocol):
    """Turns one pre-token after the other into ids while its bytes arrive."""

    def feed(self, data: bytes) -> list[int]:
        """More bytes of the pre-token; the ids that are final now and were not before."""

    def finish(self) -> list[int]:
        """The pre-token ends here; its other ids."""


@runtime_checkable
class EncodesEagerly(Protocol, metaclass=Ability):
    """Need not see the end of a pre-token to give the first of its ids."""

    def eager_model(self) -> EagerModel:
        """A new one, at the start of a pre-token. OptionError if the vocabulary is such that the
        first ids of a pre-token may depend on its end, however far that is."""


def stream(
    chunks: Iterable[str], tokenizer: TokenizerAdapter, whole: Callable[[str], IdArray]
) -> Iterator[IdArray]:
    """Arrays of ids, none empty; together the ids of the text that the chunks make up.

    `whole` encodes a whole text, finishing included: what is done at the end where no id is final
    before. Chunks are taken one by one, when ids are asked for. Raises OptionError for a chunk that
    is no str, and what encoding the text would raise, as soon as the part that is to blame is seen.
    """
    if isinstance(chunks, str):
        raise OptionError("stream takes the chunks of a text, got one str; pass [text]")
    if not encodes_parts(tokenizer):
        return _not_empty(_at_the_end(_strings(chunks), whole))
    checked = _checked(_strings(chunks), tokenizer)
    eager = _eager_ids(checked, tokenizer)
    ids = _between_cuts(checked, tokenizer, tokenizer.encode) if eager is None else eager
    return _with_special_tokens(ids, tokenizer)


def stream_parts(
    chunks: Iterable[str], tokenizer: TokenizerAdapter, encode: Callable[[str], IdArray]
) -> Iterator[IdArray]:
    """The same for a tokenizer that `encodes_parts`, where each part, as long as the chunks allow,
    is encoded by `encode`, before special tokens: in parallel, from a cache."""
    checked = _checked(_strings(chunks), tokenizer)
    return _with_special_tokens(_between_cuts(checked, tokenizer, encode), tokenizer)


def encodes_parts(tokenizer: TokenizerAdapter) -> bool:
    """True if a text may be encoded part by part: some places are certified cuts, and nothing that
    follows depends on the whole, as truncation and padding do."""
    around = tokenizer.around if isinstance(tokenizer, PostProcesses) else ()
    return around is not None and finder_for(facts_of(tokenizer)).refusal is None


def _with_special_tokens(ids: Iterable[IdArray], tokenizer: TokenizerAdapter) -> Iterator[IdArray]:
    around = (tokenizer.around or ()) if isinstance(tokenizer, PostProcesses) else ()
    return _not_empty(chain(around[:1], ids, around[1:]))


def _not_empty(ids: Iterable[IdArray]) -> Iterator[IdArray]:
    """A generator, which can be closed."""
    yield from filter(len, ids)


def _at_the_end(chunks: Iterator[str], whole: Callable[[str], IdArray]) -> Iterator[IdArray]:
    yield whole("".join(chunks))


def _strings(chunks: Iterable[str]) -> Iterator[str]:
    start = 0
    for number, chunk in enumerate(chunks):
        if not isinstance(chunk, str):
            raise OptionError(
                f"chunk {number}, at code point {start:,} of the text, must be a str, "
                f"got {type(chunk).__name__}"
            )
        start += len(chunk)
        yield chunk


def _checked(chunks: Iterator[str], tokenizer: TokenizerAdapter) -> Iterator[str]:
    """The chunks, each of them checked, with the end of those before as far as it matters."""
    if not isinstance(tokenizer, ChecksText):
        yield from chunks
        return
    contents = facts_of(tokenizer).forbidden
    reach = max(map(len, contents), default=1)
    tail, start = "", 0
    for chunk in chunks:
        seen = tail + chunk
        try:
            tokenizer.check_text(seen)
        except OptionError as error:
            where = f"the chunk at code point {start:,} of the text"
            raise OptionError(f"{where}: {error}") from error
        start += len(chunk)
        tail = seen[max(0, len(seen) - reach + 1) :]
        yield chunk


def _between_cuts(
    chunks: Iterator[str], tokenizer: TokenizerAdapter, encode: Callable[[str], IdArray]
) -> Iterator[IdArray]:
    """What lies before the last final cut is encoded by itself; the rest is a text of its own."""
    unfinished = UnfinishedText(finder_for(facts_of(tokenizer)))
    # `text` stays a plain local variable, which CPython extends in place
    text, start, tried, certifiable = "", 0, 0, True
    for chunk in chunks:
        text += chunk
        certifiable = certifiable and not has_surrogate(chunk)
        if not certifiable:
            continue
        horizon = unfinished.horizon(text)
        seam = unfinished.last_pair(text, horizon) or unfinished.last_cut(text, tried, horizon)
        if seam is None:
            tried = max(tried, horizon)
            continue
        ids = _encoded(encode, text[: seam.position], start)
        taken = seam.position + int(dict(seam.witness).get("absorbed", 0))
        text, start, tried = text[taken:], start + taken, max(0, horizon - taken)
        yield ids
    yield _encoded(encode, text, start)


def _encoded(encode: Callable[[str], IdArray], text: str, start: int) -> IdArray:
    """The place of an EngineError is counted from the start of the whole text."""
    try:
        return encode(text)
    except EngineError as error:
        raise EngineError(str(error), start + error.start, start + error.stop) from error


def _eager_ids(chunks: Iterator[str], tokenizer: TokenizerAdapter) -> Iterator[IdArray] | None:
    """Ids inside pre-tokens, too; None if the tokenizer cannot give them."""
    facts = facts_of(tokenizer)
    plain = not any(t.lstrip or t.rstrip or t.single_word for t in facts.added_tokens)
    # the pre-tokens are those of `regex`, gaps included, and nothing is changed before
    known = plain and facts.engine == "regex" and facts.scheme == "regex" and facts.tiles
    if not isinstance(tokenizer, EncodesEagerly) or not known:
        return None
    try:
        merging = _Merging(tokenizer.eager_model())
        sink = splitters(facts.patterns, merging)
    except (OptionError, UnsupportedPatternError):
        return None
    for normalized in (True, False):  # those that are not are found first, the others in the rest
        tokens = {t.content: t.id for t in facts.added_tokens if t.normalized is normalized}
        if tokens:
            sink = TokenSplitter(tokens, sink, merging.ids.append)
    return _fed(chunks, sink, merging)


class _Merging:
    """The last in the row: pre-tokens become ids. One complete before `taken` is remembered."""

    def __init__(self, model: EagerModel) -> None:
        self.ids: list[int] = []
        self._model = model
        self._text, self._begun = "", False
        self._remembered = lru_cache(MEMO_PIECES)(self._encoded)

    def feed(self, text: str) -> None:
        self._text += text

    def end(self) -> None:
        known = not self._begun and len(self._text) <= MEMO_LENGTH
        self.ids += self._remembered(self._text) if known else self._encoded(self._text)
        self._text, self._begun = "", False

    def taken(self) -> IdArray:
        """The ids since the last time, of the pre-token in progress what is final."""
        self.ids += self._model.feed(self._text.encode())
        self._text, self._begun = "", self._begun or bool(self._text)
        taken = np.array(self.ids, dtype=np.uint32)
        self.ids.clear()
        return taken

    def _encoded(self, rest: str) -> list[int]:
        return self._model.feed(rest.encode()) + self._model.finish()


def _fed(chunks: Iterator[str], sink: Sink, merging: _Merging) -> Iterator[IdArray]:
    for chunk in chunks:
        sink.feed(chunk)
        yield merging.taken()
    sink.end()
    yield merging.taken()
