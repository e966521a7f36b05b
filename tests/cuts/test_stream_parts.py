"""What streaming rests on: cuts that no later text revokes, pre-tokens found while they come."""

from __future__ import annotations

import random
import sys
from functools import cache
from itertools import pairwise, product
from typing import Any

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

import tokpar
from tests.conftest import cases, drawn, is_quick
from tests.recipes.known import DEEPSEEK_STAGES
from tests.recipes.shipped import SPELLINGS as NAMED
from tests.support.drawn_runs import adapter_of, any_tokenizer, drawn_text
from tests.support.draws import up_to
from tests.support.seams import part
from tests.support.texts import texts
from tests.support.tokenizers_drawn import Added, Extras, WordPieceSpec, build, llama_specs
from tokpar.cuts.added_token_guard import maybe_space, maybe_spaces
from tokpar.cuts.finder import CutFinder, finder_for
from tokpar.cuts.incremental_pretokenizer import TokenSplitter, splitters
from tokpar.cuts.stable_cuts import StableCuts, Window, stable_cuts_for
from tokpar.interfaces import facts_of
from tokpar.types import AddedToken, Facts, NormalizerStage

SPELLINGS = sorted(
    {
        (name, patterns)
        for name, spellings in NAMED.items()
        for engines, patterns in spellings
        if "regex" in engines
    }
)
OTHERS = [("the end matters", (r"s'(?=[\s\S])|[\s\S]",)), ("gaps", (r"s'+|\s'\s|\p{Lu}",))]


