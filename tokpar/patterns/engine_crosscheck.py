"""Compare the engine with the automaton on texts that distinguish the automaton from others.

All proofs about a pattern assume that the engine finds the first of the ordered alternatives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from tokpar.patterns.automaton import Automaton
from tokpar.patterns.pattern_reader import UnsupportedPatternError
from tokpar.process.interrupts import raise_foreign

MOST_TEXTS = 6_000
LONGEST = 16
"""Most symbols of a test text. States that need longer words are not tested."""


@lru_cache(maxsize=32)
def require_engine(
    pattern: str, engine: str, machine: Automaton, examples: tuple[str, ...]
) -> None:
    """Check that the engine finds the matches that the automaton finds, once in a process.

    Raises UnsupportedPatternError if not. A test text leads to a state and continues with any two
    or more symbols, within MOST_TEXTS. `examples`: one character of each symbol."""
    words = _words(machine)
    texts = ["".join(examples[c] for c in word) for word in words]
    found = _find_matches(pattern, engine, texts)
    for word, text, own in zip(words, texts, found, strict=True):
        expected = [text[start:stop] for start, stop in matches(machine, word)]
        if own != expected:
            raise UnsupportedPatternError(
                f"{engine} finds {own} in {text!r}, where the pattern means {expected}"
            )


def _find_matches(pattern: str, engine: str, texts: Sequence[str]) -> list[list[str]]:
    try:
        return _FINDERS[engine](pattern, texts)
    except BaseException as error:  # engines have own error types; a panic is no Exception
        raise_foreign(error)
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise UnsupportedPatternError(f"{engine} fails on a text: {error}") from error


def _words(machine: Automaton) -> list[tuple[int, ...]]:
    symbols = range(machine.size)
    words = {word for word in machine.words if len(word) < LONGEST}
    words = longer = {*words, *((*word, c) for word in words for c in symbols)}
    while longer and len(longer) * machine.size <= MOST_TEXTS:
        longer = {(*word, c) for word in longer for c in symbols if len(word) < LONGEST} - words
        words |= longer
    step = -(-len(words) // (4 * MOST_TEXTS))
    return sorted(words)[::step]


def matches(machine: Automaton, word: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield [start, stop) of the matches in a text of these symbols."""
    start = 0
    while start < len(word):
        stop = _match(machine, word, start)
        if stop is not None:
            yield start, stop
        start = start + 1 if stop is None else stop


def _match(machine: Automaton, word: Sequence[int], start: int) -> int | None:
    state, stop = 0, None
    for place in range(start, len(word)):
        if machine.hit[state][word[place]]:
            stop = place
        state = machine.target[state][word[place]]
        if not machine.live[state]:
            return stop
    return len(word) if machine.hit[state][machine.size] else stop


def _by_regex(pattern: str, texts: Iterable[str]) -> list[list[str]]:
    import regex

    found = regex.compile(pattern, regex.VERSION0)
    return [[match.group() for match in found.finditer(text)] for text in texts]


def _by_oniguruma(pattern: str, texts: Iterable[str]) -> list[list[str]]:
    from tokenizers import Regex, pre_tokenizers

    split = pre_tokenizers.Split(Regex(pattern), "removed", invert=True)
    return [[piece for piece, _ in split.pre_tokenize_str(text)] for text in texts]


def _by_fancy(pattern: str, texts: Sequence[str]) -> list[list[str]]:
    """The matches by tiktoken, which does not report matches: each possible match is
    one token of the vocabulary."""
    import tiktoken

    ranks = {bytes([byte]): byte for byte in range(256)}
    for text in texts:
        for start in range(len(text)):
            for stop in range(start + 1, len(text) + 1):
                ranks.setdefault(text[start:stop].encode(), len(ranks))
    probe: Any = tiktoken.Encoding(
        "probe", pat_str=pattern, mergeable_ranks=ranks, special_tokens={}
    )
    words = {rank: token for token, rank in ranks.items()}
    return [[words[i].decode() for i in probe.encode_ordinary(text)] for text in texts]


_FINDERS: dict[str, Callable[[str, Sequence[str]], list[list[str]]]] = {
    "fancy-regex": _by_fancy,
    "oniguruma": _by_oniguruma,
    "regex": _by_regex,
}
