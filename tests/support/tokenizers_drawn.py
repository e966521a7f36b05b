"""Strategies that draw small real tokenizers of the `tokenizers` and `tiktoken` packages.

A strategy draws a spec, a small frozen record that hypothesis can show and shrink, and `build`
turns it into the tokenizer. Built tokenizers are cached and shared: change only a `plain_copy`.
"""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, singledispatch
from pathlib import Path
from typing import Any, NamedTuple

import tiktoken
from hypothesis import strategies as st
from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
)
from tokpar_conformance.worlds.stages import PATTERNS as PATTERNS

import tokpar
from tests.support.paths import DATA, VOCAB
from tests.support.texts import texts

TIKTOKEN_FAMILIES = tuple(name for name, patterns in PATTERNS.items() if len(patterns) == 1)

PIECES = (
    *("aaaaaaaaaaaaaaaa", "abababababababab", "abaababaabaab", "abcabcabc", "AAAA", "aA", "Ab"),
    *(" the", " ab", " a", "the", "theab", "hello", "Hello", " HELLO", "xyz", "unbelievable"),
    *("1111", "123456", " 12", "３３３", "१२३", "²³", "  ", "        ", "\n\n\n\n\n\n", " \n \n"),
    *("\t\t\t", "\r\n\r\n", "----", "====", "....", ".\n/", " (", '",', "'s", "'ll", "'VE"),
    *(
        "中中中中",
        "中文",
        "亚洲AVx",
        "ああ",
        "éé",
        "e\u0301",
        "\u0301\u0301",
        "😀😀",
        "가각",
        "яя",
        "ا ا",
    ),
)
"""What random merges are learnt from."""

CONTENTS = (
    *("a", "ab", "ba", "aa", "A", "the", "1", "11", " ", "  ", " a", "a ", "\n", "\n\n", ".", "-"),
    *(
        "é",
        "e\u0301",
        "\u0301",
        "中",
        "😀",
        "▁",
        "_",
        "'s",
        "<s>",
        "</s>",
        "<|end|>",
        "<|endoftext|>",
    ),
    *("[MASK]", "[UNK]", "É", "ﬁ", "\u3000", "a b", "\u200d", "٣"),
)
"""Contents of drawn added tokens: most of them collide with the texts."""


class Added(NamedTuple):
    """An added token, hashable."""

    content: str
    lstrip: bool = False
    rstrip: bool = False
    single_word: bool = False
    normalized: bool = False
    special: bool = True


class Padding(NamedTuple):
    """Stored padding; `length` None pads to the longest of the batch."""

    length: int | None
    direction: str
    multiple: int | None


@dataclass(frozen=True)
class Extras:
    """What every tokenizer may have around its model."""

    added: tuple[Added, ...] = ()
    template: tuple[bool, bool] = (False, False)
    truncation: tuple[int, str] | None = None
    padding: Padding | None = None
    encode_special: bool = False


@dataclass(frozen=True)
class ByteLevelSpec:
    """Byte-level BPE. `missing`: how many bytes have no token. `wild`: merges nobody trained."""

    family: str
    seed: int = 0
    merges: int = 0
    wild: bool = False
    missing: int = 0
    ignore_merges: bool = False
    normalizers: tuple[str, ...] = ()
    prefix_space: bool = False
    extras: Extras = Extras()


@dataclass(frozen=True)
class WordPieceSpec:
    """BERT."""

    seed: int = 0
    words: int = 0
    clean_text: bool = True
    chinese: bool = True
    strip_accents: bool | None = None
    lowercase: bool = True
    max_characters: int = 100
    reserved: bool = True
    extras: Extras = Extras()


@dataclass(frozen=True)
class MetaspaceSpec:
    """Metaspace and then Unigram or BPE over characters."""

    model: str
    seed: int = 0
    merges: int = 0
    scheme: str = "always"
    split: bool = True
    wild: bool = False
    fuse_unk: bool = False
    extras: Extras = Extras()


@dataclass(frozen=True)
class LlamaSpec:
    """Llama 2: dummy prefix, no pre-tokenizer, byte fallback over the first `byte_tokens`."""

    seed: int = 0
    merges: int = 0
    wild: bool = False
    byte_tokens: int = 256
    extras: Extras = Extras()


