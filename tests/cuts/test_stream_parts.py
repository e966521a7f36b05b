"""What streaming rests on: cuts that no later text revokes."""

from __future__ import annotations

import random
import sys
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tokpar
from tests.conftest import cases, drawn, is_quick
from tests.recipes.known import DEEPSEEK_STAGES
from tests.support.drawn_runs import adapter_of, any_tokenizer, drawn_text
from tests.support.seams import part
from tests.support.tokenizers_drawn import Added, Extras, WordPieceSpec, build, llama_specs
from tokpar.contract.interfaces import facts_of
from tokpar.cuts.added_token_guard import maybe_space, maybe_spaces
from tokpar.cuts.finder import CutFinder, finder_for
from tokpar.cuts.stable_cuts import StableCuts, Window, stable_cuts_for
from tokpar.types import AddedToken, Facts, NormalizerStage

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
    """Two letters and the space, up to 6 of them, each token by itself; in the profile quick 4, and
    for each scheme another third of the tokens. Under a normalizer an accent, which makes what is
    beside it uncertain, takes the place of a letter."""
    letters = "\u0301b " if "normalizers" in SCHEMES[scheme] else "ab "
    every = ["".join(t) for n in range(5 if is_quick() else 7) for t in product(letters, repeat=n)]
    every += [start + " " * n + "b" for start in ("", "b") for n in range(6, 15)]
    tokens = [*product(("b", "ba", "b b", " b", "b ", "  ", " a "), FLAGS)]
    checked, third = 0, slice([*SCHEMES].index(scheme) % 3, None, 3)
    tokens = cases(tokens, tokens[third])
    for content, flags in tokens:
        token = AddedToken(content, 0, **flags)
        facts = Facts(**{"engine": "", "model": "BPE", "added_tokens": (token,), **SCHEMES[scheme]})
        finder = finder_for(facts)
        for text in every if finder.refusal is None else ():
            assert_final(finder, text)
            checked += 1
    assert 3 * checked >= 2 * len(tokens) * len(every)


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
