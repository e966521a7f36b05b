"""Files of tokenizers with any rows of Hugging Face's stages, drawn and as published files have
them. Both lines of releases read them."""

from __future__ import annotations

import base64
import random
from collections.abc import Sequence
from typing import Any

from tokpar_conformance.worlds.charsmaps import NMT_LIKE, charsmap

from tokpar.adapters.hf_version import installed_release
from tokpar.formats.vocabulary import byte_alphabet
from tokpar.patterns.shipped_patterns import CL100K, GPT2

Json = dict[str, Any]
CLIP = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
BEHAVIORS = ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")
CHARACTERS = (
    *("a", "a", "b", "b", " ", " ", " ", "▁", ".", "1", "\n", "\t", "A", "中", "ф", "_", "`", "'"),
    *("\u0301", "\u200b", "\u3000", "é", "\u0600", "ﬁ", "¨", "\u00ad", "😀", "가", "\u200d", "ا"),
    *("\r\n", "\u093f", "က", "\x07", "<s>"),
)
"""Among them what composes, extends, precedes, vanishes, and becomes a space."""
SPACES = ("a", "b", " ", " ", " ")
CONTENTS = ("<s>", "a", "b ", "ab", " b", "▁a", ". a", "  ", " ")
"""Of added tokens."""


def stage(kind: str, **settings: Any) -> Json:
    return {"type": kind, **settings}


def split(
    pattern: str, behavior: str = "Isolated", invert: bool = False, kind: str = "String"
) -> Json:
    return stage("Split", pattern={kind: pattern}, behavior=behavior, invert=invert)


def metaspace(scheme: str = "always", split: bool = True, mark: str = "▁") -> Json:
    return stage("Metaspace", replacement=mark, prepend_scheme=scheme, split=split)


def byte_level(use_regex: bool = True, add_prefix_space: bool = False) -> Json:
    flags = {"add_prefix_space": add_prefix_space, "use_regex": use_regex}
    return stage("ByteLevel", trim_offsets=True, **flags)


def replace(pattern: str, content: str, kind: str = "String") -> Json:
    return stage("Replace", pattern={kind: pattern}, content=content)


def precompiled(table: bytes) -> Json:
    return stage("Precompiled", precompiled_charsmap=base64.b64encode(table).decode())


CLASSES = (
    r"\s",
    r"\s",
    " ",
    r"\d",
    r"[\r\n]",
    r"\p{P}",
    "[ab ]",
    r"[^\S\n]",
    r"\S",
    r"\n",
    "[0-9]",
)
REPEATS = ("", "+", "+", "{2,}", "{2}", "{1,3}", "+?", "++")
SOLID = (CLIP, "[\r\n]", r"\p{L}+|\p{N}", r"[^\s\p{L}]+|ab", r"\s?\p{L}+", "a(?= )|b", "ab|a$")
"""Patterns of which most take no space."""
MARKS, TABLE = replace(" ", "▁"), precompiled(NMT_LIKE)
RUNS, RIGHT = replace(" {2,}", "▁", "Regex"), stage("Strip", strip_left=False, strip_right=True)


# ------------------------------------------------------------------------------ what is drawn


def normalizer(rng: random.Random) -> Json:
    kind = rng.choice(
        [
            *("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt", "Strip", "Runs"),
            *("Replace", "Replace", "BertNormalizer", "Precompiled", "Precompiled", "Marks"),
            *("Marks", "Prepend", "Class", "Class"),
        ]
    )
    if kind == "Strip":
        return stage("Strip", strip_left=rng.random() < 0.2, strip_right=rng.random() < 0.8)
    if kind == "Replace":
        pattern = rng.choice(("a", "ab", "``", "b ", "a b", " a", "▁", "中", "."))
        return replace(pattern, rng.choice(("", "b", " ", "\u0301", "▁", "\u0600")))
    if kind == "Runs":
        return replace(" {2,}", rng.choice((" ", "▁", "", "x")), "Regex")
    if kind == "Class":
        content = rng.choice((" ", " ", "▁", "", "x", "a ", " \u0301", "\n"))
        return replace(rng.choice(CLASSES) + rng.choice(REPEATS), content, "Regex")
    if kind == "BertNormalizer":
        names = ("clean_text", "handle_chinese_chars", "lowercase")
        accents = rng.choice((None, True))
        return stage(kind, strip_accents=accents, **{n: rng.random() < 0.5 for n in names})
    if kind == "Prepend":
        return stage(kind, prepend="▁")
    return {"Precompiled": TABLE, "Marks": MARKS}.get(kind) or stage(kind)


