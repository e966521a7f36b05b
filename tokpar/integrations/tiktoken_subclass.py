"""`as_tiktoken`: a tiktoken.Encoding whose long texts and batches tokpar encodes."""

from __future__ import annotations

import types
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import tiktoken
import tiktoken.registry
from numpy.typing import NDArray
from tiktoken.core import _special_token_regex

from tokpar.adapters.tiktoken import TiktokenTokenizer
from tokpar.adapters.tiktoken_encodings import OwnEncoding
from tokpar.arrays import IdArray, frozen_ids, has_surrogate, plain_text
from tokpar.contract.interfaces import TokenizerAdapter
from tokpar.encoder import Encoder, Spans
from tokpar.errors import EngineError, OptionError
from tokpar.loading import load
from tokpar.process.interrupts import raise_foreign
from tokpar.results.encoding import Batch
from tokpar.results.text_counts import (
    ARGUMENTS,
    LEFT_OVER,
    OF_DROP_INS,
    STRATEGY,
    UNTRUSTED,
    TextCounts,
    fallback_reason,
)
from tokpar.types import Rows

AllowedSpecial = Literal["all"] | AbstractSet[str]
DisallowedSpecial = Literal["all"] | Collection[str]

BATCH_SHARE = 16
"""A batch goes through tokpar from `smallest_text` / 16 code points on, all its texts together:
tiktoken starts a thread pool for each batch (2 cores, cl100k: tokpar is faster from 800 on)."""
_NOTHING: frozenset[str] = frozenset()
MOST_ADAPTERS = 8
"""Sets of allowed special tokens for which an adapter, which has a cache of its own, is kept."""
LARGEST_TABLE = 1 << 20
"""Vocabulary up to which large results share one `int` object for each id."""
MANY_IDS = 1 << 16
"""Ids from which on shared objects are faster than new ones, which are near in memory."""


