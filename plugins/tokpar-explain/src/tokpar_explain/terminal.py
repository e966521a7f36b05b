"""One seam as lines for a terminal. The lines are readable without colour, too."""

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tokpar_explain.rows import DIFFERS_MARKS, EDGE, MATCHED_MARKS, SEAM, Row, TextPart, Token
from tokpar_explain.seam import Explained

WIDTH = 96
LABEL = 10
LEGEND = (
    f"{EDGE} token edge   {SEAM} seam   {MATCHED_MARKS[0]}both chunks found it{MATCHED_MARKS[1]}   "
    f"{DIFFERS_MARKS[0]}joined and serial differ{DIFFERS_MARKS[1]}   (dropped)   … left out"
)


@dataclass(frozen=True, slots=True)
class Paint:
    """Colours of the terminal; without `is_on`, no colours."""

    is_on: bool

    def __call__(self, codes: str, text: str) -> str:
        """`text` with these SGR codes: "1;31" is bold and red."""
        return f"\033[{codes}m{text}\033[0m" if self.is_on and text else text


def lines(seam: Explained, paint: Paint) -> Iterator[str]:
    """Everything about a seam: its licence, the text, four rows of tokens, and the differences."""
    licence = f"{seam.rule}, theorem {seam.theorem}" if seam.rule else "no rule"
    verdict = paint("1;31", "ids differ") if seam.differs else "ids equal"
    licence = paint("1;32" if seam.rule else "1;33", licence)
    where = f"code point {seam.position:,} (line {seam.line:,}, column {seam.column:,})"
    yield f"{paint('1', f'seam {seam.number:,}')} at {where}: {licence}, {verdict}"
    yield from _wrap(seam.meaning)
    if seam.theorem_says:
        yield from _wrap(f"Theorem {seam.theorem}: {seam.theorem_says} (proofs/{seam.page}).")
    elif seam.page:
        yield from _wrap(f"See proofs/{seam.page}.")
    if seam.witness:
        named = " ".join(f"{name}={value}" for name, value in seam.witness)
        yield f"  {'witness':{LABEL}}{named}"
    yield from map("  {}".format, seam.words)
    before, after = _text(seam.before, paint), _text(seam.after, paint)
    yield f"  {'text':{LABEL}}{before}{paint('1', SEAM)}{after}"
    rows = (
        (f"left {_range(seam.left)}", seam.left_row),
        (f"right {_range(seam.right)}", seam.right_row),
        (f"joined, {seam.joined_row.total:,} ids", seam.joined_row),
        (f"serial, {seam.serial_row.total:,} ids", seam.serial_row),
    )
    for label, row in rows:
        start = row.tokens[0].start if row.tokens else -1
        yield f"  {label}, shown from code point {start:,}" if start >= 0 else f"  {label}"
        yield f"    {_row(row, paint)}"
    for difference in seam.differences:
        yield from _wrap(difference.words)
    if seam.more_differences:
        yield f"  and {seam.more_differences:,} more differences"


def _range(places: tuple[int, int]) -> str:
    return f"[{places[0]:,}, {places[1]:,})"


def _wrap(words: str) -> Sequence[str]:
    return textwrap.wrap(words, WIDTH, initial_indent="  ", subsequent_indent="  ")


def _text(text_parts: Iterable[TextPart], paint: Paint) -> str:
    return "".join(paint("4", each.text) if each.shared else each.text for each in text_parts)


def _row(row: Row, paint: Paint) -> str:
    parts = []
    last = None
    for token in row.tokens:
        if last is not None and token.number != last + 1:
            parts.append(f" {EDGE}…")
        parts.append(paint("1", SEAM) if token.number == row.seam else EDGE)
        parts.append(_token(token, paint))
        last = token.number
    ends_here = last is not None and last + 1 == row.seam
    return "".join(parts) + (paint("1", SEAM) if ends_here else EDGE)


def _token(token: Token, paint: Paint) -> str:
    text = token.text or f"#{token.id}"
    if token.differs:
        return paint("1;97;41", f"{DIFFERS_MARKS[0]}{text}{DIFFERS_MARKS[1]}")
    if token.matched:
        text = f"{MATCHED_MARKS[0]}{text}{MATCHED_MARKS[1]}"
    if not token.kept:
        return paint("2", f"({text})")
    background = "48;5;24" if token.number % 2 else "48;5;238"
    return paint(f"97;{background}", text)