@dataclass(frozen=True)
class OtherSpec:
    """BPE over characters behind one of the other pre-tokenizers."""

    pre_tokenizer: str
    seed: int = 0
    merges: int = 0
    normalizers: tuple[str, ...] = ()
    extras: Extras = Extras()


@dataclass(frozen=True)
class TiktokenSpec:
    """A tiktoken encoding with drawn ranks."""

    family: str
    seed: int = 0
    merges: int = 0
    wild: bool = False
    special: tuple[str, ...] = ()


HFSpec = ByteLevelSpec | WordPieceSpec | MetaspaceSpec | LlamaSpec | OtherSpec

NORMALIZERS: dict[str, Callable[[], Any]] = {
    "NFC": normalizers.NFC,
    "NFKC": normalizers.NFKC,
    "NFD": normalizers.NFD,
    "NFKD": normalizers.NFKD,
    "Lowercase": normalizers.Lowercase,
    "StripAccents": normalizers.StripAccents,
    "Strip": normalizers.Strip,
    "Strip left": lambda: normalizers.Strip(left=True, right=False),
    "Replace ab by c": lambda: normalizers.Replace("ab", "c"),
    "Replace aa by b": lambda: normalizers.Replace("aa", "b"),
    "Replace spaces": lambda: normalizers.Replace(Regex(" {2,}"), " "),
    "Replace space by mark": lambda: normalizers.Replace(" ", "▁"),
    "Prepend": lambda: normalizers.Prepend("▁"),
}

FIXED_LENGTH = hasattr(pre_tokenizers, "FixedLength")
"""tokenizers 0.21 does not have it."""
PRE_TOKENIZERS: dict[str, Callable[[], Any]] = {
    "none": lambda: None,
    "Whitespace": pre_tokenizers.Whitespace,
    "WhitespaceSplit": pre_tokenizers.WhitespaceSplit,
    "BertPreTokenizer": pre_tokenizers.BertPreTokenizer,
    "Punctuation": pre_tokenizers.Punctuation,
    "Digits": pre_tokenizers.Digits,
    "Digits individual": lambda: pre_tokenizers.Digits(individual_digits=True),
    "CharDelimiterSplit": lambda: pre_tokenizers.CharDelimiterSplit("-"),
    **({"FixedLength": lambda: pre_tokenizers.FixedLength(5)} if FIXED_LENGTH else {}),
    "UnicodeScripts": pre_tokenizers.UnicodeScripts,
    "Split merged": lambda: pre_tokenizers.Split(" ", "merged_with_next"),
    "Split behind": lambda: pre_tokenizers.Split(Regex(r"(?<=a)b|\s+"), "isolated"),
    "Split anchored": lambda: pre_tokenizers.Split(Regex(r"^\w+|\w+$|."), "isolated"),
}


# ------------------------------------------------------------------------------- building


@cache
def byte_characters() -> tuple[str, ...]:
    """The character that stands for each byte in byte-level vocabularies: 32 -> "Ġ"."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    moved = [byte for byte in range(256) if byte not in plain]
    table = {byte: chr(byte) for byte in plain}
    table |= {byte: chr(256 + n) for n, byte in enumerate(moved)}
    return tuple(table[byte] for byte in range(256))


def byte_text(text: str) -> str:
    """The text's UTF-8 bytes, each as its character: " é" -> "ĠÃ©"."""
    return "".join(byte_characters()[byte] for byte in text.encode())


def merged_word(word: list[str], left: str, right: str) -> list[str]:
    """The word with every `left`, `right` joined, leftmost first."""
    out: list[str] = []
    i = 0
    while i < len(word):
        both = word[i : i + 2] == [left, right]
        out.append(left + right if both else word[i])
        i += 1 + both
    return out


def crossing(
    rng: random.Random, tokens: Sequence[str], merges: Sequence[tuple[str, str]]
) -> tuple[str, str]:
    """Two tokens between which an earlier merge may take the characters away."""
    if not merges:
        return rng.choice(tokens), rng.choice(tokens)
    left, right = rng.choice(merges)
    before = [token for token in tokens if token.endswith(left)]
    after = [token for token in tokens if token.startswith(right)]
    return rng.choice(before), rng.choice(after)


