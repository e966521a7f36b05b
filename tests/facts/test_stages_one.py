"""Theorem 50 for tokenizers 1.x: rows of stages as files have them, drawn and real. The engine is
asked whether the ids of both halves are those of the whole; skipped beside another release.
"""

from __future__ import annotations

import base64
import random
import re
import tempfile
from collections.abc import Sequence
from itertools import chain, pairwise, product
from pathlib import Path
from typing import Any

import pytest

import tokpar
from tests.conftest import drawn
from tests.recipes.known import DEEPSEEK_RAW_NEWLINES
from tests.support.charsmaps import NMT_LIKE, charsmap
from tests.support.file_formats import written
from tokpar.adapters import hf_version
from tokpar.certificate.checker import seam_findings
from tokpar.cuts.finder import finder_for
from tokpar.errors import FileFormatError
from tokpar.facts.space_stages import SURE, _edge
from tokpar.files.vocabulary import byte_alphabet
from tokpar.patterns.shipped_patterns import CL100K, GPT2

RELEASE = hf_version.installed_release()
if RELEASE < (1,):
    pytest.skip("needs tokenizers 1.x", allow_module_level=True)

from tokpar.adapters.hf_v1 import HuggingFaceOneTokenizer  # noqa: E402
from tokpar.adapters.hf_version import load  # noqa: E402

pytestmark = [pytest.mark.ids, pytest.mark.compiled_at_once]

BEHAVIORS = ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")
CHARACTERS = (
    *("a", "a", "b", "b", " ", " ", " ", "▁", ".", "1", "\n", "\t", "A", "中", "ф", "_", "`", "'"),
    *("\u0301", "\u200b", "\u3000", "é", "\u0600", "ﬁ", "¨", "\u00ad", "😀", "가", "\u200d", "ا"),
    *("\r\n", "\u093f", "က", "\x07", "<s>", "ab a ", "a" * 61),
)
"""Among them what composes, extends, precedes, vanishes, and becomes a space; and what brings the
rest to the edge of the 64 bytes that 1.x looks at together."""
SPACES = ("a", "b", " ", " ", " ")
Json = dict[str, Any]


def stage(kind: str, **settings: Any) -> Json:
    return {"type": kind, **settings}


def split(
    pattern: str, behavior: str = "Isolated", invert: bool = False, kind: str = "String"
) -> Json:
    return stage("Split", pattern={kind: pattern}, behavior=behavior, invert=invert)


def metaspace(scheme: str = "always", split: bool = True, mark: str = "▁") -> Json:
    return stage("Metaspace", replacement=mark, prepend_scheme=scheme, split=split)


def byte_level(use_regex: bool = True) -> Json:
    return stage("ByteLevel", add_prefix_space=False, trim_offsets=True, use_regex=use_regex)


def replace(pattern: str, content: str, kind: str = "String") -> Json:
    return stage("Replace", pattern={kind: pattern}, content=content)


def precompiled(table: bytes) -> Json:
    return stage("Precompiled", precompiled_charsmap=base64.b64encode(table).decode())


MARKS, TABLE = replace(" ", "▁"), precompiled(NMT_LIKE)
RUNS, RIGHT = replace(" {2,}", "▁", "Regex"), stage("Strip", strip_left=False, strip_right=True)


def normalizer(rng: random.Random) -> Json:
    kind = rng.choice(
        [
            *("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt", "Strip", "Runs"),
            *("Replace", "Replace", "BertNormalizer", "Precompiled", "Precompiled", "Marks"),
            "Prepend",
        ]
    )
    if kind == "Strip":
        return stage("Strip", strip_left=rng.random() < 0.2, strip_right=rng.random() < 0.8)
    if kind == "Replace":
        pattern = rng.choice(("a", "ab", "``", "b ", "a b", " a", "▁", "中", "."))
        return replace(pattern, rng.choice(("", "b", " ", "\u0301", "▁", "\u0600")))
    if kind == "Runs":
        return replace(" {2,}", rng.choice((" ", "▁", "", "x")), "Regex")
    if kind == "BertNormalizer":
        names = ("clean_text", "handle_chinese_chars", "lowercase")
        accents = rng.choice((None, True))
        return stage(kind, strip_accents=accents, **{n: rng.random() < 0.5 for n in names})
    if kind == "Prepend":
        return stage(kind, prepend="▁")
    return {"Precompiled": TABLE, "Marks": MARKS}.get(kind) or stage(kind)


