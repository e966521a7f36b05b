"""Theorem 50 for tokenizers 1.x: rows of stages as files have them, drawn and real. The engine is
asked whether the ids of both halves are those of the whole; skipped beside another release.
"""

from __future__ import annotations

import random
import re
import tempfile
from itertools import chain, pairwise, product
from pathlib import Path

import pytest
from tokpar_conformance.worlds.charsmaps import charsmap

import tokpar
from tests.conftest import drawn
from tests.recipes.known import DEEPSEEK_RAW_NEWLINES
from tests.support import stage_configs
from tests.support.file_formats import written
from tests.support.stage_configs import (
    BEHAVIORS,
    SHAPES,
    SPACES,
    Json,
    config,
    drawn_config,
    metaspace,
    precompiled,
    split,
    stage,
    word_level,
)
from tokpar.adapters import hf_version
from tokpar.certificate.checker import seam_findings
from tokpar.cuts.finder import finder_for
from tokpar.errors import FileFormatError
from tokpar.facts.space_stages import SURE, _edge
from tokpar.patterns.shipped_patterns import CL100K, GPT2

RELEASE = hf_version.installed_release()
if RELEASE < (1,):
    pytest.skip("needs tokenizers 1.x", allow_module_level=True)

from tokpar.adapters.hf_v1 import HuggingFaceOneTokenizer  # noqa: E402
from tokpar.adapters.hf_version import load  # noqa: E402

pytestmark = [pytest.mark.ids, pytest.mark.compiled_at_once]

CHARACTERS = (*stage_configs.CHARACTERS, "ab a ", "a" * 61)
"""With what brings the rest to the edge of the 64 bytes that 1.x looks at together."""


def loaded(file: Json) -> HuggingFaceOneTokenizer:
    with tempfile.TemporaryDirectory() as directory:
        found = load(written(Path(directory), file))
    assert found is not None
    return found


def ids(adapter: HuggingFaceOneTokenizer, text: str) -> list[int]:
    found: list[int] = adapter.encode(text).tolist()
    return found


def cuts(adapter: HuggingFaceOneTokenizer, text: str) -> list[int]:
    finder = finder_for(adapter.facts)
    if finder.refusal_for(text) is not None:
        return []
    return [p for p in range(1, len(text)) if finder.certify_context(text, p) is not None]


def require_exact(adapter: HuggingFaceOneTokenizer, text: str) -> int:
    """Each certified cut gives the engine's own ids, all of them together too, and the checker
    agrees; how many they are."""
    finder = finder_for(adapter.facts)
    try:
        whole = ids(adapter, text)
    except ValueError:  # no unknown token, or a regex that it cannot run
        return 0
    seams = [seam for p in cuts(adapter, text) if (seam := finder.certify_context(text, p))]
    if any("absorbed" in dict(seam.witness) for seam in seams):
        return 0
    assert not list(seam_findings(seams, text, adapter.facts)), (text, seams)
    places = [seam.position for seam in seams]
    for edges in (*([0, p, len(text)] for p in places), [0, *places, len(text)]):
        parts = [ids(adapter, text[start:stop]) for start, stop in pairwise(edges)]
        assert list(chain(*parts)) == whole, (text, edges, adapter.spec()[1]["config"])
    return len(places)


def drawn_text(rng: random.Random) -> str:
    pools = (CHARACTERS, CHARACTERS, SPACES)
    return "".join(rng.choice(rng.choice(pools)) for _ in range(rng.randint(2, 14)))


@pytest.mark.parametrize("seed", range(8))
def test_drawn_rows_of_stages_are_cut_where_the_engine_agrees(seed: int) -> None:
    rng, tried = random.Random(seed), 0
    for _ in range(drawn(120)):
        try:
            adapter = loaded(drawn_config(rng, of_one=True))
        except FileFormatError:  # rows that 1.x has no form for
            continue
        if adapter.facts.unprovable is None:
            tried += sum(require_exact(adapter, drawn_text(rng)) for _ in range(12))
    assert tried > 20


# --------------------------------------------------------------------- the shapes that files have

TEXT = "a b ab  a.b, 12 aa ``b` > a <s> éa\u0301 b\u200b a\u3000 ф a\nb  中 ab a "


@pytest.mark.parametrize("name", SHAPES)
def test_real_shapes_are_cut_before_spaces_and_stay_exact(name: str) -> None:
    adapter = loaded(SHAPES[name])
    assert adapter.facts.unprovable is None
    assert require_exact(adapter, TEXT) >= 6
    for text, size in ((TEXT, 1), (TEXT, 7), (TEXT * 700, 500)):  # 1.x divides long texts itself
        for executor in ("serial", "threads"):
            encoding = tokpar.encode(
                text, adapter, strategy="cut", chunk_chars=size, executor=executor
            )
            assert list(encoding) == ids(adapter, text)
            assert encoding.report.chunks > 4
            assert tokpar.check(encoding, text, adapter).ok


def test_a_cut_is_certain_wherever_it_lies_in_the_64_bytes_that_are_read_together() -> None:
    for name in ("t5", "gemma", "bert without normalizer", "starcoder", "whitespace, NFKC"):
        adapter = loaded(SHAPES[name])
        for start in range(130):
            text = f"{'a' * start}中 b\u3000 aé ф."
            assert require_exact(adapter, text) >= 1 or start == 0, (name, start)