def random_merges(
    pieces: Sequence[str], seed: int, count: int, wild: bool
) -> list[tuple[str, str]]:
    """Up to `count` different merges of pairs that meet in the pieces, in random order.

    The first merges do not depend on `count`. A wild one takes two tokens that need not meet, so
    that some tokens cannot be reached by merging, or in two ways.
    """
    rng = random.Random(seed)
    words = [list(piece) for piece in pieces]
    tokens = sorted({atom for word in words for atom in word})
    merges: dict[tuple[str, str], None] = {}
    for _ in range(count):
        long = [word for word in words if len(word) > 1]
        if not long:
            break
        if wild and rng.random() < 0.3:
            pair = crossing(rng, tokens, list(merges))
        else:
            word = rng.choice(long)
            at = rng.randrange(len(word) - 1)
            pair = (word[at], word[at + 1])
        if pair in merges or len("".join(pair)) > 24:
            continue
        merges[pair] = None
        tokens.append("".join(pair))
        left, right = pair
        words = [
            merged_word(word, left, right) if left in word and right in word else word
            for word in words
        ]
    return list(merges)


def numbered(tokens: Iterator[str] | Sequence[str]) -> dict[str, int]:
    """Ids in order of first appearance."""
    return {token: id_ for id_, token in enumerate(dict.fromkeys(tokens))}


def merged_tokens(merges: Sequence[tuple[str, str]]) -> list[str]:
    return [left + right for left, right in merges]


def vanishes(token: Added | AddedToken, tokenizer: Tokenizer) -> bool:
    """The normalizer leaves nothing of a token that is searched in the normalized text.

    tokenizers 0.23 then finds it everywhere; with rstrip its own call never ends and takes all
    memory, so there is nothing to be equal to.
    """
    normalized = token.normalized and tokenizer.normalizer is not None
    return normalized and not tokenizer.normalizer.normalize_str(token.content)


def may_never_end(token: Added | AddedToken, tokenizer: Tokenizer) -> bool:
    """A token that vanishes and strips: the engine's own call may take all memory."""
    return (token.lstrip or token.rstrip) and vanishes(token, tokenizer)


def add_extras(tokenizer: Tokenizer, extras: Extras) -> Tokenizer:
    """The tokenizer with added tokens, template, truncation and padding."""
    tokenizer.add_tokens(
        [AddedToken(**each._asdict()) for each in extras.added if not vanishes(each, tokenizer)]
    )
    front, back = extras.template
    if front or back:
        tokenizer.add_special_tokens(["<s>", "</s>"])
        tokenizer.post_processor = processors.TemplateProcessing(
            single=f"{'<s> ' * front}$A{' </s>' * back}",
            special_tokens=[(token, tokenizer.token_to_id(token)) for token in ("<s>", "</s>")],
        )
    if extras.truncation:
        length, direction = extras.truncation
        tokenizer.enable_truncation(length, direction=direction)
    if extras.padding:
        tokenizer.enable_padding(
            length=extras.padding.length,
            direction=extras.padding.direction,
            pad_to_multiple_of=extras.padding.multiple,
        )
    tokenizer.encode_special_tokens = extras.encode_special
    return tokenizer


def normalizer(names: Sequence[str]) -> Any:
    """None, one normalizer, or a sequence."""
    stages = [NORMALIZERS[name]() for name in names]
    return normalizers.Sequence(stages) if len(stages) > 1 else next(iter(stages), None)


def splits(family: str, prefix_space: bool) -> Any:
    """The byte-level pre-tokenizer of a family, as its tokenizer.json has it."""
    if family == "gpt2":
        return pre_tokenizers.ByteLevel(add_prefix_space=prefix_space, use_regex=True)
    stages = [pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in PATTERNS[family]]
    last = pre_tokenizers.ByteLevel(add_prefix_space=prefix_space, use_regex=False)
    return pre_tokenizers.Sequence([*stages, last])


@singledispatch
def made(spec: object) -> Any:
    raise TypeError(f"no spec of a tokenizer: {spec!r}")