def pre_tokenizer(rng: random.Random) -> Json:
    kind = rng.choice(
        [
            *("WhitespaceSplit", "Whitespace", "BertPreTokenizer", "Punctuation", "Digits"),
            *("Delimiter", "Split", "Split", "Split", "Regex", "UnicodeScripts", "FixedLength"),
        ]
    )
    behavior = rng.choice(BEHAVIORS)
    if kind == "Punctuation":
        return stage(kind, behavior=behavior)
    if kind == "Digits":
        return stage(kind, individual_digits=rng.random() < 0.5)
    if kind == "Delimiter":
        return stage("CharDelimiterSplit", delimiter=rng.choice(" a▁"))
    if kind == "Split":
        pattern = rng.choice((" ", " ", "▁", "a", "ab", "aa", " a", "b "))
        return split(pattern, behavior, rng.random() < 0.4)
    if kind == "Regex":
        return split(rng.choice((GPT2, CL100K)), kind="Regex")
    return stage(kind, length=3) if kind == "FixedLength" else stage(kind)


def row(rng: random.Random) -> list[Json]:
    """As 1.x reads them: a Metaspace alone or behind WhitespaceSplit, ByteLevel at the end."""
    scheme, mark = rng.choice(("always", "first", "never")), rng.choice("▁▁_")
    shape = rng.random()
    if shape < 0.2:
        return [metaspace(scheme, rng.random() < 0.6, mark)]
    if shape < 0.35:
        return [stage("WhitespaceSplit"), metaspace("always", True, mark)]
    found = [pre_tokenizer(rng) for _ in range(rng.randint(0, 3))]
    return [*found, byte_level(rng.random() < 0.6)] if shape < 0.5 else found


def bpe(rng: random.Random) -> Json:
    tokens, merges = ["▁", *"abcx.1中 Ġ_Aéф"], []
    for _ in range(rng.randint(0, 14)):
        pair = [rng.choice(tokens), rng.choice(tokens)]
        if pair not in merges:
            merges.append(pair)
        if "".join(pair) not in tokens:
            tokens.append("".join(pair))
    fallback = rng.random() < 0.3
    return byte_bpe(merges, tokens, fallback, rng.choice(("<unk>", "<unk>", None)))


def byte_bpe(
    merges: list[list[str]], tokens: list[str], fallback: bool = True, unknown: str | None = "<unk>"
) -> Json:
    """A BPE over characters; of bytes for the letters of byte level, where a row ends so."""
    known = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256) if fallback), *tokens]
    known += [*map("".join, merges), *"ab>", *(part for pair in merges for part in pair)]
    vocab = {token: i for i, token in enumerate(dict.fromkeys(known))}
    settings = {"unk_token": unknown, "fuse_unk": True, "byte_fallback": fallback}
    return stage("BPE", vocab=vocab, merges=merges, **settings)


WORDS = ("a", "b", "ab", "ba", "▁a", "▁", "##a", "##b", "▁ab", " a", " ", "aa", "1", ".", "a b")


def unigram() -> Json:
    pieces = ("▁", *"abc. 1", "ab", "▁a", "a▁", "▁▁", "b▁a", " a", "a b")
    scored = [["<unk>", 0.0], *([piece, -1.0 - i / 7] for i, piece in enumerate(pieces))]
    return stage("Unigram", vocab=scored, unk_id=0, byte_fallback=False)


def word_level() -> Json:
    vocab = {word: i for i, word in enumerate(("[UNK]", *WORDS, "a▁", "a▁b", "é", "e", "x", "_a"))}
    return stage("WordLevel", vocab=vocab, unk_token="[UNK]")


