"""The frozen cut tables: regenerated, counted, and contradicted by every other means we have."""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import product

import numpy as np
import numpy.typing as npt
import pytest
import regex
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from tests.conftest import chosen_profile, drawn, is_quick
from tests.recipes import generate_cuts as generate
from tests.recipes.contexts import build, decide
from tests.recipes.families import GHOSTS, RECIPES, Recipe
from tests.recipes.machine import Graph
from tests.recipes.pattern import Atom, parse
from tests.recipes.stored import Stored, load_stored, pair_pattern
from tests.support.cut_engines import ATOMS, ENGINES, pieces, random_words
from tests.support.patterns_drawn import first_piece
from tokpar.patterns.class_tables import (
    char_set,
    load_atoms,
    load_families,
    range_class,
    recognise,
)
from tokpar.patterns.pattern_reader import UnsupportedPatternError

REGEX_FAMILIES = [recipe.name for recipe in RECIPES]
RECIPE = {recipe.name: recipe for recipe in RECIPES}
LENGTH = dict.fromkeys(REGEX_FAMILIES, 6) | {"o200k": 5}
if is_quick():
    LENGTH = dict.fromkeys(REGEX_FAMILIES, 5) | {"o200k": 4}
if chosen_profile() == "deep":
    LENGTH = dict.fromkeys(REGEX_FAMILIES, 7) | {"o200k": 6, "deepseek": 6}
UPPER_ENDINGS = ("S", "L", "VR", "E")
"""o200k has 19 classes; without these, which a contraction may end in, 15."""
GROUP = {
    **dict.fromkeys(("ascii_digit", "N"), 0),
    **{a.name: 1 for a in (*ATOMS, *GHOSTS) if a.name.startswith(("cjk", "kana"))},
}
"""DeepSeek: which early stage takes an atom (2 or absent: neither)."""


def family(name: str) -> Stored:
    return load_stored()[name]


@cache
def sample(name: str) -> dict[str, str]:
    """One character for each class."""
    return {label: chr(family(name).ranges(label)[0][0]) for label in family(name).classes}


Context = tuple[str, ...]
Ends = npt.NDArray[np.uint8]


def first_ends(patterns: tuple[str, ...], chars: Sequence[str], size: int) -> Ends:
    """m(w) by the module `regex`, for all words w of `size` characters, indexed by them."""
    *early, last = (regex.compile(pattern).search for pattern in patterns)
    last = cache(last) if early else last  # many words have the same text left for the last stage

    def first_end(text: str) -> int:
        for search in (*early, last):
            found = search(text)
            text = text[: len(text) if found is None else found.start() or found.end()]
        return len(text)

    words = map("".join, product(chars, repeat=size))
    found = map(last, words)
    ends = map(first_end, words) if early else (each.start() or each.end() for each in found)
    return np.fromiter(ends, np.uint8, len(chars) ** size).reshape((len(chars),) * size)


def all_pieces(first: list[Ends], size: int, known: list[Ends]) -> Ends:
    """Ends of all pieces of all words of `size` characters, as bits: m, then those of the rest."""
    found = np.zeros_like(first[size])
    for end in range(1, size + 1):
        rest = known[size - end] << np.uint8(end)
        found |= np.where(first[size] == end, np.uint8(1 << end) | rest, np.uint8(0))
    return found


@cache
def broken(patterns: tuple[str, ...], chars: str, length: int) -> dict[int, set[Context]]:
    """Contexts at some wrong cut of some word of up to `length` (at most 7) of the characters, by
    the index of the cut's right neighbour: 1: (c, d), (c, d1, d2); 2: (c1, c2, d)."""
    first, ends = [np.zeros((), np.uint8)], [np.zeros((), np.uint8)]
    found: dict[int, set[Context]] = {1: set(), 2: set()}
    for size in range(1, length + 1):
        first.append(first_ends(patterns, chars, size))
        ends.append(all_pieces(first, size, ends))
        for p in range(1, size):
            left = ends[p].reshape(ends[p].shape + (1,) * (size - p))
            wrong = ends[size] != (left | ends[size - p] << np.uint8(p))
            for before, behind in ((1, 1), (1, 2), (2, 1)):
                if before <= p and behind <= size - p:
                    outside = {*range(size)} - {*range(p - before, p + behind)}
                    places = np.argwhere(wrong.any(axis=tuple(outside))).tolist()
                    found[before] |= {tuple(chars[i] for i in place) for place in places}
    return found


def broken_classes(
    name: str, patterns: tuple[str, ...], length: int, leave_out: Iterable[str] = ()
) -> set[Context]:
    """Contexts of classes at wrong cuts: (c, d), (c, "|", d1, d2) and (c1, c2, "|", d)."""
    label = {char: kind for kind, char in sample(name).items() if kind not in leave_out}
    found: set[Context] = set()
    for p, contexts in broken(patterns, "".join(label), length).items():
        for context in contexts:
            kinds = [label[char] for char in context]
            found.add((*kinds[:p], "|", *kinds[p:]) if len(kinds) > 2 else tuple(kinds))
    return found