@made.register
def _(spec: ByteLevelSpec) -> Tokenizer:
    merges = random_merges(
        [byte_text(piece) for piece in PIECES], spec.seed, spec.merges, spec.wild
    )
    gone = set(random.Random(spec.seed).sample(byte_characters(), spec.missing))
    merges = [pair for pair in merges if gone.isdisjoint("".join(pair))]
    atoms = [atom for atom in byte_characters() if atom not in gone]
    vocab = numbered([*atoms, *merged_tokens(merges)])
    model = models.BPE(vocab=vocab, merges=merges, ignore_merges=spec.ignore_merges)
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizer(spec.normalizers)
    tokenizer.pre_tokenizer = splits(spec.family, spec.prefix_space)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    return add_extras(tokenizer, spec.extras)


@made.register
def _(spec: WordPieceSpec) -> Tokenizer:
    rng = random.Random(spec.seed)
    source = [piece.strip() for piece in PIECES if piece.strip()]
    reserved = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokens = [*reserved, *"abehlotuvx", *(f"##{atom}" for atom in "abehlotuv1")]
    for _ in range(spec.words):
        word = rng.choice(source)
        start = rng.randrange(len(word))
        part = word[start : start + rng.randint(1, 6)]
        part = part.lower() if spec.lowercase else part
        tokens.append(part if start == 0 or rng.random() < 0.3 else f"##{part}")
    model = models.WordPiece(
        vocab=numbered(tokens), unk_token="[UNK]", max_input_chars_per_word=spec.max_characters
    )
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.BertNormalizer(
        clean_text=spec.clean_text,
        handle_chinese_chars=spec.chinese,
        strip_accents=spec.strip_accents,
        lowercase=spec.lowercase,
    )
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    if spec.reserved:
        tokenizer.add_special_tokens(reserved)
    return add_extras(tokenizer, spec.extras)


def marked(text: str) -> str:
    return text.replace(" ", "▁")


@made.register
def _(spec: MetaspaceSpec) -> Tokenizer:
    pieces = [marked(piece) for piece in PIECES]
    merges = random_merges(pieces, spec.seed, spec.merges, spec.wild)
    tokens = ["<unk>", *sorted(set("".join(pieces))), *merged_tokens(merges)]
    if spec.model == "Unigram":
        rng = random.Random(spec.seed)
        scores = [(token, -rng.uniform(1, 12)) for token in dict.fromkeys(tokens[1:])]
        model: models.Model = models.Unigram(vocab=[("<unk>", 0.0), *scores], unk_id=0)
    else:
        model = models.BPE(
            vocab=numbered(tokens), merges=merges, unk_token="<unk>", fuse_unk=spec.fuse_unk
        )
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=spec.scheme, split=spec.split)
    tokenizer.decoder = decoders.Metaspace(prepend_scheme=spec.scheme, split=spec.split)
    return add_extras(tokenizer, spec.extras)


@made.register
def _(spec: LlamaSpec) -> Tokenizer:
    pieces = [marked(piece) for piece in PIECES if piece.isascii() or piece == "éé"]
    merges = random_merges(pieces, spec.seed, spec.merges, spec.wild)
    byte_tokens = [f"<0x{byte:02X}>" for byte in range(spec.byte_tokens)]
    atoms = sorted(set("".join(pieces)) - {"\n", "\r"})
    merges = [pair for pair in merges if {"\n", "\r"}.isdisjoint("".join(pair))]
    vocab = numbered(["<unk>", *byte_tokens, *atoms, *merged_tokens(merges)])
    model = models.BPE(
        vocab=vocab, merges=merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True
    )
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    tokenizer.decoder = decoders.Sequence(
        [
            decoders.Replace("▁", " "),
            decoders.ByteFallback(),
            decoders.Fuse(),
            decoders.Strip(" ", 1, 0),
        ]
    )
    return add_extras(tokenizer, spec.extras)