def pre_tokenizer(rng: random.Random, of_one: bool) -> Json:
    """Any pre-tokenizer; of those that 1.x reads at any place of a row."""
    kinds = [
        *("WhitespaceSplit", "Whitespace", "BertPreTokenizer", "Punctuation", "Digits"),
        *("CharDelimiterSplit", "Split", "Split", "Regex", "Regex", "UnicodeScripts"),
        *(["FixedLength"] if installed_release() >= (0, 22) else []),
        *([] if of_one else ["Metaspace", "Metaspace", "Whole", "ByteLevel", "ByteLevel"]),
    ]
    kind, behavior = rng.choice(kinds), rng.choice(BEHAVIORS)
    if kind in ("Metaspace", "Whole"):
        mark = "▁" if kind == "Whole" else rng.choice("▁▁_")
        return metaspace(rng.choice(("always", "first", "never")), kind == "Metaspace", mark)
    if kind == "Punctuation":
        return stage(kind, behavior=behavior)
    if kind == "Digits":
        return stage(kind, individual_digits=rng.random() < 0.5)
    if kind == "CharDelimiterSplit":
        return stage(kind, delimiter=rng.choice(" a▁"))
    if kind == "Split":
        pattern = rng.choice((" ", " ", "▁", "a", "ab", "aa", " a", "b "))
        return split(pattern, behavior, rng.random() < 0.4)
    if kind == "Regex" and of_one:
        return split(rng.choice((GPT2, CL100K)), kind="Regex")
    if kind == "Regex":
        one = (r"\s", r"\S", r"\d", r"\p{L}", r"\p{P}", "[0-9]", " ")
        patterns = (*one, *(each + "+" for each in one), GPT2, *SOLID)
        return split(rng.choice(patterns), behavior, rng.random() < 0.3, "Regex")
    if kind == "ByteLevel":
        return byte_level(rng.random() < 0.6, rng.random() < 0.5)
    return stage(kind, length=3) if kind == "FixedLength" else stage(kind)


def row_of_one(rng: random.Random) -> list[Json]:
    """As 1.x reads them: a Metaspace alone or after WhitespaceSplit, ByteLevel at the end."""
    scheme, mark = rng.choice(("always", "first", "never")), rng.choice("▁▁_")
    shape = rng.random()
    if shape < 0.2:
        return [metaspace(scheme, rng.random() < 0.6, mark)]
    if shape < 0.35:
        return [stage("WhitespaceSplit"), metaspace("always", True, mark)]
    found = [pre_tokenizer(rng, True) for _ in range(rng.randint(0, 3))]
    return [*found, byte_level(rng.random() < 0.6)] if shape < 0.5 else found


def bpe(rng: random.Random) -> Json:
    tokens, merges = ["▁", *"abcx.1中Ġ_Aéф", *rng.choice((" ", " ", ""))], []
    for _ in range(rng.randint(0, 14)):
        pair = [rng.choice(tokens), rng.choice(tokens)]
        if pair not in merges:
            merges.append(pair)
        if "".join(pair) not in tokens:
            tokens.append("".join(pair))
    settings = {"byte_fallback": rng.random() < 0.3, "unk_token": rng.choice(("<unk>", None))}
    flags = {"fuse_unk": rng.random() < 0.5, "ignore_merges": rng.random() < 0.2}
    return byte_bpe(merges, tokens, **settings, **flags)


WORDS = ("a", "b", "ab", "ba", "▁a", "▁", "##a", "##b", "▁ab", " a", " ", "aa", "1", ".", "a b")


def model(rng: random.Random) -> Json:
    kind = rng.choice(("BPE", "BPE", "WordPiece", "WordLevel", "Unigram"))
    vocab = {word: i for i, word in enumerate(("[UNK]", *WORDS))}
    if kind == "BPE":
        return bpe(rng)
    if kind == "WordPiece":
        most = rng.choice((3, 100))
        prefix = {"continuing_subword_prefix": "##", "max_input_chars_per_word": most}
        return stage(kind, vocab=vocab, unk_token="[UNK]", **prefix)
    return stage(kind, vocab=vocab, unk_token="[UNK]") if kind == "WordLevel" else unigram(rng)


def drawn_config(rng: random.Random, of_one: bool = False) -> Json:
    """Any row of stages around any model. `of_one`: a row that 1.x reads, with added tokens."""
    shape = rng.random()
    marks = shape < 0.2
    before = (
        [MARKS]
        if marks
        else []
        if shape < 0.35
        else [normalizer(rng) for _ in range(rng.choice((0, 0, 1, 1, 2, 3)))]
    )
    if not of_one:
        count = rng.choice((0, 1)) if shape < 0.35 else rng.randint(1, 3)
        return config(model(rng), before, [pre_tokenizer(rng, False) for _ in range(count)])
    row = row_of_one(rng)[: 1 if marks else None]
    flags = dict.fromkeys(("lstrip", "rstrip", "single_word", "special"), False)
    contents = rng.sample(CONTENTS, rng.choice((0, 0, 1, 2)))
    added = [{"content": c, "normalized": rng.random() < 0.3, **flags} for c in contents]
    own = model(rng)
    if row and row[-1]["type"] == "ByteLevel":
        own = byte_bpe([["Ġ", "a"], ["a", "b"]], [*byte_alphabet()], unk_token=None)
    return config(own, before, row, added)


