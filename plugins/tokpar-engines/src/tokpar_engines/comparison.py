"""Compares the ids of an engine with the ids of a reference, text by text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from tokpar_conformance import describe_ids, hostile_texts, show_text, simplest

from tokpar import EngineError
from tokpar.plugin.tokenizer import (
    EncodesMany,
    IdArray,
    TokenizerAdapter,
    first_difference,
    own_call_of,
    raise_foreign,
)
from tokpar_engines.agreement import APART, TEXTS, FileTexts, Slices
from tokpar_engines.compared_texts import (
    DIVIDED,
    long_texts,
    mix_texts,
    short_texts,
    unassigned_points,
)
from tokpar_engines.drawn_texts import code_points_in_contexts

SECONDS = 2.0  # for each of the two passes that shrink a differing text
TOGETHER = 256  # unassigned code points in one text

Call = Callable[[str], IdArray]
Outcome = IdArray | BaseException
PROBING = "with the stages of this file and a vocabulary that shows where they divide text"


@dataclass(frozen=True)
class Comparison:
    """An adapter and its reference, with their names for error messages."""

    adapter: TokenizerAdapter
    reference: TokenizerAdapter
    engine: str
    library: str
    advice: str
    slices: Slices
    vocabulary_note: str = "with this vocabulary"

    def run(self, file_texts: FileTexts) -> dict[str, int]:
        """Runs all comparisons. Returns the number of compared texts, and the number of unassigned
        code points with other ids. Raises EngineError for the first text that differs, shrunk."""
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
        """Compares where both tokenizers split text: in the texts `some`, and around all code
        points."""
        for texts in (some, code_points_in_contexts()):
            expected, got = outcomes(self.reference, texts), outcomes(self.adapter, texts)
            self._compare(texts, self.reference.encode, self.adapter.encode, expected, got)

    def _compare_divided_text(self, text: str) -> int:
        """Compares a text that engines may divide by themselves. Returns how many texts were
        compared: 1, or 0 if there are no certified cuts for the reference."""
        if len(self.slices(self.reference, text)) == 1:
            return 0

        def by_slices(text: str) -> IdArray:
            slices = self.slices(self.reference, text)
            return np.concatenate([self.adapter.encode(one) for one in slices])

        self._compare([text], by_slices, self.adapter.encode)
        return 1

    def _count_unassigned(self) -> int:
        """Returns how many code points that Unicode 13 does not assign have other ids."""
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
        """Raises EngineError for the first text whose ids differ.

        `right`, `call`: encode one text by the reference and by the adapter. `expected`, `got`:
        their ids for all texts, if they are known already."""
        for k, text in enumerate(texts):
            wanted = expected[k] if expected else outcome(right, text)
            found = got[k] if got else outcome(call, text)
            if not same(wanted, found):
                raise self._error(text, wanted, found, right, call)

    def _error(
        self, text: str, expected: Outcome, found: Outcome, right: Call, call: Call
    ) -> EngineError:
        """Returns the error for a text. Shrinks the text if its ids also differ when it is encoded
        alone."""

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
        """Returns the ids around the first difference in words, with the tokens as the reference
        decodes them; or the error that the call raised."""
        if isinstance(one, BaseException):
            return f"{type(one).__name__}: {one}"
        number = 0 if isinstance(other, BaseException) else first_difference(one, other)
        return describe_ids(self.reference, one, number)


def outcomes(tokenizer: TokenizerAdapter, texts: Sequence[str]) -> list[Outcome]:
    """Returns the ids of each text, or the error that its call raised. Uses the batch call if the
    tokenizer has one."""
    if isinstance(tokenizer, EncodesMany):
        try:
            rows = tokenizer.encode_many(list(texts), False)
            return [rows[k] for k in range(len(rows))]
        except BaseException as error:  # one of the texts caused it: encode each alone below
            _raise_interrupts(error)
    return [outcome(tokenizer.encode, text) for text in texts]


def outcome(call: Call, text: str) -> Outcome:
    """Returns the ids of the text, or the error that the call raised, even a panic of the engine.
    Raises what no engine raised, and MemoryError."""
    try:
        return np.asarray(call(text), dtype=np.uint32)
    except BaseException as error:
        _raise_interrupts(error)
        return error


def _raise_interrupts(error: BaseException) -> None:
    raise_foreign(error)
    if isinstance(error, MemoryError):
        raise error


def same(expected: Outcome, got: Outcome) -> bool:
    """True if both are the same ids. Also true if the reference cannot encode the text."""
    if isinstance(expected, BaseException):
        return True
    return not isinstance(got, BaseException) and np.array_equal(expected, got)