@made.register
def _(spec: OtherSpec) -> Tokenizer:
    merges = random_merges(PIECES, spec.seed, spec.merges, False)
    tokens = ["<unk>", *sorted(set("".join(PIECES))), *merged_tokens(merges)]
    tokenizer = Tokenizer(models.BPE(vocab=numbered(tokens), merges=merges, unk_token="<unk>"))
    tokenizer.normalizer = normalizer(spec.normalizers)
    pre_tokenizer = PRE_TOKENIZERS[spec.pre_tokenizer]()
    if pre_tokenizer is not None:
        tokenizer.pre_tokenizer = pre_tokenizer
    return add_extras(tokenizer, spec.extras)


@made.register
def _(spec: TiktokenSpec) -> tiktoken.Encoding:
    pieces = [byte_text(piece) for piece in PIECES]
    merges = random_merges(pieces, spec.seed, spec.merges, spec.wild)
    value = {character: byte for byte, character in enumerate(byte_characters())}
    ranks = {
        bytes(value[character] for character in token): rank
        for token, rank in numbered([*byte_characters(), *merged_tokens(merges)]).items()
    }
    special = {content: len(ranks) + n for n, content in enumerate(spec.special)}
    return tiktoken.Encoding(
        f"drawn {spec.family} {spec.seed}",
        pat_str=PATTERNS[spec.family][0],
        mergeable_ranks=ranks,
        special_tokens=special,
    )


@lru_cache(maxsize=16)
def build(spec: HFSpec | TiktokenSpec) -> Any:
    """The tokenizer of a spec; one shared object for equal specs."""
    return made(spec)


def has_twins(tokenizer: Tokenizer) -> bool:
    """Two of its added tokens are one when they are normalized: each object finds one of them."""
    normalize = tokenizer.normalizer.normalize_str if tokenizer.normalizer else str
    added = [t for t in tokenizer.get_added_tokens_decoder().values() if t.normalized]
    return len({normalize(token.content) for token in added}) < len(added)


# ------------------------------------------------------------------------------- drawing


@cache
def added_tokens(*, strip: bool = True) -> st.SearchStrategy[tuple[Added, ...]]:
    """No, one or a few added tokens with any flags; without `strip` none takes whitespace."""
    flag = st.booleans()
    strips = flag if strip else st.just(False)
    token = st.builds(Added, st.sampled_from(CONTENTS), strips, strips, flag, flag, flag)
    some = st.lists(token, max_size=4, unique_by=lambda added: added.content)
    return st.one_of(st.just(()), some.map(tuple))


@cache
def extras(*, finishing: bool = True, strip: bool = True) -> st.SearchStrategy[Extras]:
    """Added tokens, and unless `finishing` is False also what is applied at the end."""
    if not finishing:
        return st.builds(Extras, added=added_tokens(strip=strip))
    side = st.sampled_from(("right", "left"))
    padding = st.builds(
        Padding, st.sampled_from((None, 0, 5, 50)), side, st.sampled_from((None, 1, 8))
    )
    return st.builds(
        Extras,
        added=added_tokens(strip=strip),
        template=st.tuples(st.booleans(), st.booleans()),
        truncation=st.none() | st.tuples(st.sampled_from((128, 20, 3, 1, 0)), side),
        padding=st.none() | padding,
        encode_special=st.sampled_from((False, False, False, True)),
    )


SEEDS = st.integers(0, 99)
MERGES = st.integers(0, 60)
RARELY = st.sampled_from((False, False, False, True))


@cache
def normalizer_names() -> st.SearchStrategy[tuple[str, ...]]:
    """Mostly none, else one to three."""
    some = st.lists(st.sampled_from(tuple(NORMALIZERS)), min_size=1, max_size=3).map(tuple)
    return st.one_of(st.just(()), some)


@cache
def byte_level_specs(
    *, families: tuple[str, ...] = tuple(PATTERNS), finishing: bool = True, plain: bool = False
) -> st.SearchStrategy[ByteLevelSpec]:
    """Byte-level BPE; a `plain` one loses and adds nothing, so its tokens tile the text."""
    odd: dict[str, Any] = (
        {}
        if plain
        else {
            "missing": st.sampled_from((0, 0, 0, 1, 30)),
            "normalizers": normalizer_names(),
            "prefix_space": RARELY,
        }
    )
    return st.builds(
        ByteLevelSpec,
        family=st.sampled_from(families),
        seed=SEEDS,
        merges=MERGES,
        wild=RARELY,
        ignore_merges=RARELY,
        extras=extras(finishing=finishing, strip=not plain),
        **odd,
    )


