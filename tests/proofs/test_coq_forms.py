"""Forms.v speaks of the engine's normal forms: the tables of characters are the engine's, for every
code point; the program gives the engine's texts; its numbers are those of the compiled call."""

from __future__ import annotations

import random
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import product
from pathlib import Path

import pytest
from tokenizers import normalizers

from tests.support.coq_runs import computed
from tests.support.form_tables import FormTables, form_tables
from tests.support.profiles import cases, drawn
from tokpar.compiled.quick_check import CHANGES, FORMS, Form, quick_check

ENDS = "\n"
"""No form changes or moves it, and nothing composes with it: it stands between texts."""
CODE_POINTS = [chr(c) for c in range(sys.maxunicode + 1) if not 0xD800 <= c < 0xE000 and c != 10]
ALPHABET = "aeL.< \u00e9\u00c5\u1ea5\u0301\u0316\u0327\u0338\u0345\u0334\u0302\u09c7\u09be"
HANGUL = "\uac00\uac01\u1100\u1161\u11a8\u11a9"
COMPATIBLE = "\u0dd9\u0dcf\u0dca\ufb01\u3000\u1e9b\u0344\u2126\u03d3\uff76\uff9e"
TEXTS = drawn(500)


def forms_of(form: Form, texts: Iterable[str]) -> list[str]:
    """What the engine makes of each text."""
    engine = getattr(normalizers, form)()
    return [*engine.normalize_str(ENDS.join(texts)).split(ENDS)]


def differing(form: Form, texts: Sequence[str]) -> list[int]:
    """The texts of which the engine makes something else than Python, whose tables these are."""
    expected = unicodedata.normalize(form, ENDS.join(texts)).split(ENDS)
    found = forms_of(form, texts)
    assert len(found) == len(expected) == len(texts)
    return [k for k, (a, b) in enumerate(zip(found, expected, strict=True)) if a != b]


def every_context(form: Form, front: str, back: str) -> set[str]:
    """The code points that differ between two texts."""
    found = differing(form, [f"{front}{char}{back}" for char in CODE_POINTS])
    return {CODE_POINTS[k] for k in found}


@pytest.mark.parametrize("form", cases(FORMS, ("NFC", "NFKD")))
def test_the_engine_has_the_tables_for_every_code_point(form: Form) -> None:
    """What each is decomposed into, and its class, behind the highest and before the lowest class.

    The engine's Unicode is older than Python's: it leaves alone what it does not know."""
    contexts = [("", ""), ("a\u0345", ""), ("a", "\u0334")]
    newer = set[str]().union(*(every_context(form, *context) for context in contexts))
    for front, back in contexts:
        alone = [f"{front}{char}{back}" for char in sorted(newer)]
        parted = [f"{front}{ENDS}{char}{back}" for char in sorted(newer)]
        joined = getattr(normalizers, form)().normalize_str("\r".join(parted)).replace(ENDS, "")
        assert forms_of(form, alone) == joined.split("\r")
    assert len(newer) < 250


@pytest.mark.parametrize("first", cases("eL<\u03b1\u0915\u1100\uac00\u3046\u09c7", "e\uac00"))
def test_nothing_composes_but_what_the_tables_say(first: str) -> None:
    assert all(unicodedata.combining(c) for c in every_context("NFC", first, ""))


def test_each_two_characters_compose_as_the_tables_say() -> None:
    """All that is a first with all that is a second, without the syllables of Hangul."""
    pairs = [
        pair for pair in form_tables("NFC").composites if pair[0] < "\u1100" or pair[0] > "\ud7ff"
    ]
    texts = [a + b for a, b in product(*({pair[k]: 0 for pair in pairs} for k in (0, 1)))]
    wrong = {texts[k] for k in differing("NFC", texts)}
    assert len(texts) > 10_000
    assert wrong == {text for text in wrong if text[0] > "\uffff"}  # composites of later versions
    assert len(wrong) < 20


def interesting(form: Form) -> list[str]:
    """All characters that the tables speak of."""
    tables = form_tables(form)
    seconds = {second for _, second in tables.composites}
    return sorted({*tables.decompositions, *tables.classes, *seconds})


