"""The parts of a seam's description: sentences about rules, theorems and claims; text; rows of
tokens; differences in words."""

from __future__ import annotations

import json
import unicodedata
from dataclasses import dataclass
from importlib import resources

from tokpar.arrays import IdArray, SpanArray
from tokpar.contract.interfaces import Decodes
from tokpar.types import Seam
from tokpar_explain.trace import DifferingRange, Trace

_SENTENCES = json.loads(
    (resources.files("tokpar_explain") / "sentences.json").read_text(encoding="utf-8")
)
RULES: dict[str, str] = _SENTENCES["rules"]
THEOREMS: dict[str, str] = _SENTENCES["theorems"]
PAGES: dict[str, str] = _SENTENCES["pages"]
"""Theorem -> its page in proofs/."""
CLAIMS: dict[str, tuple[str, str]] = {k: tuple(both) for k, both in _SENTENCES["claims"].items()}
"""Strategy -> the claim that its seams without a rule rest on, and the page in proofs/."""
ABSORBED_SENTENCE: str = _SENTENCES["absorbed"]
UNCERTIFIED_SENTENCE: str = _SENTENCES["uncertified"]

EDGE, SEAM, SPACE = "│", "┃", "␣"
MATCHED_MARKS, DIFFERS_MARKS = ("⟨", "⟩"), ("⟦", "⟧")
_SIGNS = frozenset({EDGE, SEAM, SPACE, *MATCHED_MARKS, *DIFFERS_MARKS})


def rule_sentence(seam: Seam, strategy: str) -> str:
    """A sentence about the rule that licenses the seam, or about the claim of the strategy if none
    does."""
    if seam.rule is None:
        return (
            f"{UNCERTIFIED_SENTENCE} {CLAIMS[strategy][0]}"
            if strategy in CLAIMS
            else UNCERTIFIED_SENTENCE
        )
    if "absorbed" in dict(seam.witness):
        return ABSORBED_SENTENCE
    return RULES[seam.rule]


def theorem_sentence(seam: Seam) -> str:
    """A sentence about the theorem of the seam; empty for an uncertified seam."""
    return THEOREMS.get(seam.theorem, "") if seam.rule is not None else ""


def proof_page(seam: Seam, strategy: str) -> str:
    """The page in proofs/: theorem 20 -> "20-universal-cut.md". Empty if there is none."""
    if seam.rule is None:
        return CLAIMS[strategy][1] if strategy in CLAIMS else ""
    return PAGES[seam.theorem.rstrip("'")]


def show_text(text: str) -> str:
    """`text` on one line, with visible white space: "a b\\n" -> "a␣b\\\\n".

    Escaped are characters that cannot be printed, backslashes, the signs that mark tokens, and a
    combining mark at the start. A byte that `surrogateescape` decoded is written as "\\xe4"."""
    return "".join(_show_char(char, first=k == 0) for k, char in enumerate(text))


def _show_char(char: str, first: bool) -> str:
    if char == " ":
        return SPACE
    if "\udc80" <= char <= "\udcff":
        return f"\\x{ord(char) - 0xDC00:02x}"
    combining = first and unicodedata.category(char).startswith("M")
    if char in _SIGNS or combining or char == "\\" or not char.isprintable():
        escaped = char.encode("unicode_escape", "surrogatepass").decode()
        return escaped if escaped != char else f"\\x{ord(char):02x}"
    return char


TOKENS_AROUND = 12


@dataclass(frozen=True, slots=True)
class Token:
    """One token of a row.

    `number`: its index in the chunk or in all ids. `text`: as it is shown. `start`, `stop`: the
    code points it touches, -1 if unknown. `kept`: the token is part of the result. `matched`: the
    other chunk has the same token at the same place. `differs`: it is in a difference between the
    joined and the serial ids. `shared`: it touches text that both chunks encoded."""

    number: int
    id: int
    text: str
    start: int
    stop: int
    kept: bool = True
    matched: bool = False
    differs: bool = False
    shared: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """The tokens near a seam, out of `total` tokens; they may come from several parts of the text.

    The seam stands before token number `seam`, -1 if it stands in no single place."""

    tokens: tuple[Token, ...]
    total: int
    seam: int = -1


@dataclass(frozen=True, slots=True)
class TextPart:
    """Some text, as it is shown. `shared`: both chunks encoded it."""

    text: str
    shared: bool


@dataclass(frozen=True, slots=True)
class Unequal:
    """A difference that is assigned to a seam: its code points, or -1; the first tokens of both
    sides; and a sentence."""

    start: int
    stop: int
    joined: Row
    serial: Row
    words: str


def token_at(
    trace: Trace,
    number: int,
    ids: IdArray,
    spans: SpanArray | None,
    both: tuple[int, int] = (0, 0),
    is_kept: bool = True,
    is_matched: bool = False,
    differs: bool = False,
) -> Token:
    """Token number `number`, as it is shown: the bytes of the text that it stands for.

    If tokens are not the bytes of the text, the token shows what its id decodes to. `both`: the
    code points that two chunks share."""
    id_ = int(ids[number])
    text = "" if trace.tiles else _decode_token(trace, id_)
    first = last = -1
    if spans is not None:
        start, stop = spans[number].tolist()
        first, last = trace.touched_chars(start, stop)
        covered = trace.text[first:last].encode("utf-8", "surrogatepass")
        base = int(trace.starts[first])
        text = text or covered[start - base : stop - base].decode("utf-8", "surrogateescape")
    shared = first < both[1] and last > both[0]
    return Token(number, id_, show_text(text), first, last, is_kept, is_matched, differs, shared)


def _decode_token(trace: Trace, id_: int) -> str:
    try:
        return trace.tokenizer.decode([id_]) if isinstance(trace.tokenizer, Decodes) else ""
    except LookupError:
        return ""


def unequal(trace: Trace, difference: DifferingRange) -> Unequal:
    """A difference, with the tokens of both sides."""

    def row(first: int, last: int, ids: IdArray, spans: SpanArray | None) -> Row:
        most = min(last, first + TOKENS_AROUND)
        tokens = (token_at(trace, n, ids, spans, differs=True) for n in range(first, most))
        return Row(tuple(tokens), last - first)

    each = difference
    joined = row(each.first, each.last, trace.encoding.ids, trace.joined_spans)
    serial = row(each.other_first, each.other_last, trace.serial, trace.serial_spans)
    start, stop, where = each.start, each.stop, f"From id {each.first:,}"
    if start >= 0:
        start, stop = trace.touched_chars(start, stop)
        where = f"Code points {start:,} to {stop:,}"
    words = f"{where}: the joined ids have {_tokens(joined)}, the serial ids {_tokens(serial)}."
    return Unequal(start, stop, joined, serial, words)


def _tokens(row: Row) -> str:
    if not row.total:
        return "no token"
    names = " ".join(token.text or f"#{token.id}" for token in row.tokens)
    more = " ..." if row.total > len(row.tokens) else ""
    return f"{describe_count(row.total)} ({names}{more})"


def describe_count(tokens: int) -> str:
    return "1 token" if tokens == 1 else f"{tokens:,} tokens"
