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
from tokpar.arrays import IdArray, concatenate_ids, has_surrogate
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
)
from tokpar.integrations.tiktoken_calls import CompiledTexts, LaterTexts
from tokpar.integrations.tiktoken_offsets import TokenOffsets
from tokpar.loading import load
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
from tokpar.types import Rows

BATCH_SHARE = 16
"""A batch goes through the pipeline from `smallest_text` / 16 code points on, all its texts
together: tiktoken starts a thread pool for each batch (2 cores, cl100k: tokpar is faster from 800
on)."""
MOST_ADAPTERS = 8
"""Sets of allowed special tokens for which an adapter is kept."""
USES, MOST_COUNTED = 16, 64
"""Texts after which a set of allowed special tokens gets an adapter; sets that are counted."""
LARGEST_TABLE = 1 << 20
"""Vocabulary up to which large results share one `int` object for each id."""
MANY_IDS = 1 << 16
"""Ids from which on shared objects are faster than new ones, which are near in memory."""
FEW_PIECES = 16
"""Sections and special tokens up to which one call for each section is faster than one for all."""


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
        self._workers = workers
        self._allowing: dict[frozenset[str], LaterTexts] = {}
        """The calls that match special tokens by themselves, by the tokens that count."""
        self._uses: dict[frozenset[str], int] = {}
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
        rows = self._pipeline_rows([text], allowed_special, disallowed_special)
        return None if rows is None else [rows.ids]

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
        if choice.allowed in self._allowing and not self._refusing.is_silent:
            whole = self._allowing[choice.allowed].one(text)
            if whole is not None:
                return [whole]
        pieces = choice.pieces(text)
        if pieces is None:
            return None
        if len(pieces) > 1:
            self._count_use(choice.allowed)
        if len(pieces) > FEW_PIECES:
            sections = self._rows_of(pieces[::2], lambda section: self._ordinary_row(section))
            return None if sections is None else self._woven(sections, pieces[1::2])
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

    def _count_use(self, allowed: frozenset[str]) -> None:
        """Count a text in which allowed special tokens stand. A set of them that comes again and
        again gets a call, which a thread makes: it is faster than a call for each section."""
        if allowed in self._allowing or len(self._allowing) >= MOST_ADAPTERS:
            return
        uses = self._uses[allowed] = self._uses.get(allowed, 0) + 1
        if uses >= USES:
            make = partial(self.adapter_for, allowed)
            self._allowing[allowed] = LaterTexts(make, self._workers)
        elif len(self._uses) > MOST_COUNTED:
            self._uses = {}

    def _woven(self, sections: Rows, tokens: Sequence[str]) -> list[IdArray]:
        """Returns the ids of sections with the id of a special token between each two."""
        ids = np.array([self.specials.ids[token] for token in tokens], dtype=np.uint32)
        return [np.insert(sections.ids, sections.offsets[1:-1], ids)]

    def _rows_of(
        self, texts: list[str], encode_other: Callable[[str], IdArray | None]
    ) -> Rows | None:
        """Returns the ids of texts; None where `encode_other` returns None for a text in which a
        special token stands."""
        found = self._refusing.many(texts)
        if found is None:
            return None
        rows, is_answered = found
        if all(is_answered):
            return rows
        each: list[IdArray] = []
        for k, text in enumerate(texts):
            row = rows[k] if is_answered[k] else encode_other(text)
            if row is None:
                return None
            each.append(row)
        return Rows.of(each)

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
        texts: list[str],
        allowed_special: AllowedSpecial,
        disallowed_special: DisallowedSpecial,
    ) -> list[list[int]] | None:
        """Returns the ids of each text; None if tiktoken's batch call must be asked. Raises the
        error that tiktoken raises for the first text with a disallowed special token."""
        rows: Rows | None = None
        if self.takes_all:
            rows = self._compiled_rows(texts, allowed_special, disallowed_special)
        if rows is None and self._is_large(texts):
            rows = self._pipeline_rows(texts, allowed_special, disallowed_special)
        return None if rows is None else self.int_lists(rows)

    def _compiled_rows(
        self,
        texts: list[str],
        allowed_special: AllowedSpecial,
        disallowed_special: DisallowedSpecial,
    ) -> Rows | None:
        choice = self.specials.choice(allowed_special, disallowed_special)
        if choice is None or self._refusing.is_silent:
            return None

        def encode_other(text: str) -> IdArray | None:
            known = self._rows_of_sections(text, choice)
            return None if known is None else concatenate_ids(known)

        if choice.refuses_others:
            for text in texts:
                choice.check(text)
        rows = self._rows_of(texts, encode_other)
        if rows is not None:
            self.counts.add({COMPILED: len(texts)}, "")
        return rows

    def _is_large(self, texts: Sequence[str]) -> bool:
        """True for a batch that goes through the pipeline."""
        return bool(texts) and sum(map(len, texts)) >= self.smallest_text // BATCH_SHARE

    def _pipeline_rows(
        self,
        texts: Sequence[str],
        allowed_special: AllowedSpecial,
        disallowed_special: DisallowedSpecial,
    ) -> Rows | None:
        """Returns the ids of texts; None if tiktoken must be called, and also for its error: it
        reads the arguments in another way, a text holds a disallowed special token, or an engine
        failed."""
        choice = self.specials.choice(allowed_special, disallowed_special)
        if choice is None:
            return None
        if choice.find_refused is not None and any(map(choice.find_refused.search, texts)):
            return None
        texts = [_without_surrogates(text) for text in texts]
        counts = choice.find_allowed is not None and any(map(choice.find_allowed.search, texts))
        allowed = choice.allowed if counts else NOTHING  # one cache serves all ordinary text
        try:
            adapter = self.adapter_for(allowed)
            batch = self.encode_batch(texts, adapter)
        except EngineError:
            return None
        self.counts.add(batch.ways, fallback_reason(adapter.later_call))
        return batch.rows

    # -------------------------------------------------------------------- results

    def int_list(self, rows: Sequence[IdArray]) -> list[int]:
        """Returns the ids of all rows as one list of int."""
        if sum(map(len, rows)) >= MANY_IDS:
            return self._ints(concatenate_ids(rows))
        found: list[int] = []
        for row in rows:
            found += row.tolist()
        return found

    def int_lists(self, rows: Rows) -> list[list[int]]:
        """Returns each row as a list of int."""
        ints = self._ints(rows.ids)
        return [ints[start:stop] for start, stop in pairwise(rows.offsets.tolist())]

    def _ints(self, ids: IdArray) -> list[int]:
        size = self.original.n_vocab
        shares_objects = len(ids) >= MANY_IDS and size <= LARGEST_TABLE
        ints: list[int] = (_int_objects(size)[ids] if shares_objects else ids).tolist()
        return ints

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


def _without_surrogates(text: str) -> str:
    """Returns the text that tiktoken encodes in place of one with surrogates."""
    if not has_surrogate(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