def model(rng: random.Random) -> Json:
    kind = rng.choice(("BPE", "BPE", "WordPiece", "WordLevel", "Unigram"))
    if kind == "BPE":
        return bpe(rng)
    if kind == "WordPiece":
        vocab = {word: i for i, word in enumerate(("[UNK]", *WORDS))}
        most = rng.choice((3, 100))
        prefix = {"continuing_subword_prefix": "##", "max_input_chars_per_word": most}
        return stage(kind, vocab=vocab, unk_token="[UNK]", **prefix)
    return word_level() if kind == "WordLevel" else unigram()


def sequence(stages: Sequence[Json], members: str) -> Json | None:
    return stage("Sequence", **{members: list(stages)}) if stages else None


def shaped(
    own: Json, before: Sequence[Json] = (), after: Sequence[Json] = (), added: Sequence[Json] = ()
) -> Json:
    """The file of these parts."""
    one = after[0] if len(after) == 1 else sequence(after, "pretokenizers")
    if after and after[-1]["type"] == "ByteLevel":
        own = byte_bpe(
            [["Ġ", "a"], ["a", "b"]], list(byte_alphabet()), fallback=False, unknown=None
        )
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{**each, "id": len(own["vocab"]) + i} for i, each in enumerate(added)],
        "normalizer": sequence(before, "normalizers"),
        "pre_tokenizer": one,
        "post_processor": None,
        "decoder": None,
        "model": own,
    }


def loaded(config: Json) -> HuggingFaceOneTokenizer:
    with tempfile.TemporaryDirectory() as directory:
        found = load(written(Path(directory), config))
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


def drawn_config(rng: random.Random) -> Json:
    before = [normalizer(rng) for _ in range(rng.choice((0, 0, 1, 1, 2, 3)))]
    after = row(rng)
    if rng.random() < 0.2:
        before, after = [MARKS], after[:1]
    contents = rng.sample(
        ("<s>", "a", "b ", "ab", " b", "▁a", ". a", "  ", " "), rng.choice((0, 0, 1, 2))
    )
    flags = dict.fromkeys(("lstrip", "rstrip", "single_word", "special"), False)
    added = [{"content": c, "normalized": rng.random() < 0.3, **flags} for c in contents]
    return shaped(model(rng), before, after, added)


def drawn_text(rng: random.Random) -> str:
    pools = (CHARACTERS, CHARACTERS, SPACES)
    return "".join(rng.choice(rng.choice(pools)) for _ in range(rng.randint(2, 14)))


@pytest.mark.parametrize("seed", range(8))
def test_drawn_rows_of_stages_are_cut_where_the_engine_agrees(seed: int) -> None:
    rng, tried = random.Random(seed), 0
    for _ in range(drawn(120)):
        try:
            adapter = loaded(drawn_config(rng))
        except FileFormatError:  # rows that 1.x has no form for
            continue
        if adapter.facts.unprovable is None:
            tried += sum(require_exact(adapter, drawn_text(rng)) for _ in range(12))
    assert tried > 20


# --------------------------------------------------------------------- the shapes that files have

SHAPES = {
    "gemma": shaped(byte_bpe([[">", "▁"], ["▁", "a"], ["▁", "▁"], ["a", "b"]], ["▁"]), [MARKS]),
    "gemma, Split": shaped(
        byte_bpe([["▁", "a"]], ["▁"]), [MARKS], [split(" ", "MergedWithPrevious")]
    ),
    "llama, Metaspace": shaped(byte_bpe([["▁", "a"]], ["▁"]), [], [metaspace("first", False)]),
    "t5": shaped(unigram(), [TABLE], [stage("WhitespaceSplit"), metaspace()]),
    "t5, runs": shaped(unigram(), [TABLE, RIGHT, RUNS], [metaspace()]),
    "albert": shaped(
        unigram(),
        [
            replace("``", '"'),
            *map(stage, ("NFKD", "StripAccents", "Lowercase")),
            precompiled(charsmap({"ﬁ": "fi", "\u3000": " "})),
        ],
        [stage("WhitespaceSplit"), metaspace()],
    ),
    "starcoder": shaped(word_level(), [], [stage("Digits", individual_digits=True), byte_level()]),
    "bert without normalizer": shaped(word_level(), [], [stage("BertPreTokenizer")]),
    "whitespace, NFKC": shaped(word_level(), [stage("NFKC")], [stage("Whitespace")]),
}
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
        adapter = loaded(shaped(own, [precompiled(charsmap(dict.fromkeys(keys, "\ue000")))], row))
        for c in some:
            assert 1 not in ids(adapter, f"a {c} {c}a{c} a"), ascii(c)
    joined = loaded(shaped(own, [precompiled(charsmap({"\u0600 ": "\ue000"}))], row))
    assert 1 in ids(joined, "a\u0600 b")