class TokparEncoding(tiktoken.Encoding):  # type: ignore[misc]  # tiktoken may be missing
    """A `tiktoken.Encoding` that encodes long texts and batches through tokpar.

    Arguments, results and errors are tiktoken's; methods that are not faster here are inherited.
    It shares the attributes of the original encoding: an attribute set on one is set on both.
    `pickle`, `copy` and `deepcopy` make such an object again. Thread-safe; survives a fork."""

    _tokpar: FastPath

    @property
    def tokpar_calls(self) -> int:
        """How many texts went through tokpar; `tokpar_texts` says how."""
        return self._tokpar.counts.through_tokpar

    @property
    def tokpar_texts(self) -> dict[str, int]:
        """How many texts were encoded in each way: "compiled", "cut", "untrusted", "engine"."""
        return self._tokpar.counts.by_way

    @property
    def tokpar_fallbacks(self) -> dict[str, int]:
        """Why tiktoken encoded texts, and how many; see `tokpar.results.encoder_report.REASONS`."""
        return self._tokpar.counts.fallbacks

    def encode(
        self,
        text: str,
        *,
        allowed_special: AllowedSpecial = _NOTHING,
        disallowed_special: DisallowedSpecial = "all",
        untrusted: Spans | None = None,
    ) -> list[int]:
        """Ids of `text`. ValueError for a disallowed special token, as tiktoken words it.

        `untrusted`: [start, stop) of parts of the text in which no special token counts, and none
        is an error; code points (docs/untrusted.md)."""
        path, text = self._tokpar, plain_text(text)
        if untrusted is not None:
            encoder = path.trusted_encoder(allowed_special, disallowed_special)
            trusted: list[int] = encoder.encode(text, untrusted=untrusted).ids.tolist()
            path.counts.add({UNTRUSTED: 1}, "")
            return trusted
        is_plain = allowed_special is _NOTHING and disallowed_special == "all"
        if is_plain:
            found = path.compiled_ids(text, path.tokenizer)
            if found is not None:
                return found
        own = path.original.encode  # super() costs a short text 0.4 microseconds more
        if isinstance(text, str) and len(text) >= path.smallest_text:
            disallowed_special = _reusable(disallowed_special)
            rows = path.encode([text], allowed_special, disallowed_special, own)
            if rows is not None:
                return path.lists(rows)[0]
        ids: list[int] = own(
            text, allowed_special=allowed_special, disallowed_special=disallowed_special
        )
        path.count_own(1, is_plain)
        return ids

    def encode_ordinary(self, text: str) -> list[int]:
        """Ids of `text`; special tokens are encoded as ordinary text."""
        path, text = self._tokpar, plain_text(text)
        found = path.compiled_ids(text, path.ordinary) if path.takes_all else None
        if found is not None:
            return found
        if isinstance(text, str) and len(text) >= path.smallest_text:
            rows = path.encode([text])
            if rows is not None:
                return path.lists(rows)[0]
        ids: list[int] = path.original.encode_ordinary(text)
        path.count_own(1, True)
        return ids

    def encode_to_numpy(
        self,
        text: str,
        *,
        allowed_special: AllowedSpecial = frozenset(),
        disallowed_special: DisallowedSpecial = "all",
    ) -> IdArray:
        """Ids of `text`, uint32, (n,), read-only. UnicodeEncodeError for a surrogate."""
        path, text = self._tokpar, plain_text(text)
        own = path.original.encode_to_numpy
        long = isinstance(text, str) and len(text) >= path.smallest_text
        if long and not has_surrogate(text):
            disallowed_special = _reusable(disallowed_special)
            rows = path.encode([text], allowed_special, disallowed_special, own)
            if rows is not None:
                return frozen_ids(rows.ids)
        ids: IdArray = own(
            text, allowed_special=allowed_special, disallowed_special=disallowed_special
        )
        path.count_own(1, False)
        return ids

    def encode_batch(
        self,
        text: Iterable[str],
        *,
        num_threads: int = 8,
        allowed_special: AllowedSpecial = frozenset(),
        disallowed_special: DisallowedSpecial = "all",
    ) -> list[list[int]]:
        """The ids of each text. `num_threads` counts only where tiktoken encodes the batch."""
        if not _is_all(disallowed_special):
            disallowed_special = frozenset(disallowed_special)
        special = {"allowed_special": allowed_special, "disallowed_special": disallowed_special}
        return self._batch("encode_batch", text, num_threads, special)

    def encode_ordinary_batch(
        self, text: Iterable[str], *, num_threads: int = 8
    ) -> list[list[int]]:
        """As `encode_batch`; special tokens are encoded as ordinary text."""
        return self._batch("encode_ordinary_batch", text, num_threads, {})

    def _batch(
        self, name: str, text: Iterable[str], num_threads: int, special: Mapping[str, Any]
    ) -> list[list[int]]:
        """The ids of each text, by tokpar or by the method `name` of tiktoken."""
        path, options = self._tokpar, {"num_threads": num_threads, **special}
        getattr(path.original, name)([], **options)  # what tiktoken raises before it reads a text
        texts = [*map(plain_text, text)]
        if path.is_large(texts):
            rows = path.encode(texts, **special, own=path.original.encode if special else None)
            if rows is not None:
                return path.lists(rows)
        return [*getattr(super(), name)(texts, **options)]  # which calls and counts each text

    def _tokpar_original(self) -> tiktoken.Encoding:
        """The original encoding, which `tokpar.load` loads in place of this object."""
        return self._tokpar.original

    def __reduce__(self) -> tuple[object, ...]:
        """By the original, which tiktoken pickles by its name if it is a registered encoding."""
        return self._tokpar.rebuild, (self._tokpar.original,)


def _hashable(special: Literal["all"] | Collection[str]) -> Any:
    return special if isinstance(special, str) else frozenset(special)


