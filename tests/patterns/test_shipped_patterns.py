"""The shipped values: decided anew, checked, and tried on the engines themselves."""

from __future__ import annotations

import random
import unicodedata
from functools import cache
from itertools import pairwise, product

import numpy as np
import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from tests.conftest import below_one, cases, drawn
from tests.recipes import generate_cuts as generate
from tests.recipes.shipped import SPELLINGS as NAMED
from tests.recipes.shipped import sources_of
from tests.support.cut_engines import ATOMS, ENGINES, random_words
from tests.support.pair_places import pair_places
from tokpar.certificate.pattern_proof import proved_table
from tokpar.patterns.class_tables import load_atoms, merge_ranges
from tokpar.patterns.known_pattern import SURE, KnownPattern, pattern_of_classes, shipped_pattern
from tokpar.patterns.pair_search import Pairs
from tokpar.patterns.pattern_reader import UnsupportedPatternError
from tokpar.patterns.splits import SplitStage, decide_pairs
from tokpar.types import Theorem

Spelling = tuple[str, tuple[str, ...]]
"""An engine, and one pattern per Split."""
SPELLINGS: list[tuple[str, Spelling]] = [
    (name, (source["engine"], tuple(source["patterns"])))
    for name in NAMED
    for source in sources_of(name)
]
FEW = [(name, source) for name, source in SPELLINGS if source[0] == "oniguruma"]
FROZEN = np.concatenate(
    [
        np.arange(low, high + 1)
        for low, high in merge_ranges(s for v in load_atoms().values() for s in v)
    ]
)
STRANGE = "\U000125c4\U00016139\u017f\U0001f600"
"""Characters outside the frozen set."""


def label(value: object) -> str:
    return f"{value[0]} {len(value[1][-1])}" if isinstance(value, tuple) else str(value)


each_spelling = pytest.mark.parametrize(("name", "source"), cases(SPELLINGS, FEW), ids=label)


@cache
def fresh(source: Spelling) -> Pairs:
    if source[0] == "oniguruma":
        below_one()
    return decide_pairs([SplitStage(pattern, source[0]) for pattern in source[1]])


def stored(source: Spelling) -> KnownPattern:
    found = shipped_pattern(*source)
    assert found is not None
    return found


def certified(known: KnownPattern) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    """The certified pairs of symbols, first by second."""
    size = known.table.size
    return (known.table.statuses.reshape(256, 256)[:size, :size] == SURE).T


@each_spelling
def test_the_stored_pairs_are_those_of_the_engine(name: str, source: Spelling) -> None:
    """All its code points have symbols that the frozen ones have, or one that no pair names."""
    kept, found = stored(source), fresh(source)
    symbol_of, size = kept.table.symbol_of, kept.table.size
    assert kept.proof == ("pattern", name)
    assert size == found.alphabet.size
    assert np.array_equal(symbol_of[FROZEN], found.alphabet.symbol_of[FROZEN])
    others = np.ones(len(symbol_of), np.bool_)
    others[FROZEN] = False
    assert (symbol_of[others] == size).all()
    assert np.array_equal(certified(kept), found.pairs)


@each_spelling
def test_the_checker_accepts_what_is_stored(name: str, source: Spelling) -> None:
    """The checker proves just the pairs that are stored."""
    proved, table = proved_table(name, *source), stored(source).table
    assert not isinstance(proved, str)
    symbols = sorted(set(table.symbol_of[FROZEN].tolist()))
    examples = {c: chr(int(np.flatnonzero(table.symbol_of == c)[0])) for c in symbols}
    for c, d in product(examples, repeat=2):
        why = proved.refusal(examples[c], examples[d])
        assert (why is None) == certified(stored(source))[c, d], (c, d, why)


@each_spelling
def test_the_cuts_of_drawn_texts_are_lossless_and_may_be_made_at_once(
    name: str, source: Spelling
) -> None:
    """On the engine itself, with characters that no table knows."""
    table = stored(source).table
    rng = random.Random(label(source))
    texts = [text for _, text in random_words(drawn(60), 12, rng)]
    texts += ["".join(rng.choices([*text, *STRANGE, "1", "22"], k=9)) for text in texts]
    for text in texts:
        cuts = pair_places(table, text)
        parts = [text[:p] for p in cuts] + [text[p:] for p in cuts]
        parts += [text[low:high] for low, high in pairwise([0, *cuts, len(text)])]
        whole, *ends = pieces(source, [text, *parts])
        for k, p in enumerate(cuts):
            right = [p + end for end in ends[len(cuts) + k]]
            assert ends[k] + right == whole, (text, p)
        starts = [0, *cuts]
        together = ends[2 * len(cuts) :]
        made = [s + end for s, found in zip(starts, together, strict=True) for end in found]
        assert made == whole, text


def pieces(source: Spelling, texts: list[str]) -> list[list[int]]:
    if source[0] == "oniguruma":
        below_one()
    return [*ENGINES[source[0]](source[1], texts)]