@pytest.mark.parametrize("behavior", BEHAVIORS)
@pytest.mark.parametrize("invert", [False, True])
def test_a_split_on_a_character_cuts_cleanly_or_not_at_all(behavior: str, invert: bool) -> None:
    """Everywhere in every text; each piece is a word that the model knows."""
    texts = ["".join(text) for size in range(1, 7) for text in product("ab", repeat=size)]
    vocab = {text: i for i, text in enumerate(texts)}
    own = stage("WordLevel", vocab=vocab, unk_token="a")
    adapter = loaded(shaped(own, [], [split("a", behavior, invert)]))
    found = {text: [texts[id_] for id_ in ids(adapter, text)] for text in texts}
    for text in texts:
        for p in range(1, len(text)):
            left, right = found[text[:p]], found[text[p:]]
            joined = [*left[:-1], "".join((*left[-1:], *right[:1])), *right[1:]]
            cut = _edge(behavior, invert, text[p - 1] == "a", text[p] == "a")
            assert found[text] == (left + right if cut else joined), (text, p)


# --------------------------------------------------------------- what is not certain with 1.x

PLAIN = dict.fromkeys(("lstrip", "rstrip", "single_word", "special"), False)


def why(config: Json) -> str:
    return str(loaded(config).facts.unprovable)


def test_a_token_that_is_searched_behind_metaspace_is_refused() -> None:
    own, row = word_level(), [stage("WhitespaceSplit"), metaspace()]
    for normalized in (True, False):
        added = {"content": "<s>", "normalized": normalized, **PLAIN}
        config = shaped(own, [], row, [added])
        assert (loaded(config).facts.unprovable is not None) == normalized


def pieces(row: list[Json], text: str) -> int:
    """How many a row makes: each is one unknown word."""
    own = stage("WordLevel", vocab={"[UNK]": 0}, unk_token="[UNK]")
    return len(ids(loaded(shaped(own, [], row)), text))


def test_tokenizers_1_runs_no_regex_but_those_of_its_list() -> None:
    for pattern in (r"\s+", r"\p{L}+", r"\w+|\W", "a|b", r"[^\s]+|\s+"):
        for behavior in BEHAVIORS:
            row = [split(pattern, behavior, kind="Regex"), stage("WhitespaceSplit")]
            assert "Split on" in why(shaped(word_level(), [], row))
            with pytest.raises(ValueError, match="system-regex"):
                pieces(row, "a b")
    assert loaded(shaped(word_level(), [], [split(GPT2, kind="Regex")])).facts.unprovable is None


def test_what_a_regex_says_is_not_what_it_runs() -> None:
    """cl100k with another bound of its digits is scanned as cl100k: so no windows are decided."""
    for digits, expected in (("", 7), ("{1,3}", 3), ("{1,2}", 3), ("+", 3)):
        row = [split(CL100K.replace("{1,3}", digits), kind="Regex")]
        assert pieces(row, "1234567") == expected
        assert ("Split on" in why(shaped(word_level(), [], row))) == (digits in ("{1,2}", "+"))


def test_behind_the_three_regexes_of_deepseek_it_runs_nothing() -> None:
    three = [split(pattern, kind="Regex") for pattern in DEEPSEEK_RAW_NEWLINES]
    letters = stage("FixedLength", length=1)
    assert pieces([letters], "ab ab") == 5
    assert pieces([*three, letters], "ab ab") == pieces(three, "ab ab") == 2
    assert "Split on" in why(shaped(word_level(), [], [*three, stage("WhitespaceSplit")]))
