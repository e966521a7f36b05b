"""How a drop-in for a tiktoken.Encoding finds ids without tiktoken's own calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any

import numpy as np
import tiktoken
from numpy.typing import NDArray

from tokpar.adapters.tiktoken import TiktokenTokenizer
from tokpar.arrays import IdArray, concatenate_ids, frozen_ids, has_surrogate, offsets_of
from tokpar.contract.interfaces import TokenizerAdapter
from tokpar.encoder import Encoder
from tokpar.errors import EngineError
from tokpar.integrations.tiktoken_arguments import (
    ALL,
    NOTHING,
    AllowedSpecial,
    Choice,
    DisallowedSpecial,
    SpecialTokens,
    find_any,
    is_all,
)
from tokpar.integrations.tiktoken_calls import FEW_TEXTS, CompiledTexts, LaterTexts
from tokpar.integrations.tiktoken_offsets import TokenOffsets
from tokpar.loading import load
from tokpar.process.interrupts import raise_foreign
from tokpar.results.encoding import Batch
from tokpar.results.text_counts import (
    ARGUMENTS,
    COMPILED,
    LEFT_OVER,
    OF_DROP_INS,
    STRATEGY,
    TextCounts,
    fallback_reason,
)

BATCH_SHARE = 16
"""A batch goes through the pipeline from `smallest_text` / 16 code points on, all its texts
together: tiktoken starts a thread pool for each batch (2 cores, cl100k: tokpar is faster from 800
on)."""
MOST_ADAPTERS = 8
"""Sets of allowed special tokens for which an adapter of the pipeline is kept."""
LARGEST_TABLE = 1 << 20
"""Vocabulary up to which large results share one `int` object for each id."""
MANY_IDS = 1 << 16
"""Ids from which on shared objects are faster than new ones, which are near in memory."""
Own = Callable[..., object]
"""A method of tiktoken that takes a text, `allowed_special` and `disallowed_special`."""


class FastPath:
    """How a `TokparEncoding` encodes through tokpar. `tokenizer` refuses all special tokens.

    `takes_all`: the compiled call takes texts of every length, on `workers` threads if they are
    long. `encode_batch(texts, adapter)` encodes texts of at least `smallest_text` code points by
    the pipeline. `adapter_for(allowed)` encodes these special tokens and refuses none.
    `rebuild(original)` makes such an encoding again."""

    def __init__(
        self,
        original: tiktoken.Encoding,
        tokenizer: TiktokenTokenizer,
        encode_batch: Callable[[Sequence[str], TokenizerAdapter], Batch],
        smallest_text: int,
        rebuild: Callable[[tiktoken.Encoding], Any],
        takes_all: bool,
        workers: int,
    ) -> None:
        self.original, self.tokenizer, self.rebuild = original, tokenizer, rebuild
        self.encode_batch, self.smallest_text = encode_batch, smallest_text
        self.takes_all = takes_all
        self.adapter_for = lru_cache(MOST_ADAPTERS)(tokenizer.allowing)
        self.counts = TextCounts(OF_DROP_INS)
        self.specials = SpecialTokens(original._special_tokens)
        self._token_ids = {
            token: np.array([id_], dtype=np.uint32) for token, id_ in self.specials.ids.items()
        }
        self._refusing = CompiledTexts(tokenizer, workers)
        self.ask: Callable[[str], IdArray | None]
        self.ask = self._refusing.one if takes_all else _answer_nothing
        """Returns the ids of a text without special tokens, which are those of every method, and of
        every argument of which `are_neutral` is true; None for other texts."""
        self.are_neutral, self.count_one = self.specials.are_neutral, self.counts.one_compiled
        self._ordinary = LaterTexts(partial(self.adapter_for, NOTHING), workers)
        self.offsets = TokenOffsets(original)
        self._encoders: dict[object, Encoder] = {}

    def trusted_encoder(
        self, allowed_special: AllowedSpecial, disallowed_special: DisallowedSpecial
    ) -> Encoder:
        """The encoder of texts with untrusted parts, by tiktoken's arguments."""
        settings = {
            "allowed_special": _hashable(allowed_special),
            "disallowed_special": _hashable(disallowed_special),
        }
        key = tuple(settings.values())
        if key not in self._encoders:
            while len(self._encoders) >= MOST_ADAPTERS:
                self._encoders.pop(next(iter(self._encoders)), None)
            self._encoders[key] = Encoder(load(self.original, **settings))
        return self._encoders[key]

    # ------------------------------------------------------------------ one text

    def other_rows(
        self,
        text: str,
        allowed_special: AllowedSpecial,
        disallowed_special: DisallowedSpecial,
        own: Own | None = None,
        mends_surrogates: bool = True,
    ) -> list[IdArray] | None:
        """Returns the ids of a text that `ask` does not know, in one row or several; None if
        tiktoken's own call must be asked, and also for its error. Raises tiktoken's error for a
        disallowed special token."""
        refuses_all = allowed_special is NOTHING and disallowed_special is ALL
        if self.takes_all and not refuses_all:
            choice = self.specials.choice(allowed_special, disallowed_special)
            if choice is not None:
                found = self._rows_of_sections(text, choice, mends_surrogates)
                if found is not None:
                    self.count_one()
                    return found
        if len(text) < self.smallest_text or not (mends_surrogates or not has_surrogate(text)):
            return None
        return self._pipeline_rows([text], allowed_special, disallowed_special, own)

    def _rows_of_sections(
        self, text: str, choice: Choice, mends_surrogates: bool = True
    ) -> list[IdArray] | None:
        """Returns the ids of the special tokens that count, and of the sections between them, each
        of which tiktoken encodes as a text of its own."""
        choice.check(text)
        if has_surrogate(text):
            if not mends_surrogates:
                return None
            text = _without_surrogates(text)
        pieces = choice.pieces(text)
        if pieces is None:
            return None
        if len(pieces) > FEW_TEXTS:
            return self._rows_of_many(pieces)
        found: list[IdArray] = []
        for k, piece in enumerate(pieces):
            if k & 1:
                found.append(self._token_ids[piece])
            elif piece or not k:
                row = self._refusing.one(piece)
                if row is None:
                    row = self._ordinary_row(piece)
                    if row is None:
                        return None
                found.append(row)
        return found

    def _rows_of_many(self, pieces: Sequence[str]) -> list[IdArray] | None:
        """Returns the ids of sections and of the special tokens between them."""
        found: list[IdArray] = []
        for k, row in enumerate(self._refusing.many(pieces[::2])):
            known = self._ordinary_row(pieces[2 * k]) if row is None else row
            if known is None:
                return None
            found += [known, *map(self._token_ids.__getitem__, pieces[2 * k + 1 : 2 * k + 2])]
        return found

    def _ordinary_row(self, text: str) -> IdArray | None:
        """Returns the ids of a text in which special tokens are text like any other. None also
        after a MismatchError: no other call answers then."""
        return None if self._refusing.is_silent else self._ordinary.one(text)

    # -------------------------------------------------------------- several texts

    def takes_batch(
        self,
        num_threads: object,
        allowed_special: AllowedSpecial = NOTHING,
        disallowed_special: DisallowedSpecial = NOTHING,
    ) -> bool:
        """True if tiktoken takes these arguments of a batch, whatever its texts are."""
        is_count = type(num_threads) is int and num_threads > 0
        return is_count and self.specials.choice(allowed_special, disallowed_special) is not None

    def lists(
        self,
        texts: Sequence[str],
        allowed_special: AllowedSpecial,
        disallowed_special: DisallowedSpecial,
        own: Own | None = None,
    ) -> list[list[int]] | None:
        """Returns the ids of each text; None if tiktoken's batch call must be asked. Raises the
        error that tiktoken raises for the first text with a disallowed special token."""
        rows: Sequence[IdArray] | None = None
        if self.takes_all:
            rows = self._compiled_rows(texts, allowed_special, disallowed_special)
        if rows is None and self._is_large(texts):
            rows = self._pipeline_rows(texts, allowed_special, disallowed_special, own)
        return None if rows is None else self.int_lists(rows)

    def _compiled_rows(
        self,
        texts: Sequence[str],
        allowed_special: AllowedSpecial,
        disallowed_special: DisallowedSpecial,
    ) -> list[IdArray] | None:
        choice = self.specials.choice(allowed_special, disallowed_special)
        if choice is None or self._refusing.is_silent:
            return None
        rows = [None] * len(texts) if choice.refuses_others else self._refusing.many(texts)
        found = []
        for text, row in zip(texts, rows, strict=True):
            known = [row] if row is not None else self._rows_of_sections(text, choice)
            if known is None:
                return None
            found.append(known[0] if len(known) == 1 else np.concatenate(known))
        self.counts.add({COMPILED: len(texts)}, "")
        return found

    def _is_large(self, texts: Sequence[str]) -> bool:
        """True for a batch that goes through the pipeline."""
        return bool(texts) and sum(map(len, texts)) >= self.smallest_text // BATCH_SHARE

    def _pipeline_rows(
        self,
        texts: Sequence[str],
        allowed_special: AllowedSpecial,
        disallowed_special: DisallowedSpecial,
        own: Own | None = None,
    ) -> list[IdArray] | None:
        """Returns the ids of texts; None if tiktoken must be called for its error: its method `own`
        takes no such arguments, a text holds a disallowed special token, or an engine failed."""
        if own is not None and not _accepts(own, allowed_special, disallowed_special):
            return None
        specials = self.original.special_tokens_set
        allowed = frozenset(specials if is_all(allowed_special) else specials & allowed_special)
        refused = disallowed_special or ()
        refused = specials - allowed if is_all(refused) else frozenset(refused)
        if _any_holds(texts, frozenset(refused)):
            return None
        texts = [_without_surrogates(text) for text in texts]
        if not _any_holds(texts, allowed):
            allowed = NOTHING  # all ids are those of ordinary text: one cache serves them
        try:
            adapter = self.adapter_for(allowed)
            batch = self.encode_batch(texts, adapter)
        except EngineError:
            return None
        self.counts.add(batch.ways, fallback_reason(adapter.later_call))
        ids = frozen_ids(batch.rows.ids)
        return [ids[start:stop] for start, stop in pairwise(batch.rows.offsets.tolist())]

    # -------------------------------------------------------------------- results

    def int_list(self, rows: Sequence[IdArray]) -> list[int]:
        """Returns the ids of all rows as one list of int."""
        if len(rows) > FEW_TEXTS or sum(map(len, rows)) >= MANY_IDS:
            return self.int_lists([concatenate_ids(rows)])[0]
        found: list[int] = []
        for row in rows:
            found += row.tolist()
        return found

    def int_lists(self, rows: Sequence[IdArray]) -> list[list[int]]:
        """Returns each row as a list of int."""
        size = self.original.n_vocab
        if sum(map(len, rows)) < MANY_IDS or size > LARGEST_TABLE:
            return [row.tolist() for row in rows]
        edges = offsets_of([*map(len, rows)]).tolist()
        objects = _int_objects(size)[np.concatenate(rows)]
        return [objects[start:stop].tolist() for start, stop in pairwise(edges)]

    def count_own(self, texts: int, are_answerable: bool) -> None:
        """Count texts that tiktoken encoded by its own call. `are_answerable`: the compiled call
        takes their arguments, if there is one."""
        reason = fallback_reason(self.tokenizer.later_call) if self.takes_all else STRATEGY
        if reason == LEFT_OVER and not are_answerable:
            reason = ARGUMENTS
        self.counts.add_own(texts, reason)


def _answer_nothing(text: str) -> None:
    """Returns None, the answer of a compiled call that is not to be asked."""


@lru_cache(2)
def _int_objects(size: int) -> NDArray[np.object_]:
    return np.arange(size).astype(object)


def _hashable(special: Any) -> Any:
    return special if isinstance(special, str) else frozenset(special)


def _accepts(
    own: Own, allowed_special: AllowedSpecial, disallowed_special: DisallowedSpecial
) -> bool:
    """True if a method of tiktoken takes these arguments."""
    try:
        own("", allowed_special=allowed_special, disallowed_special=disallowed_special)
    except Exception as error:
        raise_foreign(error)
        return False
    return True


def _any_holds(texts: Sequence[str], contents: frozenset[str]) -> bool:
    search = find_any(contents).search
    return bool(contents) and any(search(text) is not None for text in texts)


def _without_surrogates(text: str) -> str:
    """Returns the text that tiktoken encodes in place of one with surrogates."""
    if not has_surrogate(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