def test_files_of_both_formats_are_cut_alike() -> None:
    """White space that is dropped before a Metaspace is a normalizer of its own in format 2.0."""
    for name in ("t5", "albert", "gemma, Split", "starcoder"):
        adapter = loaded(SHAPES[name])
        build, settings = adapter.spec()
        assert settings["config"]["version"] == "1.0"
        twin = build(**settings)
        assert cuts(twin, TEXT) == cuts(adapter, TEXT) != []
        assert ids(twin, TEXT) == ids(adapter, TEXT)


def test_sure_characters_are_clusters_of_their_own_beside_a_space() -> None:
    """With any other cluster the table below would find its key."""
    sure = [c for c in map(chr, range(0x21, 0x10000)) if re.fullmatch(f"[{SURE}]", c)]
    for start in range(0, len(sure), 997):
        some = sure[start :: max(1, len(sure) // 300)]
        keys = [key for c in some for key in (f"{c} ", f" {c}", f"{c}a", f"a{c}")]
        vocab = {"[UNK]": 0, "\ue000": 1}
        own = stage("WordLevel", vocab=vocab, unk_token="[UNK]")
        row = [stage("WhitespaceSplit"), split("\ue000")]
        adapter = loaded(config(own, [precompiled(charsmap(dict.fromkeys(keys, "\ue000")))], row))
        for c in some:
            assert 1 not in ids(adapter, f"a {c} {c}a{c} a"), ascii(c)
    joined = loaded(config(own, [precompiled(charsmap({"\u0600 ": "\ue000"}))], row))
    assert 1 in ids(joined, "a\u0600 b")


@pytest.mark.parametrize("behavior", BEHAVIORS)
@pytest.mark.parametrize("invert", [False, True])
def test_a_split_on_a_character_cuts_cleanly_or_not_at_all(behavior: str, invert: bool) -> None:
    """Everywhere in every text; each piece is a word that the model knows."""
    texts = ["".join(text) for size in range(1, 7) for text in product("ab", repeat=size)]
    vocab = {text: i for i, text in enumerate(texts)}
    own = stage("WordLevel", vocab=vocab, unk_token="a")
    adapter = loaded(config(own, [], [split("a", behavior, invert)]))
    found = {text: [texts[id_] for id_ in ids(adapter, text)] for text in texts}
    for text in texts:
        for p in range(1, len(text)):
            left, right = found[text[:p]], found[text[p:]]
            joined = [*left[:-1], "".join((*left[-1:], *right[:1])), *right[1:]]
            cut = _edge(behavior, invert, text[p - 1] == "a", text[p] == "a")
            assert found[text] == (left + right if cut else joined), (text, p)


# --------------------------------------------------------------- what is not certain with 1.x

PLAIN = dict.fromkeys(("lstrip", "rstrip", "single_word", "special"), False)


def why(file: Json) -> str:
    return str(loaded(file).facts.unprovable)


def test_a_token_that_is_searched_behind_metaspace_is_refused() -> None:
    own, row = word_level(), [stage("WhitespaceSplit"), metaspace()]
    for normalized in (True, False):
        added = {"content": "<s>", "normalized": normalized, **PLAIN}
        found = loaded(config(own, [], row, [added]))
        assert (found.facts.unprovable is not None) == normalized


def pieces(row: list[Json], text: str) -> int:
    """How many a row makes: each is one unknown word."""
    own = stage("WordLevel", vocab={"[UNK]": 0}, unk_token="[UNK]")
    return len(ids(loaded(config(own, [], row)), text))


def test_tokenizers_1_runs_no_regex_but_those_of_its_list() -> None:
    for pattern in (r"\s+", r"\p{L}+", r"\w+|\W", "a|b", r"[^\s]+|\s+"):
        for behavior in BEHAVIORS:
            row = [split(pattern, behavior, kind="Regex"), stage("WhitespaceSplit")]
            assert "Split on" in why(config(word_level(), [], row))
            with pytest.raises(ValueError, match="system-regex"):
                pieces(row, "a b")
    assert loaded(config(word_level(), [], [split(GPT2, kind="Regex")])).facts.unprovable is None


def test_what_a_regex_says_is_not_what_it_runs() -> None:
    """cl100k with another bound of its digits is scanned as cl100k: so no windows are decided."""
    for digits, expected in (("", 7), ("{1,3}", 3), ("{1,2}", 3), ("+", 3)):
        row = [split(CL100K.replace("{1,3}", digits), kind="Regex")]
        assert pieces(row, "1234567") == expected
        assert ("Split on" in why(config(word_level(), [], row))) == (digits in ("{1,2}", "+"))


def test_behind_the_three_regexes_of_deepseek_it_runs_nothing() -> None:
    three = [split(pattern, kind="Regex") for pattern in DEEPSEEK_RAW_NEWLINES]
    letters = stage("FixedLength", length=1)
    assert pieces([letters], "ab ab") == 5
    assert pieces([*three, letters], "ab ab") == pieces(three, "ab ab") == 2
    assert "Split on" in why(config(word_level(), [], [*three, stage("WhitespaceSplit")]))
