"""Clusters.v speaks of the engine's Precompiled: the kinds of characters are the engine's, for each
code point; the program gives the engine's texts; its cuts are lossless on the engine."""

from __future__ import annotations

import random
import sys
import unicodedata
from collections.abc import Mapping
from functools import cache
from io import BytesIO
from pathlib import Path

import pytest
from tokenizers import normalizers
from tokpar_conformance.worlds.charsmaps import charsmap

from tests.recipes.tokenizer_files.pieces import charsmap as table_of_model
from tests.support.cluster_tables import KINDS, charsmap_coq, drawn_keys, keys_of, kind_of
from tests.support.coq_runs import computed
from tests.support.coq_worlds import listed, points
from tests.support.profiles import cases, chosen_profile, drawn

ACUTE, CONSONANT, LINKER, PICTURE, ZWJ = "\u0301", "\u0915", "\u094d", "\u2764", "\u200d"
ENDS = "\n"
"""A cluster by itself but behind a carriage return: it stands between texts."""
PRIVATE = 0xE000
CODE_POINTS = [chr(c) for c in range(sys.maxunicode + 1) if not 0xD800 <= c < 0xE000 and c != 10]
BEHIND = dict(
    zip(
        ("letter", "lead", "vowel", "tail", "syllable", "closed", "preceding", "picture"),
        "b\u1100\u1161\u11a8\uac00\uac01\u0600" + PICTURE,
        strict=True,
    )
)
PROBES: dict[str, tuple[str, str, str]] = {
    "joins a letter": ("a", "", "a"),
    "takes marks": ("", ACUTE * 2, ACUTE * 2),
    **{name: ("", char + ACUTE, char + ACUTE) for name, char in BEHIND.items()},
    "a picture": ("", ZWJ + PICTURE + ACUTE, PICTURE + ACUTE),
    "inside a picture": (PICTURE, ZWJ + PICTURE + ACUTE, PICTURE + ACUTE),
    "a joiner": (PICTURE, PICTURE + ACUTE, PICTURE + ACUTE),
    "a consonant": ("", LINKER + CONSONANT + ACUTE, CONSONANT + ACUTE),
    "links": (CONSONANT, CONSONANT + ACUTE, CONSONANT + ACUTE),
    "inside what is linked": (CONSONANT, LINKER + CONSONANT + ACUTE, CONSONANT + ACUTE),
}
"""What is asked about a character: what stands before and behind it, and the only key of the table,
which it replaces by nothing if a cluster begins with the key."""
ALPHABET = (
    "aeb A.\u00e9\u0301\u0316\u200d\u200c\r\n\u00a9\ufb01\u4e2d\uac01\u1161\u1100\u2764\u0130"
)
ALPHABET += "\u0903\u0e33\U0001f3fb\x07\u1eb9\u0915\u094d\u0937\u0600\U0001f1e6\u3000"
VALUES = ("", " ", "a", "ab", " \u0301", "\u00e9", "\u2581", "\u4e2d\u4e2d", "\u200d")
CHANGED = "\u1cf5\u1cf6\U00011a3a"
"""The characters of another kind in a later Unicode."""
TELL = """Definition told (m : charsmap) (S : list N) : list (list N) :=
  [mapped m S; map N.of_nat (filter (fun p => match skipn (p - 1) S with
    | a :: b :: _ => breaks m a b && ends_alone m a && starts_alone m b
    | _ => false end) (seq 1 (length S)))]."""
TABLES, TEXTS = drawn(20), 100 if chosen_profile() == "deep" else 25


def engine_of(keys: Mapping[str, str]) -> normalizers.Normalizer:
    return normalizers.Precompiled(charsmap(keys))


