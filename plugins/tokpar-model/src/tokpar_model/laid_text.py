"""The bytes that ids must spell, and the pre-tokens in them, by the checker's own scan."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import IntArray
from tokpar.certificate.check_context import RefusedError, require
from tokpar.certificate.tokenizer_probe import Utf8Text
from tokpar_model.byte_file import ByteTokenizer
from tokpar_model.greedy_merging import StepLimit
from tokpar_model.normal_form import normalize_text
from tokpar_model.pretoken_machine import PretokenMachine
from tokpar_model.pretoken_scan import mark_pretokens


class LaidText:
    """The text of the model: normalized between added tokens, added tokens as they are.

    `pieces`: where a pre-token or an added token begins, and the end; bytes. `added_spans`: start,
    stop and id of each added token, int64 (n, 3). Refused outside the gate."""

    def __init__(self, tokenizer: ByteTokenizer, text: str, work: StepLimit) -> None:
        parts = tokenizer.added_tokens.parts(text)
        stages = tokenizer.normalizer
        laid = [part if id_ is not None else normalize_text(part, stages) for part, id_ in parts]
        whole = text if len(laid) == 1 and laid[0] == text else "".join(laid)
        self._same = whole == text
        self.text = Utf8Text(whole)
        edges = np.cumsum([0, *map(len, laid)])
        matched = [k for k, (_, id_) in enumerate(parts) if id_ is not None]
        at = np.array(matched, dtype=np.int64)
        self._ranges = np.stack([edges[at], edges[at + 1]])
        marks = np.zeros(len(whole) + 1, dtype=np.uint8)
        marks[edges] = 1
        for machine in tokenizer.machines:
            symbols = self._symbols(machine)
            gaps = not tokenizer.keep_gaps and machine.leaves_gaps(symbols)
            require(not gaps, "gap", "the pattern may leave text out, which the engine drops")
            mark_pretokens(machine, symbols, marks, work)
        for start, stop in self._ranges.T.tolist():
            marks[start + 1 : stop] = 0
        self.pieces: IntArray = self.text.byte_offsets(np.flatnonzero(marks))
        ids = [id_ for _, id_ in parts if id_ is not None]
        self.added_spans: IntArray = np.array(
            [*self.text.byte_offsets(self._ranges.reshape(-1)).reshape(2, -1), ids], dtype=np.int64
        ).T
        self.added_sizes = {id_: stop - start for start, stop, id_ in self.added_spans.tolist()}

    def position(self, byte: int) -> int | None:
        """Returns the code point of the text that holds a byte, if the text is laid as it is."""
        return self.text.position(byte) if self._same else None

    def _symbols(self, machine: PretokenMachine) -> NDArray[np.uint8]:
        """Returns the symbol of each character. Refused if a character has none.

        A character of an added token has some symbol."""
        found = machine.symbols_in(self.text.text)
        for start, stop in self._ranges.T.tolist():
            found[start:stop] = 0
        unknown = np.flatnonzero(found == machine.size)
        if len(unknown):
            char = self.text.text[unknown[0]]
            message = f"U+{ord(char):04X} has no certain class in pattern {machine.pattern[:80]!r}"
            raise RefusedError("class", message)
        return found