# ----------------------------------------------------------------------------- parts of a file


def byte_bpe(merges: Sequence[Sequence[str]], tokens: Sequence[str] = "▁", **settings: Any) -> Json:
    """A BPE over characters, which falls back to bytes where `byte_fallback` says so."""
    given = {"unk_token": "<unk>", "fuse_unk": True, "byte_fallback": False, **settings}
    bytes_ = [f"<0x{byte:02X}>" for byte in range(256) if given["byte_fallback"]]
    known = ["<unk>", *bytes_, *tokens, *map("".join, merges), *"ab>"]
    known += [part for pair in merges for part in pair]
    vocab = {token: i for i, token in enumerate(dict.fromkeys(known))}
    return stage("BPE", vocab=vocab, merges=[list(pair) for pair in merges], **given)


def unigram(rng: random.Random | None = None) -> Json:
    pieces = ("▁", "▁▁", *"abc. 1", "ab", "▁a", "a▁", "b▁a", " a", "a b")
    scores = [-5 * rng.random() if rng else -1.0 - i / 7 for i in range(len(pieces))]
    scored = [["<unk>", 0.0], *([*each] for each in zip(pieces, scores, strict=True))]
    return stage("Unigram", vocab=scored, unk_id=0, byte_fallback=False)


def word_level() -> Json:
    words = ("[UNK]", *WORDS, "▁b", "▁▁", " b", "a ", "a▁", "a▁b", "é", "e", "x", "_a")
    return stage("WordLevel", vocab={word: i for i, word in enumerate(words)}, unk_token="[UNK]")


def config(
    own: Json, before: Sequence[Json] = (), row: Sequence[Json] = (), added: Sequence[Json] = ()
) -> Json:
    """The file of these parts."""
    one = row[0] if len(row) == 1 else sequence(row, "pretokenizers")
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


def sequence(stages: Sequence[Json], members: str) -> Json | None:
    return stage("Sequence", **{members: list(stages)}) if stages else None


FALLING = {"byte_fallback": True}
SHAPES = {
    "gemma": config(byte_bpe([[">", "▁"], ["▁", "a"], ["▁", "▁"], ["a", "b"]], **FALLING), [MARKS]),
    "gemma, Split": config(
        byte_bpe([["▁", "a"]], **FALLING), [MARKS], [split(" ", "MergedWithPrevious")]
    ),
    "llama, Metaspace": config(byte_bpe([["▁", "a"]], **FALLING), [], [metaspace("first", False)]),
    "t5": config(unigram(), [TABLE], [stage("WhitespaceSplit"), metaspace()]),
    "t5, runs": config(unigram(), [TABLE, RIGHT, RUNS], [metaspace()]),
    "molecules": config(
        byte_bpe([["a", "b"], ["1", ">"], ["b", " "]], "ab>1. `<é", fuse_unk=False), [], []
    ),
    "albert": config(
        unigram(),
        [
            replace("``", '"'),
            *map(stage, ("NFKD", "StripAccents", "Lowercase")),
            precompiled(charsmap({"ﬁ": "fi", "\u3000": " "})),
        ],
        [stage("WhitespaceSplit"), metaspace()],
    ),
    "starcoder": config(
        byte_bpe([["Ġ", "a"]], [*byte_alphabet()], unk_token=None),
        [],
        [stage("Digits", individual_digits=True), byte_level()],
    ),
    "bert without normalizer": config(word_level(), [], [stage("BertPreTokenizer")]),
    "whitespace, NFKC": config(word_level(), [stage("NFKC")], [stage("Whitespace")]),
}
"""Rows of stages that published files have."""
SHAPES_BELOW_ONE = {
    "falcon": config(
        byte_bpe([["Ġ", "a"]], **FALLING),
        [],
        [
            stage("Punctuation", behavior="Contiguous"),
            byte_level(),
            stage("Digits", individual_digits=False),
            split("[0-9][0-9][0-9]", kind="Regex"),
        ],
    ),
    "clip": config(
        byte_bpe([], end_of_word_suffix="</w>"),
        [stage("NFC"), replace("\t", " "), stage("Lowercase")],
        [split(r"\s+", "Removed", kind="Regex"), byte_level()],
    ),
    "clip, published": config(
        byte_bpe([], end_of_word_suffix="</w>"),
        [stage("NFC"), replace(r"\s+", " ", "Regex"), stage("Lowercase")],
        [split(CLIP, "Removed", True, "Regex"), byte_level()],
    ),
    "unigram, ByteLevel": config(unigram(), [], [byte_level(add_prefix_space=True)]),
}
"""Rows that 1.x does not read."""