class Pieces:
    """Keeps the pieces that are complete, and what has come of the next one."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.begun = ""

    def feed(self, text: str) -> None:
        assert text
        self.begun += text

    def end(self) -> None:
        assert self.begun
        self.done.append(self.begun)
        self.begun = ""


@cache
def compiled(pattern: str) -> Any:
    return regex.compile(pattern.replace(r"|\s++$|", r"|\s++(?![\s\S])|"))


def pieces_of(patterns: tuple[str, ...], text: str) -> list[str]:
    """Matches and gaps of each pattern in turn, by `regex` on the whole text."""
    pieces = [text] if text else []
    for pattern in patterns:
        parts = []
        for piece in pieces:
            edges = {0, len(piece)}
            for match in compiled(pattern).finditer(piece):
                edges |= set(match.span())
            places = sorted(edges)
            parts += [piece[i:j] for i, j in pairwise(places)]
        pieces = parts
    return pieces


# -------------------------------------------------------------------------------- final cuts


@pytest.mark.ids
@pytest.mark.parametrize("kind", ["any", "llama"])
@given(data=st.data())
def test_no_later_text_changes_a_stable_cut(kind: str, data: st.DataObject) -> None:
    drawn = any_tokenizer() if kind == "any" else llama_specs(finishing=False).map(build)
    tokenizer = data.draw(drawn)
    finder = finder_for(facts_of(adapter_of(tokenizer)))
    if finder.refusal is None:
        assert_final(finder, drawn_text(data, tokenizer, 60))


def test_what_may_be_white_space_is_waited_for_wherever_it_is_in_unicode() -> None:
    """U+FEFF, which BERT deletes, before a token that takes the white space in front of it."""
    every = map(chr, range(sys.maxunicode + 1))
    assert maybe_spaces() == "".join(filter(maybe_space, every))
    token = Added("\n", lstrip=True)
    tokenizer = build(WordPieceSpec(lowercase=False, extras=Extras(added=(token,))))
    finder = finder_for(facts_of(adapter_of(tokenizer)))
    for space in "\ufeff\u200b\u180e \t":
        assert_final(finder, f"\t{space}  \n")
        assert_final(finder, f"a{space}  \nb")


FLAGS = (
    {},
    {"lstrip": True},
    {"rstrip": True},
    {"single_word": True},
    {"normalized": True},
    {"normalized": True, "lstrip": True},
)
LOWER = (NormalizerStage("Lowercase"), NormalizerStage("NFC"))
DEEPSEEK = {"engine": "oniguruma", "patterns": DEEPSEEK_STAGES}
SCHEMES: dict[str, dict[str, Any]] = {
    "regex": {"scheme": "regex", **DEEPSEEK},
    "bert": {"scheme": "bert"},
    "metaspace": {"scheme": "metaspace"},
    "dummy": {"scheme": "dummy"},
    "lower": {"scheme": "regex", **DEEPSEEK, "normalizers": LOWER},
    "lower metaspace": {"scheme": "metaspace", "normalizers": LOWER},
    "replace": {
        "scheme": "regex",
        **DEEPSEEK,
        "normalizers": (
            NormalizerStage("Lowercase"),
            NormalizerStage("Replace", (("pattern", "b b"), ("content", " "))),
        ),
    },
}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_all_short_texts_with_all_kinds_of_added_tokens(scheme: str) -> None:
    """Two letters and the space, up to 6 of them (in the profile quick 4), each token by itself;
    under a normalizer an accent, which makes what is beside it uncertain, takes the place of a
    letter."""
    letters = "\u0301b " if "normalizers" in SCHEMES[scheme] else "ab "
    every = ["".join(t) for n in range(5 if is_quick() else 7) for t in product(letters, repeat=n)]
    every += [start + " " * n + "b" for start in ("", "b") for n in range(6, 15)]
    checked = 0
    for content, flags in product(("b", "ba", "b b", " b", "b ", "  ", " a "), FLAGS):
        token = AddedToken(content, 0, **flags)
        facts = Facts(**{"engine": "", "model": "BPE", "added_tokens": (token,), **SCHEMES[scheme]})
        finder = finder_for(facts)
        for text in every if finder.refusal is None else ():
            assert_final(finder, text)
            checked += 1
    assert checked >= 28 * len(every)


def assert_final(finder: CutFinder, text: str) -> None:
    """A stable cut of a beginning of `text` is a certified cut of `text` (lemma 35)."""
    cuts = StableCuts(finder)
    certified = [None, *(finder.certify(text, place) for place in range(1, len(text)))]
    for length in range(len(text) + 1):
        window = Window(cuts, text[:length], begins=True)
        for place in range(1, length):
            seam, later = window.seam(place), certified[place]
            if seam is not None:
                assert later is not None, (text[:length], place)
                assert seam.absorbed == later.absorbed, (text[:length], place)


# ---------------------------------------------------------------------- pre-tokens on the way


@pytest.mark.ids
@pytest.mark.parametrize(("name", "patterns"), [*SPELLINGS, *OTHERS])
@given(data=st.data(), text=texts(max_size=200))
def test_pieces_are_those_of_the_whole_text(
    name: str, patterns: tuple[str, ...], data: st.DataObject, text: str
) -> None:
    """On all code points, also where engines differ, since `regex` is what classes are asked of."""
    pieces = Pieces()
    row = splitters(patterns, pieces)
    sizes = [step % 10 for step in data.draw(up_to(len(text)))]
    place = 0
    for size in [*sizes, len(text)]:
        row.feed(text[place : place + size])
        place += size
    row.end()
    assert pieces.done == pieces_of(patterns, text)
    assert not pieces.begun
    row.feed("again, 1234")
    row.end()
    assert pieces.done == pieces_of(patterns, text) + pieces_of(patterns, "again, 1234")


ALL = [*SPELLINGS, *OTHERS]
ALPHABET = "as'A1 \n.中\u0301"


def all_texts(longest: int) -> list[str]:
    return ["".join(t) for n in range(longest + 1) for t in product(ALPHABET, repeat=n)]


@pytest.mark.parametrize(("name", "patterns"), cases(ALL, ALL[::3]))
def test_what_is_passed_on_is_what_all_continuations_share(
    name: str, patterns: tuple[str, ...]
) -> None:
    """Against all texts of up to 3 characters behind drawn ones. What is passed on is always right;
    for a single Split of a family it is all that can be known, and a row of them waits for one
    character more at times."""
    short = all_texts(3)
    rng = random.Random(name)
    long = ["".join(rng.choices(ALPHABET, k=5)) for _ in range(20)]
    for text in ["s'", *rng.sample(short, drawn(40)), *cases(long, long[::5])]:
        pieces = Pieces()
        splitters(patterns, pieces).feed(text)
        count = len(pieces.done)
        continued = [pieces_of(patterns, text + more) for more in short]
        for found in continued:
            assert found[:count] == pieces.done, text
            assert "".join(found[count : count + 1]).startswith(pieces.begun), text
        if len(patterns) == 1 and name in NAMED:
            same = [len(set(map(tuple, (f[:n] for f in continued)))) == 1 for n in range(1, 6)]
            known = same.index(False) if False in same else len(same)
            shared = min(len("".join(f[count : count + 1])) for f in continued)
            assert (count, len(pieces.begun)) == (known, shared) or not text, text


@given(
    contents=st.lists(st.text("ab<", min_size=1, max_size=3), min_size=1, max_size=4, unique=True),
    chunks=st.lists(st.text("ab<", max_size=4), max_size=6),
)
def test_added_tokens_are_found_leftmost_and_longest(
    contents: list[str], chunks: list[str]
) -> None:
    found: list[str | int] = []

    class Segments(Pieces):
        def end(self) -> None:
            found.extend([self.begun] if self.begun else [])
            self.begun = ""

    splitter = TokenSplitter({c: n for n, c in enumerate(contents)}, Segments(), found.append)
    for chunk in chunks:
        splitter.feed(chunk)
    splitter.end()
    longest_first = "|".join(map(regex.escape, sorted(contents, key=len, reverse=True)))
    parts = regex.split(f"({longest_first})", "".join(chunks))
    assert found == [contents.index(p) if n % 2 else p for n, p in enumerate(parts) if p]


@pytest.mark.parametrize("name", ["cl100k_part", "o200k_part", "deepseek_part", "default"])
def test_the_last_cut_is_the_one_that_is_found_place_by_place(name: str) -> None:
    """However long the text without a cut is, which is looked through in blocks; and from what
    `final_chars` passed over on, no later text brings another one."""
    cuts, drawing = stable_cuts_for(facts_of(tokpar.load(part(name)))), random.Random(name)
    words = [" ", "  ", "\n", "a", "bc", "1", "234", "!", "'s", "é", "中文", "x " * 3]
    words += [char * drawing.randint(40, 90) for char in " 9a\n!"]
    for _ in range(drawn(300)):
        text = "".join(drawing.choice(words) for _ in range(drawing.randint(1, 60)))
        window = Window(cuts, text, begins=True)
        places = range(len(text) - 1, 0, -1)
        assert window.last(0) == next(filter(None, map(window.seam, places)), None)
        some = drawing.randint(0, len(text))
        known = Window(cuts, text[:some], begins=True)
        for place in range(1, cuts.final_chars(text[:some]) + 1):
            assert known.seam(place) == window.seam(place), (text, some, place)