@cache
def wordpiece_specs(*, finishing: bool = True) -> st.SearchStrategy[WordPieceSpec]:
    usually = st.sampled_from((True, True, True, False))
    return st.builds(
        WordPieceSpec,
        seed=SEEDS,
        words=MERGES,
        clean_text=usually,
        chinese=usually,
        strip_accents=st.sampled_from((None, True, False)),
        lowercase=st.booleans(),
        max_characters=st.sampled_from((100, 100, 20, 5)),
        reserved=st.booleans(),
        extras=extras(finishing=finishing),
    )


@cache
def metaspace_specs(*, finishing: bool = True) -> st.SearchStrategy[MetaspaceSpec]:
    return st.builds(
        MetaspaceSpec,
        model=st.sampled_from(("BPE", "Unigram")),
        seed=SEEDS,
        merges=MERGES,
        scheme=st.sampled_from(("always", "first", "never")),
        split=st.sampled_from((True, True, False)),
        wild=RARELY,
        fuse_unk=st.booleans(),
        extras=extras(finishing=finishing),
    )


@cache
def llama_specs(*, finishing: bool = True) -> st.SearchStrategy[LlamaSpec]:
    return st.builds(
        LlamaSpec,
        seed=SEEDS,
        merges=MERGES,
        wild=RARELY,
        byte_tokens=st.sampled_from((256, 256, 256, 128, 0)),
        extras=extras(finishing=finishing),
    )


@cache
def other_specs(*, finishing: bool = True) -> st.SearchStrategy[OtherSpec]:
    return st.builds(
        OtherSpec,
        pre_tokenizer=st.sampled_from(tuple(PRE_TOKENIZERS)),
        seed=SEEDS,
        merges=MERGES,
        normalizers=normalizer_names(),
        extras=extras(finishing=finishing),
    )


@cache
def hf_specs(*, finishing: bool = True) -> st.SearchStrategy[HFSpec]:
    """Any spec of a Hugging Face tokenizer."""
    return st.one_of(
        byte_level_specs(finishing=finishing),
        wordpiece_specs(finishing=finishing),
        metaspace_specs(finishing=finishing),
        llama_specs(finishing=finishing),
        other_specs(finishing=finishing),
    )


@cache
def tiktoken_specs() -> st.SearchStrategy[TiktokenSpec]:
    special = st.lists(st.sampled_from(CONTENTS), max_size=3, unique=True).map(tuple)
    return st.builds(
        TiktokenSpec,
        family=st.sampled_from(TIKTOKEN_FAMILIES),
        seed=SEEDS,
        merges=MERGES,
        wild=RARELY,
        special=special,
    )


@cache
def hf_tokenizers(*, finishing: bool = True) -> st.SearchStrategy[Tokenizer]:
    """Any `tokenizers.Tokenizer`; without `finishing` no template, truncation or padding."""
    return hf_specs(finishing=finishing).map(build).map(with_own_call_only)


def with_own_call_only(tokenizer: Tokenizer) -> Tokenizer:
    """The tokenizer, without truncation and padding where nothing can replace its own call: the
    ids that other calls need then cannot be had."""
    if tokenizer.truncation is not None or tokenizer.padding is not None:
        adapter = tokpar.load(tokenizer)
        if getattr(adapter, "why_live", None) is not None:
            tokenizer.no_truncation()
            tokenizer.no_padding()
    return tokenizer


@cache
def tiktoken_encodings() -> st.SearchStrategy[tiktoken.Encoding]:
    return tiktoken_specs().map(build)


def contents(tokenizer: Any) -> tuple[str, ...]:
    """Contents of the added or special tokens, for `texts(added=...)`."""
    if isinstance(tokenizer, tiktoken.Encoding):
        return tuple(sorted(tokenizer.special_tokens_set))
    return tuple(token.content for token in tokenizer.get_added_tokens_decoder().values())