def small_tables(tables: FormTables, chars: Iterable[str]) -> FormTables:
    """What the numbers of these characters depend on."""
    inside = set(chars)
    for char in chars:
        whole, *rest = parts = tables.decompositions.get(char, char)
        inside.update(parts)
        for each in rest:
            whole = tables.composites.get((whole, each), "")
            inside.add(whole)
    by_second = {second: pair for pair in tables.composites if (second := pair[1]) in inside}
    pairs = {pair for pair in tables.composites if inside.issuperset(pair)}.union(
        by_second.values()
    )
    return FormTables(
        {c: parts for c, parts in tables.decompositions.items() if c in inside},
        {c: number for c, number in tables.classes.items() if c in inside},
        {pair: tables.composites[pair] for pair in pairs},
    )


@cache
def excluded() -> frozenset[str]:
    """Second characters of canonical decompositions."""
    parts = (unicodedata.decomposition(char).split() for char in CODE_POINTS)
    return frozenset(chr(int(p[1], 16)) for p in parts if len(p) == 2 and p[0][0] != "<")


@pytest.mark.parametrize("form", cases(FORMS, ("NFC", "NFKC")))
def test_the_numbers_in_coq_are_those_of_the_compiled_call(
    compiled: tuple[Path, str], form: Form
) -> None:
    """A character of which the tables say nothing has the number 0 in Coq, by `number`.

    tokpar gives none to the second of a pair that UAX 15 excludes from composition, either."""
    quick, tables, chars = quick_check((form,)), form_tables(form), interesting(form)
    assert quick is not None
    rest = {*range(sys.maxunicode + 1)}.difference(map(ord, chars))
    assert {int(quick[c]) for c in rest} == {0, CHANGES}
    chosen = random.Random(form).sample(chars, drawn(1500))
    definitions, terms = [NUMBERS], []
    for start in range(0, len(chosen), 150):
        block = chosen[start : start + 150]
        few = small_tables(tables, block)
        name = f"t_{start}"
        definitions.append(f"Definition {name} : characters := {few.all_coq()}.")
        codes = "; ".join(f"{ord(char)}%N" for char in block)
        terms.append(f"[map (told {name}) [{codes}]]")
    values = computed(compiled[0], "Forms", terms, "\n".join(definitions))
    found = [number for (row,) in values for number in row]
    wrong = [
        (hex(ord(char)), number, int(quick[ord(char)]))
        for char, number in zip(chosen, found, strict=True)
        if number != quick[ord(char)] and not (quick[ord(char)] == CHANGES and char in excluded())
    ]
    assert wrong == []
    assert len({*found}) > 3


NUMBERS = f"""Definition told (t : characters) (c : N) : nat :=
  match number t c with Some n => n | None => {CHANGES} end."""
TELL = """Definition told_text (t : characters) (S : list N) : list (list N) :=
  [normal t S; [if quick_check t S then 1%N else 0%N]]."""


@pytest.mark.parametrize("form", FORMS)
def test_the_program_gives_the_engines_forms(compiled: tuple[Path, str], form: Form) -> None:
    """And a text that passes the quick check is its own form."""
    rng, engine = random.Random(form), getattr(normalizers, form)()
    texts = [
        "".join(
            rng.choices(rng.choice([ALPHABET, HANGUL, ALPHABET + COMPATIBLE]), k=rng.randint(1, 7))
        )
        for _ in range(TEXTS)
    ]
    tables = form_tables(form).coq(ALPHABET + HANGUL + COMPATIBLE)
    terms = [f"told_text t [{'; '.join(f'{ord(c)}%N' for c in text)}]" for text in texts]
    definitions = f"{TELL}\nDefinition t : characters := {tables}.\nOpen Scope N_scope."
    values = computed(compiled[0], "Forms", terms, definitions)
    assert ["".join(map(chr, row)) for row, _ in values] == [*map(engine.normalize_str, texts)]
    passed = [text for text, (_, (answer,)) in zip(texts, values, strict=True) if answer]
    assert [*map(engine.normalize_str, passed)] == passed
    assert 0.01 * TEXTS < len(passed) < 0.9 * TEXTS