@each_spelling
def test_a_certified_pair_is_a_boundary_between_drawn_texts(name: str, source: Spelling) -> None:
    """Each certified pair of symbols, with text drawn on both sides of it."""
    table, rng = stored(source).table, random.Random(label(source) + "around")
    known = np.flatnonzero(table.symbol_of < table.size)
    chars = [*map(chr, rng.sample(known.tolist(), 300)), *map(chr, range(0x80)), *STRANGE]
    pairs = [(a, b) for a, b in product(chars, repeat=2) if table.is_sure(a, b)]
    texts, places = [], []
    for before, behind in rng.sample(pairs, drawn(400)):
        left, right = ("".join(rng.choices([*chars, *" \n'1a"], k=rng.randint(0, 6))) for _ in "lr")
        texts.append(left + before + behind + right)
        places.append(len(left) + 1)
    for text, place, ends in zip(texts, places, pieces(source, texts), strict=True):
        assert place in ends, (text, place)


def test_only_a_space_is_certified_beside_a_character_of_which_nothing_is_known() -> None:
    """After it, where theorem 20 needs no class."""
    values = [stored(source) for _, source in FEW]
    for known in (*values, pattern_of_classes("bert"), pattern_of_classes("metaspace")):
        for strange in STRANGE:
            assert known.table.symbol_of[ord(strange)] == known.table.size
            for char in map(chr, FROZEN[:200].tolist()):
                assert known.table.is_sure(strange, char) == (char == " ")
                assert not known.table.is_sure(char, strange)


def test_other_patterns_are_not_shipped() -> None:
    engine, patterns = FEW[0][1]
    assert shipped_pattern("my own", patterns) is None
    assert shipped_pattern(engine, ()) is None
    assert shipped_pattern(engine, (*patterns, *patterns)) is None
    assert shipped_pattern("oniguruma", NAMED["cl100k_tiktoken"][0][1]) is None
    assert shipped_pattern("fancy-regex", NAMED["deepseek"][0][1]) is None
    assert isinstance(proved_table("cl100k", engine, patterns), str)


def test_only_the_pattern_of_deepseek_leaves_gaps() -> None:
    leaves = {name for name, source in SPELLINGS if not stored(source).covers}
    assert leaves == {"deepseek"}
    assert [name for name, source in FEW if not generate.is_covering(as_json(source))] == [
        name for name, _ in FEW if name == "deepseek"
    ]


def as_json(source: Spelling) -> dict[str, object]:
    return {"engine": source[0], "patterns": list(source[1])}


@pytest.mark.parametrize("pattern", [r"\s+$|\s|\S", r"a++$|\s|\S", r"\\s++$|[\s\S]", r"$|a"])
def test_a_dollar_of_two_characters_is_refused(pattern: str) -> None:
    with pytest.raises(UnsupportedPatternError):
        decide_pairs([SplitStage(pattern, "regex")])


def test_the_classes_are_what_the_recipe_writes() -> None:
    assert generate.classes_text() == generate.CLASSES.read_text(encoding="utf-8")


def test_the_engines_agree_with_the_atoms_on_every_class_of_every_pattern() -> None:
    ends = {chr(p) for spans in load_atoms().values() for span in spans for p in span}
    common = {chr(p) for p in (*range(0x250), *range(0x3000, 0x3100), *range(0x4E00, 0x5E00))}
    generate.check_sets(ATOMS, "".join(sorted(ends | common)))


def test_every_character_of_an_atom_is_of_its_category_in_unicode() -> None:
    """No pattern tells P from S, so the tables would not show such a mistake. Characters that this
    Python does not know yet are left out."""
    for atom in ATOMS:
        assert atom.category in ("Ll", "Lu", "Lt", "Lm", "Lo", "M", "N", "P", "S", "C")
        for char in (chr(point) for low, high in atom.ranges for point in range(low, high + 1)):
            found = "C" if char.isspace() else unicodedata.category(char)
            assert found == "Cn" or found.startswith(atom.category), (atom.name, char)


@pytest.mark.parametrize("name", ["bert", "metaspace"])
def test_pairs_of_classes_hold_on_hugging_face(name: str) -> None:
    tokenizer = Tokenizer(models.WordLevel({}, unk_token=""))
    if name == "bert":
        tokenizer.normalizer = normalizers.BertNormalizer()
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    else:
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="never")

    def words(text: str) -> list[str]:
        if tokenizer.normalizer is not None:
            text = tokenizer.normalizer.normalize_str(text)
        return [word for word, _ in tokenizer.pre_tokenizer.pre_tokenize_str(text)]

    table = pattern_of_classes(name).table
    for _, text in random_words(4000, 6, random.Random(name)):
        for p in pair_places(table, text):
            assert words(text) == words(text[:p]) + words(text[p:]), (text, p)


def test_the_frozen_set_leaves_out_what_unicode_versions_and_case_folding_move() -> None:
    for known in (pattern_of_classes("bert"), *(stored(source) for _, source in FEW)):
        for char in "\U000125c4\U00016139\u017f\u212a\u2e43\u061d\u00aa\U0001f600\ud800":
            assert known.table.symbol_of[ord(char)] == known.table.size


def test_all_white_space_and_ascii_is_frozen() -> None:
    spaces = "\t\n\x0b\x0c\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000"
    points = [*range(0x80), *map(ord, spaces), *range(0x2000, 0x200B)]
    assert set(points) <= set(FROZEN.tolist())


@pytest.mark.parametrize(("name", "source"), SPELLINGS)
def test_a_shipped_value_names_the_theorem_of_its_row_of_splits(
    name: str, source: Spelling
) -> None:
    known = shipped_pattern(*source)
    assert known is not None
    assert known.proof == ("pattern", name)
    assert known.theorem == (Theorem.PAIR if len(source[1]) == 1 else Theorem.PAIR_OF_SPLITS)