@lru_cache(maxsize=16)
def texts_with(
    added: tuple[str, ...], max_size: int, tokens: tuple[str, ...] = ()
) -> st.SearchStrategy[str]:
    return texts(added=added, tokens=tokens, max_size=max_size)


@lru_cache(maxsize=16)
def token_texts(tokenizer: Any, most: int = 200) -> tuple[str, ...]:
    """Up to `most` tokens of two or more characters, as they stand in texts."""
    if isinstance(tokenizer, tiktoken.Encoding):
        spelt = [token.decode(errors="replace") for token in tokenizer.token_byte_values()]
    else:
        value = {character: byte for byte, character in enumerate(byte_characters())}
        vocab = sorted(tokenizer.get_vocab(with_added_tokens=False))
        spelt = [token.removeprefix("##").replace("▁", " ") for token in vocab]
        if "Ġ" in vocab:
            spelt = [
                bytes(value[c] for c in token).decode(errors="replace")
                for token in vocab
                if set(token) <= value.keys()
            ]
    usable = sorted({token for token in spelt if len(token) > 1 and "\ufffd" not in token})
    return tuple(usable[:: max(1, -(-len(usable) // most))])


def with_texts(
    specs: st.SearchStrategy[Any], *, max_size: int = 400
) -> st.SearchStrategy[tuple[Any, str]]:
    """Pairs of a spec and a text in which the added tokens of its tokenizer occur."""
    return specs.flatmap(
        lambda spec: st.tuples(st.just(spec), texts_with(contents(build(spec)), max_size))
    )


# ------------------------------------------------------------------------------- reading


def plain_copy(tokenizer: Tokenizer) -> Tokenizer:
    """A private copy without truncation and padding."""
    copy = Tokenizer.from_str(tokenizer.to_str())
    copy.no_truncation()
    copy.no_padding()
    copy.encode_special_tokens = tokenizer.encode_special_tokens
    return copy


def is_panic(error: BaseException) -> bool:
    """True for a Rust panic, which Python sees as a BaseException."""
    return type(error).__name__ == "PanicException"


def bytes_of(tokenizer: Tokenizer, ids: Sequence[int]) -> bytes:
    """The bytes of byte-level ids, added tokens as their content."""
    value = {character: byte for byte, character in enumerate(byte_characters())}
    added = {id_: token.content for id_, token in tokenizer.get_added_tokens_decoder().items()}
    return b"".join(
        added[id_].encode()
        if id_ in added
        else bytes(value[character] for character in tokenizer.id_to_token(id_) or "")
        for id_ in ids
    )


# ------------------------------------------------------------------------------- named ones

SPECIAL: dict[str, Mapping[str, int]] = {
    "cl100k_part": {"<|endoftext|>": 100257, "<|fim_prefix|>": 100258, "<|endofprompt|>": 100276},
    "o200k_part": {"<|endoftext|>": 199999, "<|endofprompt|>": 200018},
    "tekken_part": {},
}


def tiktoken_part(path: Path) -> tiktoken.Encoding:
    """A part vocabulary with the regex and special tokens of the whole."""
    lines = path.read_bytes().splitlines()
    patterns = json.loads((VOCAB / "patterns.json").read_text(encoding="utf-8"))
    return tiktoken.Encoding(
        path.stem,
        pat_str=patterns[path.stem],
        mergeable_ranks={
            base64.b64decode(token): int(rank) for token, rank in map(bytes.split, lines)
        },
        special_tokens=dict(SPECIAL[path.stem]),
    )


NAMED = tuple(
    path
    for path in (
        *(VOCAB / f"{name}.tiktoken" for name in SPECIAL),
        *(VOCAB / f"{name}.json" for name in ("deepseek_part", "bert_part")),
        *(VOCAB / f"{name}.json" for name in ("llama_style", "metaspace_unigram")),
        DATA / "default.json",
    )
    if path.is_file()
)


@cache
def named_tokenizers() -> dict[str, Any]:
    """The committed vocabularies by name: Tokenizer or tiktoken.Encoding, shared."""
    return {
        path.stem: tiktoken_part(path)
        if path.suffix == ".tiktoken"
        else Tokenizer.from_file(str(path))
        for path in NAMED
    }