@dataclass(frozen=True, slots=True, eq=False)
class FastPath:
    """How a `TokparEncoding` encodes through tokpar. `tokenizer` refuses all special tokens.
    `takes_all`: the compiled call takes texts of every length. `adapter_for(allowed)` encodes these
    special tokens and refuses none. `rebuild(original)` makes such an encoding again."""

    original: tiktoken.Encoding
    tokenizer: TiktokenTokenizer
    takes_all: bool
    smallest_text: int
    encode_batch: Callable[[Sequence[str], TokenizerAdapter], Batch]
    adapter_for: Callable[[frozenset[str]], TiktokenTokenizer]
    rebuild: Callable[[tiktoken.Encoding], TokparEncoding]
    counts: TextCounts = field(default_factory=partial(TextCounts, OF_DROP_INS))
    encoders: dict[object, Encoder] = field(default_factory=dict)

    def trusted_encoder(
        self, allowed_special: AllowedSpecial, disallowed_special: DisallowedSpecial
    ) -> Encoder:
        """The encoder of texts with untrusted parts, by tiktoken's arguments."""
        settings = {
            "allowed_special": _hashable(allowed_special),
            "disallowed_special": _hashable(disallowed_special),
        }
        key = tuple(settings.values())
        if key not in self.encoders:
            while len(self.encoders) >= MOST_ADAPTERS:
                self.encoders.pop(next(iter(self.encoders)), None)
            self.encoders[key] = Encoder(load(self.original, **settings))
        return self.encoders[key]

    @property
    def ordinary(self) -> TiktokenTokenizer:
        """The tokenizer for which special tokens are text like any other."""
        return self.adapter_for(_NOTHING)

    def compiled_ids(self, text: object, tokenizer: TiktokenTokenizer) -> list[int] | None:
        """The ids of a text by the compiled call of a tokenizer; None where it has none, or cannot
        answer."""
        later = tokenizer.later_call if self.takes_all else None
        if later is None or later.call is None or not isinstance(text, str):
            return None
        try:
            ids = later.call.encode(text)
        except EngineError:  # a MismatchError is logged, and tiktoken encodes from now on
            return None
        if ids is None:
            return None
        self.counts.one_compiled()
        found: list[int] = ids.tolist()
        return found

    def is_large(self, texts: Sequence[object]) -> bool:
        """True for a batch of texts that goes through tokpar."""
        if not texts or not all(isinstance(text, str) for text in texts):
            return False
        return sum(map(len, texts)) >= self.smallest_text // BATCH_SHARE  # type: ignore[arg-type]

    def encode(
        self,
        texts: Sequence[str],
        allowed_special: AllowedSpecial = frozenset(),
        disallowed_special: DisallowedSpecial = frozenset(),
        own: Callable[..., object] | None = None,
    ) -> Rows | None:
        """The ids of texts; None if tiktoken must be called for its error: its method `own` takes
        no such arguments, a text holds a disallowed special token, or an engine failed."""
        if own is not None and not _accepts(own, allowed_special, disallowed_special):
            return None
        specials = self.original.special_tokens_set
        allowed = frozenset(specials if _is_all(allowed_special) else specials & allowed_special)
        refused = disallowed_special or ()
        refused = specials - allowed if _is_all(refused) else frozenset(refused)
        if _any_holds(texts, frozenset(refused)):
            return None
        texts = [_without_surrogates(text) for text in texts]
        if not _any_holds(texts, allowed):
            allowed = frozenset()  # all ids are those of ordinary text: one cache serves them
        try:
            adapter = self.adapter_for(allowed)
            batch = self.encode_batch(texts, adapter)
        except EngineError:
            return None
        self.counts.add(batch.ways, fallback_reason(adapter.later_call))
        return batch.rows

    def count_own(self, texts: int, was_asked: bool) -> None:
        """Count texts that tiktoken encoded by its own call. `was_asked`: the compiled call was
        asked for them, if there is one."""
        reason = fallback_reason(self.tokenizer.later_call) if self.takes_all else STRATEGY
        if reason == LEFT_OVER and not was_asked:
            reason = ARGUMENTS
        self.counts.add_own(texts, reason)

    def lists(self, rows: Rows) -> list[list[int]]:
        """The ids of each row."""
        ids, size = rows.ids, self.original.n_vocab
        shared = len(ids) >= MANY_IDS and size <= LARGEST_TABLE
        objects = _int_objects(size)[ids] if shared else ids
        return [objects[start:stop].tolist() for start, stop in pairwise(rows.offsets.tolist())]


