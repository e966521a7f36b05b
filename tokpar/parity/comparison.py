"""Compares an engine's ids with those of a reference, text by text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from importlib import metadata
from unicodedata import unidata_version

import numpy as np

from tokpar.arrays import IdArray
from tokpar.errors import EngineError
from tokpar.interfaces import EncodesMany, TokenizerAdapter, own_call_of
from tokpar.parity import result_cache
from tokpar.parity.compared_texts import (
    DIVIDED,
    UNICODE,
    hostile_texts,
    long_texts,
    mix_texts,
    short_texts,
    unassigned_points,
)
from tokpar.parity.differing import describe_ids, first_difference, show_text, simplest
from tokpar.parity.drawn_texts import code_points_in_contexts

EDITION = "4"
"""Belongs to the key of every answer; another one where the texts, or what is compared, change."""
SECONDS = 2.0  # for each of the two passes that make a differing text smaller
TEXTS, APART = "texts", "apart"  # what is counted: texts with the same ids, code points with others
TOGETHER = 256  # code points in one text, where many are looked at
PASSING = (KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError)

Call = Callable[[str], IdArray]
Slices = Callable[[TokenizerAdapter, str], list[str]]
"""Makes slices of a text that have, alone, the ids that the whole has there; or only one."""
Outcome = IdArray | BaseException
Pair = tuple[TokenizerAdapter, TokenizerAdapter]
PROBING = "with the stages of this file and a vocabulary that shows where they divide text"


@dataclass(frozen=True)
class Drawn:
    """Texts drawn from a file, and what makes of them an adapter and a reference of a file with
    the same stages and a vocabulary that shows where text is divided; None if there is none."""

    texts: Callable[[], Sequence[str]] = tuple
    probing: Callable[[Sequence[str]], Pair | None] = lambda texts: None


def release(package: str) -> str:
    """The name and version of an installed package: "tokenizers 0.23.3"."""
    try:
        return f"{package} {metadata.version(package)}"
    except metadata.PackageNotFoundError:  # run from a source tree
        return f"{package} (version unknown)"


def require_agreement(
    adapter: TokenizerAdapter,
    reference: Callable[[], TokenizerAdapter],
    *,
    key: Iterable[bytes | str],
    engine: str,
    library: str,
    advice: str = "",
    slices: Slices = lambda _, text: [text],
    drawn: Drawn = Drawn(),
) -> str:
    """Raises EngineError, with the smallest text that has other ids, unless the adapter gives the
    ids of the reference on every text of the check. Otherwise says so, for `Report.agreement`:
    "same ids as tokenizers 0.23.3 on 8,012 texts".

    Code points that Unicode 13 does not assign are compared, too, but only counted.
    `reference` makes an adapter of the same vocabulary and settings with its own library. It is
    not called if the answer was kept for the same `key` (what ids depend on: the bytes of the file,
    the settings), `engine` and `library`, both named by `release`. `advice`: what a caller may do
    where the ids differ. `slices`: of a text between cuts that are certified for the reference; a
    text that engines divide by themselves is compared with them. `drawn`: what the file suggests.
    Costs some seconds."""
    parts = (EDITION, release("tokpar"), engine, library, unidata_version)
    name = result_cache.digest([*parts, *key])
    found = result_cache.recall(name)
    if found is None or found.keys() != {TEXTS, APART}:
        found = Comparison(adapter, reference(), engine, library, advice, slices).run(drawn)
        result_cache.remember(name, found)
    said = f"same ids as {library} on {found[TEXTS]:,} texts"
    if not found[APART]:
        return said
    points = f"{found[APART]:,} code point" + "s" * (found[APART] != 1)
    return f"{said}, but not for {points} that Unicode {UNICODE} lacks"


@dataclass(frozen=True)
class Comparison:
    """Two tokenizers, and what they are called in the error."""

    adapter: TokenizerAdapter
    reference: TokenizerAdapter
    engine: str
    library: str
    advice: str
    slices: Slices
    vocabulary_note: str = "with this vocabulary"

    def run(self, file_texts: Drawn) -> dict[str, int]:
        """How many texts were compared, and how many code points that are not assigned differ.
        EngineError for the first text that differs, made smaller."""
        adapter, reference = self.adapter, self.reference
        short = short_texts(reference)
        expected = outcomes(reference, short)
        self._compare(short, reference.encode, adapter.encode, expected)
        if isinstance(adapter, EncodesMany):
            got, many = outcomes(adapter, short), adapter.encode_many
            self._compare(
                short, reference.encode, lambda text: many([text], False)[0], expected, got
            )
        theirs, ours = own_call_of(reference), own_call_of(adapter)
        if theirs is not None and ours is not None:
            self._compare(hostile_texts(), theirs, ours)
        long = long_texts(short)
        self._compare(long, reference.encode, adapter.encode)
        divided = self._compare_divided_text(mix_texts(short, DIVIDED))
        some = file_texts.texts()
        self._compare(
            some,
            reference.encode,
            adapter.encode,
            outcomes(reference, some),
            outcomes(adapter, some),
        )
        pair = file_texts.probing(some)
        if pair is not None:
            replace(self, adapter=pair[0], reference=pair[1], vocabulary_note=PROBING)._probe(some)
        return {
            TEXTS: len(short) + len(long) + len(some) + divided,
            APART: self._count_unassigned(),
        }

    def _probe(self, some: Sequence[str]) -> None:
        """Compares where text is divided, at the texts and at all code points."""
        for texts in (some, code_points_in_contexts()):
            expected, got = outcomes(self.reference, texts), outcomes(self.adapter, texts)
            self._compare(texts, self.reference.encode, self.adapter.encode, expected, got)

    def _compare_divided_text(self, text: str) -> int:
        """How many texts that engines divide were compared: one if the reference can be cut."""
        if len(self.slices(self.reference, text)) == 1:
            return 0

        def by_slices(text: str) -> IdArray:
            slices = self.slices(self.reference, text)
            return np.concatenate([self.adapter.encode(one) for one in slices])

        self._compare([text], by_slices, self.adapter.encode)
        return 1

    def _count_unassigned(self) -> int:
        """How many code points that Unicode 13 does not assign have other ids."""
        lines = unassigned_points()
        blocks = [lines[k : k + TOGETHER] for k in range(0, len(lines), TOGETHER)]
        suspect = self._differing(["".join(block) for block in blocks])
        doubtful = [line for k in suspect for line in blocks[k]]
        return len(self._differing(doubtful))

    def _differing(self, texts: Sequence[str]) -> list[int]:
        pairs = zip(outcomes(self.reference, texts), outcomes(self.adapter, texts), strict=True)
        return [k for k, (expected, got) in enumerate(pairs) if not same(expected, got)]

    def _compare(
        self,
        texts: Sequence[str],
        right: Call,
        call: Call,
        expected: Sequence[Outcome] = (),
        got: Sequence[Outcome] = (),
    ) -> None:
        """`right`, `call`: the ids of a text alone; `expected`, `got`: theirs, where known."""
        for k, text in enumerate(texts):
            wanted = expected[k] if expected else outcome(right, text)
            found = got[k] if got else outcome(call, text)
            if not same(wanted, found):
                raise self._error(text, wanted, found, right, call)

    def _error(
        self, text: str, expected: Outcome, found: Outcome, right: Call, call: Call
    ) -> EngineError:
        """With a smaller text, if the difference is there when the text is encoded alone."""

        def differs(some: str) -> bool:
            return not same(outcome(right, some), outcome(call, some))

        among = "" if differs(text) else ", among others in one call"
        if not among:
            text = simplest(text, differs, SECONDS)
            expected, found = outcome(right, text), outcome(call, text)
        lines = (
            f"{self.engine} does not give the ids of {self.library} {self.vocabulary_note}",
            f"    text      {show_text(text)} ({len(text):,} code points{among})",
            f"    expected  {self._ids_near_difference(expected, found)}",
            f"    got       {self._ids_near_difference(found, expected)}",
            *filter(None, [self.advice]),
        )
        return EngineError("\n".join(lines), 0, len(text))

    def _ids_near_difference(self, one: Outcome, other: Outcome) -> str:
        """The ids around the first that differs, with the tokens that the reference knows."""
        if isinstance(one, BaseException):
            return f"{type(one).__name__}: {one}"
        number = 0 if isinstance(other, BaseException) else first_difference(one, other)
        return describe_ids(self.reference, one, number)


def outcomes(tokenizer: TokenizerAdapter, texts: Sequence[str]) -> list[Outcome]:
    """The ids of each text, by the batch call where there is one, or what it raised."""
    if isinstance(tokenizer, EncodesMany):
        try:
            rows = tokenizer.encode_many(list(texts), False)
            return [rows[k] for k in range(len(rows))]
        except PASSING:
            raise
        except BaseException:  # about one of them: which one shows alone
            pass
    return [outcome(tokenizer.encode, text) for text in texts]


def outcome(call: Call, text: str) -> Outcome:
    """The ids, or what the call raised, panics of an engine included."""
    try:
        return np.asarray(call(text), dtype=np.uint32)
    except PASSING:
        raise
    except BaseException as error:
        return error


def same(expected: Outcome, got: Outcome) -> bool:
    """The same ids; a text that the reference itself cannot encode tells nothing."""
    if isinstance(expected, BaseException):
        return True
    return not isinstance(got, BaseException) and np.array_equal(expected, got)