def listed(found: Stored) -> set[tuple[str, ...]]:
    """Everything a family certifies, in the notation of `broken`."""
    return (
        {(left, right) for left, row in found.pairs.items() for right in row}
        | {(a, "|", b, c) for a, b, c, _ in found.triples}
        | {(a, b, "|", c) for a, b, c, _ in found.left_triples}
    )


# --- the tables come out again, and as the theory says --------------------------------------


def test_every_character_of_an_atom_is_of_its_category_in_unicode() -> None:
    """No family tells P from S, so the tables would not show such a mistake. Characters that this
    Python does not know yet are left out."""
    for atom in ATOMS:
        assert atom.category in ("Ll", "Lu", "Lt", "Lm", "Lo", "M", "N", "P", "S", "C")
        for char in (chr(point) for low, high in atom.ranges for point in range(low, high + 1)):
            found = "C" if char.isspace() else unicodedata.category(char)
            assert found == "Cn" or found.startswith(atom.category), (atom.name, char)


def test_families_json_and_contexts_json_are_what_the_machine_gives() -> None:
    families = generate.make_families(ATOMS)
    made = {
        generate.FAMILIES: generate.shipped(families),
        generate.CONTEXTS: generate.contexts_of(families),
    }
    for path, rows in made.items():
        assert generate.families_text(rows) == path.read_text(encoding="utf-8")


def test_the_engines_agree_with_the_atoms_on_every_class_of_every_family() -> None:
    ends = {chr(p) for spans in load_atoms().values() for span in spans for p in span}
    common = {chr(p) for p in (*range(0x250), *range(0x3000, 0x3100), *range(0x4E00, 0x5E00))}
    generate.check_sets(ATOMS, "".join(sorted(ends | common)))


@pytest.mark.parametrize(
    ("name", "classes", "pairs"),
    [
        ("gpt2", 10, 47),
        ("cl100k", 11, 54),
        ("cl100k_tiktoken", 11, 54),
        ("qwen2", 11, 55),
        ("o200k", 19, 134),
        ("tekken", 10, 44),
        ("deepseek", 13, 122),
    ],
)
def test_the_numbers_of_safe_pairs_are_those_of_section_5(
    name: str, classes: int, pairs: int
) -> None:
    assert len(family(name).classes) == classes
    assert sum(map(len, family(name).pairs.values())) == pairs


def test_o200k_has_84_of_225_pairs_without_upper_case_contraction_letters() -> None:
    upper = set(UPPER_ENDINGS)
    rows = family("o200k").pairs.items()
    assert sum(len(row.keys() - upper) for left, row in rows if left not in upper) == 84


def test_deepseek_has_146_of_196_pairs_with_unassigned_kana_as_fourteenth_class() -> None:
    recipe, atoms = RECIPE["deepseek"], (*ATOMS, *GHOSTS)
    names, patterns = recipe.stages[0]
    stages = generate.stages_of(recipe, names[0], patterns, atoms)
    pairs = decide(stages, frozenset(atom.name for atom in atoms)).pairs
    kinds = {atom: label for label, members in recipe.classes.items() for atom in members}
    kinds["kana_unassigned"] = "kana_unassigned"
    assert len(set(kinds.values())) == 14
    assert len({(kinds[x], kinds[y]) for x, y in pairs}) == 146


@pytest.mark.parametrize("name", REGEX_FAMILIES)
def test_u1_and_the_newline_row_are_in_every_table(name: str) -> None:
    found = family(name)
    spaces = {found.class_of(c) for c in " \t\r\u3000"} - {None}
    newline, any_space = found.class_of("\n"), found.universal == "any"
    for left, right in product(found.classes, repeat=2):
        if left not in spaces and right in spaces and (any_space or right != newline):
            assert found.theorem(left, right) == "20"
        if left == newline and not any_space and right not in {*spaces, "/"}:
            assert found.theorem(left, right) == "21"


@pytest.mark.parametrize("name", ["gpt2", "cl100k", "qwen2", "o200k", "tekken"])
def test_w2_the_last_white_space_of_a_run_may_be_cut_off(name: str) -> None:
    found = family(name)
    spaces = {str(found.class_of(char)) for char in " \t\n\u3000"}
    newline = str(found.class_of("\n")) if found.universal != "any" else ""
    triples = {triple[:3] for triple in found.triples}
    for left, right in product(spaces, spaces - {newline}):
        assert {(left, right, c) for c in set(found.classes) - spaces} <= triples