@cache
def sizes_in_coq(compiled: Path) -> dict[str, list[int]]:
    """How many characters each probe leaves, for each kind: a private character is of this kind."""
    names = [*KINDS, "Other"]
    context = {char for probe in PROBES.values() for char in "".join(probe)}
    private = "; ".join(f"({PRIVATE + k}%N, {PRIVATE + k}%N, {x})" for k, x in enumerate(names))
    tables, terms = [], []
    for number, (_, _, key) in enumerate(PROBES.values()):
        table = charsmap_coq(context, {key: ""}).replace("kinds := [", f"kinds := [{private}; ")
        tables.append(f"Definition m_{number} : charsmap := {table}.")
    for k in range(len(names)):
        row = (
            f"length (mapped m_{number} {points(front + chr(PRIVATE + k) + back)})"
            for number, (front, back, _) in enumerate(PROBES.values())
        )
        terms.append(f"[{listed(row)}]")
    values = computed(compiled, "Clusters", terms, "\n".join(tables))
    return {name: row for name, (row,) in zip(names, values, strict=True)}


@pytest.mark.parametrize("probe", cases([*PROBES], ("joins a letter",)))
def test_the_engine_has_the_kinds_for_every_code_point(
    compiled: tuple[Path, str], probe: str
) -> None:
    """The engine's Unicode is older than that of the tables: it takes what it does not know for
    another character."""
    front, back, key = PROBES[probe]
    number = [*PROBES].index(probe)
    sizes = sizes_in_coq(compiled[0])
    texts = [f"{front}{char}{back}" for char in CODE_POINTS]
    found = engine_of({key: ""}).normalize_str(ENDS.join(texts)).split(ENDS)
    wrong = [
        char
        for char, image in zip(CODE_POINTS, found, strict=True)
        if len(image) != sizes[kind_of(char)][number]
    ]
    newer = {char for char in wrong if unicodedata.category(char) == "Cn"}
    assert newer.union(CHANGED, key) >= {*wrong}
    assert len(newer) < 80
    assert len({row[number] for row in sizes.values()}) > 1


def drawn_text(rng: random.Random, keys: Mapping[str, str]) -> str:
    parts = [*ALPHABET, *ACUTE * 4, *keys, *keys]
    return "".join(rng.choices(parts, k=rng.randint(1, 7)))


def test_the_program_gives_the_engines_texts(compiled: tuple[Path, str]) -> None:
    """And where both characters beside a cut are sure, both sides have their own texts."""
    rng = random.Random("clusters")
    definitions, terms, expected, cut = [TELL], [], [], 0
    for number in range(TABLES):
        keys = drawn_keys(rng, ALPHABET, VALUES)
        engine = engine_of(keys)
        definitions.append(f"Definition m_{number} : charsmap := {charsmap_coq(ALPHABET, keys)}.")
        for text in {drawn_text(rng, keys) for _ in range(TEXTS)}:
            terms.append(f"told m_{number} {points(text)}")
            expected.append((engine, text))
    values = computed(
        compiled[0],
        "Clusters",
        terms,
        "\n".join(["From Coq Require Import Bool.", *definitions, "Open Scope N_scope."]),
    )
    for (engine, text), (image, sure) in zip(expected, values, strict=True):
        whole = engine.normalize_str(text)
        assert "".join(map(chr, image)) == whole
        for p in sure:
            assert engine.normalize_str(text[:p]) + engine.normalize_str(text[p:]) == whole
        cut += len(sure)
    assert 0.2 * len(values) < cut
    assert any(
        image != [*map(ord, text)] for (_, text), (image, _) in zip(expected, values, strict=True)
    )


RULES = ("nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf")


@pytest.mark.parametrize("rule", cases(RULES, ("nmt_nfkc",)))
def test_the_tables_of_sentencepiece_leave_a_cut_at_each_space(rule: str) -> None:
    """No key begins with a space, or with a character that joins what follows: `starts_alone` and
    `ends_alone` ask this. Each key is a string, as Clusters.v has keys."""
    trainer = pytest.importorskip("sentencepiece", reason="makes the tables")
    model = BytesIO()
    trainer.SentencePieceTrainer.train(
        sentence_iterator=iter(["hello world"] * 9),
        model_writer=model,
        vocab_size=12,
        hard_vocab_limit=False,
        normalization_rule_name=rule,
        minloglevel=9,
    )
    keys = [key.decode() for key in keys_of(table_of_model(model.getvalue()))]
    assert len(keys) > 200_000
    assert not [key for key in keys if key[0] == " " or kind_of(key[0]) == "Preceding"]