@lru_cache(2)
def _int_objects(size: int) -> NDArray[np.object_]:
    return np.arange(size).astype(object)


def make_faster(
    tokenizer: TokenizerAdapter,
    encode_batch: Callable[[Sequence[str], TokenizerAdapter], Batch],
    smallest_text: int,
    rebuild: Callable[[tiktoken.Encoding], TokparEncoding],
    takes_all: bool = False,
) -> TokparEncoding:
    """The encoding of `tokenizer` as a `TokparEncoding`, an instance of the encoding's own class
    too. `encode_batch(texts, adapter)` encodes texts of at least `smallest_text` code points.
    `takes_all`: the compiled call takes texts of every length. Raises OptionError."""
    if isinstance(tokenizer, OwnEncoding):
        raise OptionError(
            f"as_tiktoken cannot follow this encoding: {tokenizer.why}; use the encoding itself"
        )
    if not isinstance(tokenizer, TiktokenTokenizer):
        raise OptionError(
            f"as_tiktoken needs a tiktoken.Encoding or a .tiktoken file, got {tokenizer.name}"
        )
    if not isinstance(smallest_text, int) or smallest_text < 0:
        raise OptionError(
            f"smallest_text must be a number of code points, 0 or more, got {smallest_text!r}"
        )
    original = find_registered(tokenizer.encoding)
    adapters = lru_cache(MOST_ADAPTERS)(tokenizer.allowing)
    kind = _class_for(type(original))
    made = kind.__new__(kind)
    made.__dict__ = original.__dict__
    refusing = TiktokenTokenizer(tokenizer.encoding, _NOTHING, "all", tokenizer.cache_bytes)
    columns = smallest_text, encode_batch, adapters, rebuild
    made._tokpar = FastPath(original, refusing, takes_all, *columns)
    return made


_classes: dict[type[tiktoken.Encoding], type[TokparEncoding]] = {}


def _class_for(base: type[tiktoken.Encoding]) -> type[TokparEncoding]:
    """The one class that derives from `TokparEncoding` and from `base`, and is named as `base`."""
    names = {
        "__slots__": ("_tokpar",),
        "__module__": base.__module__,
        "__qualname__": base.__qualname__,
        "__doc__": base.__doc__,
    }
    if base not in _classes:
        bases = (TokparEncoding,) if base is tiktoken.Encoding else (TokparEncoding, base)
        made = types.new_class(base.__name__, bases, exec_body=lambda space: space.update(names))
        _classes.setdefault(base, made)
    return _classes[base]


def find_registered(encoding: tiktoken.Encoding) -> tiktoken.Encoding:
    """The encoding that tiktoken keeps under its name, for another object with its attributes.
    tiktoken pickles only that one by its name, and what tokpar has learned of it serves copies."""
    kept = tiktoken.registry.ENCODINGS.get(encoding.name)
    return kept if kept is not None and vars(kept) is vars(encoding) else encoding


def _accepts(
    own: Callable[..., object],
    allowed_special: AllowedSpecial,
    disallowed_special: DisallowedSpecial,
) -> bool:
    """True if a method of tiktoken takes these arguments."""
    try:
        own("", allowed_special=allowed_special, disallowed_special=disallowed_special)
    except Exception as error:
        raise_foreign(error)
        return False
    return True


def _is_all(special: object) -> bool:
    return isinstance(special, str) and special == "all"


def _reusable(special: Any) -> Any:
    """A set in place of an iterator, which one look would use up; an empty iterator as it is: it is
    true, so that tiktoken looks for no token at all and finds that everywhere."""
    if isinstance(special, str) or not special:
        return special
    return frozenset(special) or special


def _any_holds(texts: Sequence[str], tokens: frozenset[str]) -> bool:
    search = _special_token_regex(tokens).search
    return bool(tokens) and any(search(text) is not None for text in texts)


def _without_surrogates(text: str) -> str:
    """The text that tiktoken encodes in place of one with surrogates."""
    if not has_surrogate(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