def test_w2_holds_for_the_old_cl100k_pattern_and_not_for_tiktokens() -> None:
    w2 = ("sp", "sp", "a", "19")
    assert w2 in family("cl100k").triples
    assert w2 not in family("cl100k_tiktoken").triples
    patterns = family("cl100k_tiktoken").sources[0].patterns
    wrong = broken_classes("cl100k_tiktoken", patterns, LENGTH["cl100k_tiktoken"])
    assert ("sp", "|", "sp", "a") in wrong


# --- second opinion: all class strings through the module regex -----------------------------


@pytest.mark.parametrize("name", REGEX_FAMILIES)
def test_no_class_string_breaks_a_listed_context(name: str) -> None:
    patterns = family(name).sources[0].patterns
    assert not listed(family(name)) & broken_classes(name, patterns, LENGTH[name])


def test_no_class_string_of_six_breaks_a_listed_context_of_fifteen_classes_of_o200k() -> None:
    found = family("o200k")
    wrong = broken_classes(
        "o200k", found.sources[0].patterns, 5 if is_quick() else 6, UPPER_ENDINGS
    )
    assert ("'", "s") in wrong
    assert not listed(found) & wrong


@pytest.mark.parametrize("name", REGEX_FAMILIES)
def test_every_pair_left_out_has_a_witness(name: str) -> None:
    found = family(name)
    patterns = found.sources[0].patterns
    unsafe = {p for p in product(found.classes, repeat=2) if p not in listed(found)}
    assert unsafe <= broken_classes(name, patterns, LENGTH[name])


@pytest.mark.parametrize("name", REGEX_FAMILIES)
def test_a_planted_unsafe_context_is_found(name: str) -> None:
    patterns = family(name).sources[0].patterns
    letter = family(name).class_of("a")
    planted = {("sp", str(letter)), ("sp", "|", str(letter), "1")}
    assert planted <= broken_classes(name, patterns, 3)


@pytest.mark.parametrize("name", REGEX_FAMILIES)
def test_the_pieces_of_all_short_words_are_those_of_the_whole_search(name: str) -> None:
    """That the next piece depends on the rest alone is what the enumeration takes for granted."""
    chars, patterns = "".join(sample(name).values()), family(name).sources[0].patterns
    first, ends = [np.zeros((), np.uint8)], [np.zeros((), np.uint8)]
    for size in range(1, 4):
        first.append(first_ends(patterns, chars, size))
        ends.append(all_pieces(first, size, ends))
        found = [
            sum(1 << end for end in pieces(patterns, "".join(word)))
            for word in product(chars, repeat=size)
        ]
        assert ends[size].ravel().tolist() == found


# --- the model against the real engines -----------------------------------------------------


def model_pieces(graphs: list[Graph], groups: dict[str, int], word: list[str]) -> list[int]:
    """Ends of the pieces by the machine; `groups` are DeepSeek's early runs."""
    ends, start = [], 0
    while start < len(word):
        group, stop = groups.get(word[start], 2), start
        while stop < len(word) and groups.get(word[stop], 2) == group:
            stop += 1
        if groups and group == 0:
            stop = min(stop, start + 3)
            ends.append(stop)
            start = stop
        while start < stop:
            start += first_piece(graphs[min(group, len(graphs) - 1)], word[start:stop])
            ends.append(start)
    return ends


def graphs_of(recipe: Recipe, engine: str, patterns: tuple[str, ...]) -> list[Graph]:
    """The last stage's machine; for DeepSeek one for each alphabet (the first is unused)."""
    universe = (*ATOMS, *GHOSTS)
    tree = generate.stages_of(recipe, engine, patterns, universe)[-1]
    names = {atom.name for atom in universe}
    if len(patterns) == 1:
        return [build(tree, names)]
    parts = [{n for n in names if GROUP.get(n, 2) == group} for group in (1, 2)]
    return [build(tree, part) for part in (parts[0], *parts)]


SPELLINGS = [
    pytest.param(recipe, engine, patterns, id=f"{recipe.name}-{index}-{engine}")
    for recipe in RECIPES
    for index, (names, patterns) in enumerate(recipe.stages)
    for engine in names
]


@pytest.mark.parametrize(("recipe", "engine", "patterns"), SPELLINGS)
def test_the_engine_cuts_random_frozen_text_as_the_model_does(
    recipe: Recipe, engine: str, patterns: tuple[str, ...]
) -> None:
    words = random_words(drawn(2500), 7, random.Random(f"{recipe.name}{engine}"))
    graphs = graphs_of(recipe, engine, patterns)
    groups = GROUP if len(patterns) > 1 else {}
    texts = [text for _, text in words]
    for (word, text), ends in zip(words, ENGINES[engine](patterns, texts), strict=True):
        assert ends == model_pieces(graphs, groups, word), (text, word)


