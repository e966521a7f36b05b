"""The control tokens that the trusted runs of a text spell, and a name for each (definition 62).

The planner's search is another one. All positions are code points of the text."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache

from tokpar.certificate.content_index import ContentIndex
from tokpar.certificate.frozen_tables import SPACES
from tokpar.errors import OptionError
from tokpar.types import AddedToken

Span = tuple[int, int]
Match = tuple[int, int, str]
"""[start, stop) of an added token, and its content."""
_WHITE = "".join(SPACES)
_PROBE = "\ue000"


def own_spans(untrusted: Iterable[Span], length: int) -> tuple[Span, ...]:
    """Returns the caller's spans, those that touch as one, without empty ones. Raises OptionError
    unless they are pairs of whole numbers in a text of `length` code points, ascending, without
    overlap."""
    found, end = list[Span](), 0
    for span in untrusted:
        start, stop = map(int, span)
        if not end <= start <= stop <= length:
            raise OptionError(
                f"untrusted: expected spans that ascend from {end} to {length}, got "
                f"({start}, {stop})"
            )
        if start < stop:
            touches = found and start == end
            found[len(found) - bool(touches) :] = [(found[-1][0] if touches else start, stop)]
            end = stop
    return tuple(found)


def runs_outside(spans: Iterable[Span], start: int, stop: int) -> Iterator[Span]:
    """Yields the maximal parts of [start, stop) outside the spans, which ascend."""
    for first, last in (*spans, (stop, stop)):
        if start < min(first, stop):
            yield start, min(first, stop)
        start = max(start, last)


def control_matches(
    text: str, spans: Sequence[Span], tokens: Iterable[AddedToken], control: Collection[str]
) -> list[Match]:
    """Returns the control tokens that count, ascending.

    Each trusted run is searched alone, with all added tokens: leftmost first, then longest; tokens
    with `normalized` in what the other tokens leave. No normalizer is assumed for those."""
    search = _Search(text, tokens, frozenset(control))
    runs = list(runs_outside(spans, 0, len(text)))
    whole = 0, len(text)
    found = [each for run in runs for each in search.matches(run, whole) if each[2] in control]
    if any(search.tokens[content].normalized for content in control):
        for section in search.sections(found):
            for start, stop in runs:
                run = max(start, section[0]), min(stop, section[1])
                late = search.matches(run, section, late=True)
                found += [each for each in late if each[2] in control]
    return sorted(found)


class _Search:
    """The two passes in which the engine finds added tokens in one text."""

    def __init__(self, text: str, tokens: Iterable[AddedToken], control: frozenset[str]) -> None:
        self.text, self.control = text, control
        self.tokens = {token.content: token for token in tokens if token.content}
        late = {content for content, token in self.tokens.items() if token.normalized}
        self._passes = ContentIndex(self.tokens.keys() - late), ContentIndex(late)

    def matches(self, run: Span, section: Span, late: bool = False) -> Iterator[Match]:
        """Yields the matches in a run. A `single_word` token sees its neighbours in `section`."""
        for place, content in self._passes[late].matches(self.text[slice(*run)]):
            start, stop = run[0] + place, run[0] + place + len(content)
            beside = self.text[max(section[0], start - 1) : start]
            beside += self.text[stop : min(section[1], stop + 1)]
            if not (self.tokens[content].single_word and any(map(is_word, beside))):
                yield start, stop, content

    def sections(self, control_tokens: Sequence[Match]) -> list[Span]:
        """Returns what the first pass leaves of the text in which these control tokens have names:
        neither tokens nor the white space that they strip."""
        taken, whole = [*control_tokens], (0, len(self.text))
        for gap in runs_outside([each[:2] for each in control_tokens], *whole):
            taken += [each for each in self.matches(gap, whole) if each[2] not in self.control]
        kept, at = list[Span](), 0
        for start, stop, content in sorted(taken):
            token = self.tokens[content]
            if token.lstrip:
                start = at + len(self.text[at:start].rstrip(_WHITE))
            if at < start:
                kept.append((at, start))
            rest = self.text[stop:]
            at = len(self.text) - len(rest.lstrip(_WHITE)) if token.rstrip else stop
        return [*kept, *runs_outside([], at, len(self.text))]


@cache
def is_word(char: str) -> bool:
    """True if the engine takes a character for a part of a word beside a `single_word` token."""
    from tokenizers import AddedToken as EngineToken
    from tokenizers import Tokenizer, models

    engine = Tokenizer(models.WordLevel({"?": 0}, unk_token="?"))
    engine.add_tokens([EngineToken(_PROBE, single_word=True, normalized=False)])
    return 1 not in engine.encode(_PROBE + char).ids


def names_of(control: Iterable[str], used_chars: set[str], words: bool) -> dict[str, str]:
    """Returns a name for each control token, of private characters that are not used.

    `words`: some token is `single_word`, so names begin and end as their contents do."""
    free = (chr(code) for code in range(0x10FFFD, 0xF0000, -1) if chr(code) not in used_chars)
    letters = (chr(code) for code in range(0x13000, 0x13400) if chr(code) not in used_chars)
    letter = next(letters, "") if words else ""
    found = dict[str, str]()
    for content in sorted(control):
        first, last = (letter if words and is_word(content[k]) else "" for k in (0, -1))
        found[content] = first + next(free) + last
    return found
