"""Makes the compiled call of a tokenizer: from tables on disk, or in the background."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tokpar.compiled.front import Front
from tokpar.compiled.merges import GateError
from tokpar.errors import ChangedError
from tokpar.process import disk_cache
from tokpar.process.interrupts import raise_foreign
from tokpar.types import AddedToken, Facts, Seam

if TYPE_CHECKING:
    from tokpar.arrays import IdArray
    from tokpar.compiled.call_tables import Arrays
    from tokpar.compiled.compiled_call import CompiledCall, EncodeMany, FindCut, TokenizeWord
    from tokpar.compiled.segment_engine import SegmentEngine
    from tokpar.process.thread_pool import BackgroundJob

KIND = "calls"
"""The directory of the tables in the cache on disk."""
LEAST_KEPT = 1 << 16
"""The least bytes of a model whose tables are stored: others are made sooner than found."""
BEING_MADE = "its tables are being made"
IN_BACKGROUND = True
"""Tables are made by a thread of the pool, so nobody waits for them."""
AT_FIRST_CALL = False
"""Nothing is made or mapped before the first text, for processes that may encode nothing."""
DRAWN, DRAWN_AGAIN = 400, 40
"""The most texts that are compared with the engine when tables are made, and when they are read."""
LONGEST_DRAWN = 1 << 8
"""Code points of added tokens that are drawn again and again."""
MOST_DRAWN = 1 << 16
"""Code points of longer added tokens, each of which is in one drawn text."""
FARTHEST = 1 << 16
"""Code points in which a cut is looked for."""
_ATOMS = [
    *" .1aß中的ก한😀\n\t\x00\u0e34\u200d\ufe0f\u00a0\u3000\u2581",
    *("  ", "\r\n", "12345", "don't", "é", "e\u0301", "\u1112\u1161"),
]


@dataclass(frozen=True, slots=True)
class CallParts:
    """What a compiled call is made from.

    `identity`: all that decides the tables, or None for tables that are made sooner than found.
    `make_arrays`: makes them, in another thread; may raise GateError. No step of it keeps the other
    threads from running for more than some milliseconds.
    `added_tokens`, `special`: see `call_of`; None if post-processing does more. `tokens`: returns
    some tokens as text, to draw texts from.
    The other fields: see `CompiledCall`."""

    identity: Sequence[bytes | str] | None
    make_arrays: Callable[[], Arrays]
    added_tokens: Mapping[str, tuple[int, int, int]]
    special: tuple[Sequence[int], Sequence[int]] | None
    tokens: Callable[[], Sequence[str]]
    encode_many: EncodeMany
    tokenize: TokenizeWord
    find_cut: FindCut
    longest_word: int = 1 << 40
    engine: Callable[[], SegmentEngine] | None = None
    """Returns what asks the engine for segments, for tables that need it. May raise GateError."""
    forget: Callable[[], object] = int
    """Called after drawn texts were compared: the engine forgets their words."""


class LaterCall:
    """The compiled call of a tokenizer as soon as there is one.

    Tables on disk are mapped at once; a thread of the pool makes others. `call` is None until then,
    and for a tokenizer that has no compiled call; `why_none` says why. With AT_FIRST_CALL, and in a
    forked child that lacks this thread, all this begins when somebody looks at `call`."""

    call: CompiledCall | None
    tables: str
    """Where the tables come from, in words; empty before they are there."""

    def __init__(self, parts: CallParts) -> None:
        self._why_none, self.tables, self.parts_of_deferred = BEING_MADE, "", parts
        self._later: BackgroundJob | None = None
        if not AT_FIRST_CALL:
            self._begin()

    def __getattr__(self, name: str) -> CompiledCall | None:
        if name != "call":
            raise AttributeError(name)
        self._begin()
        return self.__dict__.get("call")

    def _begin(self) -> None:
        """Map the tables, or begin to make them. One thread does; others do not wait."""
        if (parts := self.__dict__.pop("parts_of_deferred", None)) is None:
            return
        self.call = None
        self._take(_stored_call(parts, _key(parts)) or BEING_MADE, _read_from())
        if self.call is None and IN_BACKGROUND:
            from tokpar.compiled.table_jobs import job_of  # few processes make tables

            self._later = job_of(self, parts)
        elif self.call is None:
            self.build(parts)

    @property
    def why_none(self) -> str:
        """Why no compiled call answers, in words; empty if one does."""
        if "parts_of_deferred" in self.__dict__:
            return "its tables are made when the first text comes"
        return self._why_none if self.call is None else self.call.why_stopped

    @property
    def is_being_made(self) -> bool:
        """True until the tables are there, or it is known why there are none."""
        return self._why_none is BEING_MADE

    def front(self, workers: int = 1) -> Front:
        """Returns the door to the call. `workers`: threads for long texts and large batches."""
        return Front(self, workers)

    def wait(self) -> CompiledCall | None:
        """Returns the call, after its tables were made; None if there is none."""
        self._begin()
        if self._later is not None:
            self._later.wait()
        return self.call

    def build(self, parts: CallParts) -> None:
        """Make the tables. Raises MemoryError, and errors of components written in Python."""
        try:
            key, start = _key(parts), time.perf_counter()
            made = _new_call(parts, key)
            self._take(made, _made_in(time.perf_counter() - start, key))
        except BaseException as error:
            self._why_none = f"its tables could not be made: {error_text(error)}"
            raise

    def _take(self, found: CompiledCall | str, tables: str) -> None:
        """Take the call, or why there is none. `tables`: where its tables come from."""
        self.tables = "" if isinstance(found, str) else tables
        self._why_none = found if isinstance(found, str) else ""
        self.call = None if isinstance(found, str) else found


def _read_from() -> str:
    return f"read from {disk_cache.directory(KIND)}"


def _made_in(seconds: float, key: str | None) -> str:
    is_kept = key is not None and disk_cache.is_kept(KIND, key)
    kept = f"kept in {disk_cache.directory(KIND)}" if is_kept else "not kept"
    return f"made in {seconds:.2g} s, {kept}"


def _new_call(parts: CallParts, key: str | None) -> CompiledCall | str:
    """Returns the call with new tables, which are stored; or why there is none."""
    try:
        arrays = parts.make_arrays()
    except GateError as error:
        return str(error)
    call = checked_call(parts, arrays, DRAWN)
    if key is not None and not isinstance(call, str):
        disk_cache.write(KIND, key, arrays)
    return call


def _key(parts: CallParts) -> str | None:
    known = parts.identity
    return None if known is None else disk_cache.digest([disk_cache.FORMAT, *known])


def _stored_call(parts: CallParts, key: str | None) -> CompiledCall | None:
    arrays = None if key is None else disk_cache.read(KIND, key)
    if key is None or arrays is None:
        return None
    call = checked_call(parts, arrays, DRAWN_AGAIN)
    if isinstance(call, str):
        disk_cache.forget(KIND, key)
        return None
    return call


def find_cut(facts: Facts, text: str, start: int) -> Seam | None:
    """Returns the first certified cut from code point `start` on, see `FindCut`."""
    from tokpar.cuts.finder import finder_for  # only long texts are cut

    finder = finder_for(facts)
    is_refused = finder.refusal_for(text) is not None
    return None if is_refused else finder.find(text, start, start + FARTHEST)


def error_text(error: BaseException) -> str:
    """Returns an error in one line of at most 200 characters."""
    return f"{type(error).__name__}: {error}"[:200]


BY_ENGINE = 3
"""The first of the settings of tables with which segments are looked up. The engine gives the ids
of new ones, unless the tables have the model."""
WHY = "why"
"""The array of the reason why the tables lack the model, UTF-8."""
MAY_LIST = 5
"""The place in `unigram_settings` of a flag: the engine may be asked for segments."""
BY_PAIRS = 4
"""The same of tables of a pre-tokenizer that looks at pairs of characters, see call_pairs.h."""
RAW, NORMALIZED, UNMOVED = 0, 1, 2
"""Where an added token is searched: in the text; behind the normalizer; behind it, but the
normalizer neither makes nor changes what it is made of."""


def added_flags(token: AddedToken, is_forbidden: bool = False) -> int:
    """Returns the flags of an added token as numbers, see call_added.h."""
    return token.single_word | token.lstrip << 1 | token.rstrip << 2 | is_forbidden << 3


def checked_call(parts: CallParts, arrays: Arrays, text_count: int) -> CompiledCall | str:
    """Returns the compiled call; or why there is none, such as a drawn text for which it and the
    engine have other ids. Raises MemoryError."""
    from tokpar.compiled.call_tables import call_of  # nothing is called before the tables are there
    from tokpar.compiled.compiled_call import CompiledCall

    try:
        special = parts.special or ((), ())
        arrays, engine = _engine_for(parts, arrays)
        found: Any = call_of(arrays, parts.added_tokens, special, longest_word=parts.longest_word)
    except GateError as error:  # of the added tokens, which tables do not depend on
        return str(error)
    except (KeyError, ValueError) as error:  # the arrays of a damaged file
        return f"its tables cannot be used: {error_text(error)}"
    call = CompiledCall(
        found, parts.encode_many, parts.tokenize, parts.find_cut, parts.special, engine
    )
    call.why_by_engine = bytes(arrays.get(WHY, b"")).decode()
    texts = drawn_texts(parts, text_count)
    try:
        expected = parts.encode_many(texts)
        for text, ids, own in zip(texts, _ids_by_call(call, texts), expected, strict=True):
            if ids is not None and ids.tolist() != own.tolist():
                return f"its tables and its engine have other ids for {text[:100]!r}"
    except ChangedError:
        return "its model was changed while its tables were made"
    except MemoryError:  # no difference, and no damage
        raise
    except BaseException as error:  # a panic of the engine is no Exception
        raise_foreign(error)
        return f"its engine fails on a text that was drawn: {error_text(error)}"
    finally:
        parts.forget()
    return call


def _engine_for(parts: CallParts, arrays: Arrays) -> tuple[Arrays, SegmentEngine | None]:
    """Returns what gives the ids of segments that only the engine knows, or None if there is
    nothing to ask for; and the tables, without cuts where no segment may be given away."""
    if int(arrays["settings"][0]) != BY_ENGINE:
        return arrays, None
    has_model = len(arrays["unigram_settings"]) > 0
    if has_model and not arrays["unigram_settings"][MAY_LIST]:
        return arrays, None
    try:
        if parts.engine is None:
            raise GateError("only the engine knows its model")
        return arrays, parts.engine()
    except GateError:
        if not has_model:
            raise
    return without_cuts(arrays), None


def without_cuts(arrays: Arrays) -> Arrays:
    """Returns the tables of a Unigram with which a text is one segment, and no part of it is given
    to the engine."""
    numbers = arrays["unigram_settings"].copy()
    numbers[MAY_LIST] = False
    return arrays | {"unigram_settings": numbers, "sides": 0 * arrays["sides"]}


def _ids_by_call(call: CompiledCall, texts: Sequence[str]) -> Iterator[IdArray | None]:
    """Yields the ids of texts, None without an answer. An engine is asked for all at once."""
    if not call.asks_engine:
        yield from map(call.encode_plain, texts)
        return
    rows, is_answered = call.rows(texts, 1)
    for k, flag in enumerate(is_answered):
        yield rows[k] if flag else None


def drawn_texts(parts: CallParts, count: int) -> list[str]:
    """Returns texts made of tokens, added tokens and characters that are often treated apart."""
    draw = random.Random(count)
    tokens, added = parts.tokens(), [*parts.added_tokens]
    contents = [each for each in added if len(each) <= LONGEST_DRAWN][:1000] or [" "]
    kinds: list[Sequence[str]] = [tokens or _ATOMS, _ATOMS, contents]
    count = min(count, 20 + len(tokens))
    texts = []
    for _ in range(count):
        weights = draw.choice([(6, 2, 0), (6, 3, 1), (1, 6, 1), (1, 0, 0)])
        chosen = draw.choices(kinds, weights, k=draw.randrange(1, 30))
        texts.append("".join(draw.choice(kind) for kind in chosen))
    return [*texts, *_with_long_tokens(added)]


def _with_long_tokens(contents: Sequence[str]) -> Iterator[str]:
    """Yields a text for each long added token, `MOST_DRAWN` code points in all."""
    left = MOST_DRAWN
    for content in contents:
        if LONGEST_DRAWN < len(content) <= left:
            left -= len(content)
            yield f"a {content}b"