@pytest.mark.parametrize("name", ["bert", "metaspace"])
def test_pair_local_tables_hold_on_hugging_face(name: str) -> None:
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

    found = family(name)
    for _, text in random_words(4000, 6, random.Random(name)):
        for p in range(1, len(text)):
            left, right = found.class_of(text[p - 1]), found.class_of(text[p])
            if found.theorem(str(left), str(right)):
                assert words(text) == words(text[:p]) + words(text[p:]), (text, p)


# --- loader ---------------------------------------------------------------------------------


def test_the_frozen_set_leaves_out_what_unicode_versions_and_case_folding_move() -> None:
    frozen = {name: family(name) for name in load_stored()}
    for char in "\U000125c4\U00016139\u017f\u212a\u2e43\u061d\u00aa\U0001f600\ud800":
        assert [name for name, found in frozen.items() if found.class_of(char)] == []


def test_all_white_space_and_ascii_is_frozen() -> None:
    spaces = "\t\n\x0b\x0c\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000"
    for char in (*map(chr, range(0x80)), *spaces, *map(chr, range(0x2000, 0x200B))):
        assert all(found.class_of(char) for found in load_stored().values())


@pytest.mark.parametrize("name", list(load_stored()))
def test_pair_pattern_matches_where_class_of_and_pairs_say(name: str) -> None:
    found, rng = family(name), random.Random(name)
    strange = [Atom("strange", "", ((0x100, 0x10FFFF), (0x17F, 0x17F), (0x1F600, 0x1F640)))]
    for _ in range(800):
        atoms = rng.choices((*ATOMS, *strange), k=rng.randint(0, 12))
        text = "".join(chr(rng.randint(*rng.choice(atom.ranges))) for atom in atoms)
        kinds = [found.class_of(char) for char in text]
        wanted = [
            p
            for p in range(1, len(text))
            if found.theorem(str(kinds[p - 1]), str(kinds[p])) is not None
        ]
        matches = list(pair_pattern(found).finditer(text))
        assert [match.start() for match in matches] == wanted
        assert all(match.start() == match.end() for match in matches)


def test_every_source_is_recognised_and_nothing_else() -> None:
    for found in load_families().values():
        for source in found.sources:
            assert recognise(source.engine, source.patterns) is found
    tiktokens = family("cl100k_tiktoken").sources[0].patterns
    assert recognise("oniguruma", tiktokens) is None
    assert recognise("fancy-regex", family("deepseek").sources[0].patterns) is None


def test_range_class_is_a_class_of_its_ranges() -> None:
    ranges = [(0x5D, 0x5E), (0x2D, 0x2D), (0x4E00, 0x4E01)]
    assert re.findall(range_class(ranges), "a]^-一丂") == [*"]^-一"]


RANGES = [(0x30, 0x39), (0x61, 0x7A), (0xD800, 0xDFFF), (0xE000, 0x10000), (0x1F600, 0x1F64F)]


@pytest.mark.each_value
@pytest.mark.parametrize("size", [1, 3, 5_000, 300_000])
@pytest.mark.parametrize("odd", ["", "A", "\ud7ff", "\U00010001", "\U0001f650", "\U0010ffff"])
@pytest.mark.parametrize("letters", ["a9", "\U0001f600", "z\U0001f64f\ud800\udfff\ue000"])
def test_a_set_of_characters_holds_texts_of_them_alone(letters: str, odd: str, size: int) -> None:
    text = (letters * size)[:size]
    for place in (0, size // 2, size):
        whole = text[:place] + odd + text[place:]
        expected = all(any(low <= ord(c) <= high for low, high in RANGES) for c in set(whole))
        assert char_set(RANGES).holds(whole) is expected is (not odd)


# --- what the parser refuses ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("engine", "pattern"),
    [
        ("oniguruma", r"\p{N}{1,3}+"),
        ("regex", r"\p{L}++\p{Ll}"),
        ("regex", r"\s+$|\s|\S"),
        ("regex", r"(?<=a)b"),
        ("regex", r"^a|\s|\S"),
        ("regex", r"\s+?|\S"),
        ("regex", r"[^\s--\p{L}]"),
        ("regex", r"[a-f]|\s|\S"),
        ("regex", r"\w+"),
        ("regex", r"(a"),
        ("regex", r"a)"),
        ("onig", r"\s"),
    ],
)
def test_patterns_outside_the_model_are_refused(engine: str, pattern: str) -> None:
    with pytest.raises(UnsupportedPatternError):
        parse(pattern, engine, ATOMS)


@pytest.mark.parametrize("pattern", [r"\s*|\S+", r"\p{L}+|\s+", r"(?:\s*)*|\S"])
def test_patterns_that_match_nothing_or_leave_gaps_are_refused(pattern: str) -> None:
    with pytest.raises(UnsupportedPatternError):
        build(parse(pattern, "regex", ATOMS), [atom.name for atom in ATOMS])
