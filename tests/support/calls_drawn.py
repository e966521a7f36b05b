"""Drawn tokenizers inside the gate of the compiled call, and texts for them."""

from __future__ import annotations

import random
from collections.abc import Callable

from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers

from tokpar.formats.vocabulary import letters_of

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
QWEN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
PATTERNS = (
    *(GPT2, QWEN, QWEN.replace(r"\p{N}|", r"\p{N}{1,3}|", 1), r"\p{L}+", r"[a-c]+|\s", r" ?\w+|\W"),
    *(r"\d{1,3}", r"[a-z]+(?=\s)|.", r"\s+", r"(?:ab)+|c", r"[0-9á]+|[a-z]+"),
)
ATOMS = [*"abcABC 12.,'\n\té中😀\u0301\u00a0\u3000ﬁßк\u0e48\u0e38\u200d\u1112\u1161한ÅK", "\r\n"]
MARK = "\u2581"


def draw_bytes(draw: random.Random) -> Tokenizer:
    """A byte-level BPE behind one to three Splits, perhaps with a normalizer."""
    vocab = {letters_of(bytes([byte])): byte for byte in range(256)}
    parts = [letters_of(bytes([byte])) for atom in ATOMS for byte in atom.encode()]
    merges = _draw_merges(draw, vocab, parts, 24)
    for _ in range(draw.randrange(3)):
        unreachable = "".join(draw.choices(ATOMS, k=draw.randrange(2, 5)))
        vocab.setdefault(letters_of(unreachable.encode()), len(vocab))
    tokenizer = Tokenizer(
        models.BPE(_with_holes(draw, vocab), merges, ignore_merges=draw.random() < 0.3)
    )
    splits = [
        pre_tokenizers.Split(Regex(draw.choice(PATTERNS)), "isolated", False)
        for _ in range(draw.choice([1, 1, 1, 2, 3]))
    ]
    stages = [*splits, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(stages)
    normalizer = draw.choice(
        [None, None, normalizers.NFC(), normalizers.NFKC(), normalizers.NFD(), _accents()]
    )
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    return tokenizer


def draw_missing_bytes(draw: random.Random) -> Tokenizer:
    """A byte-level BPE in whose vocabulary some bytes are missing, perhaps with tokens for runs of
    white space that are searched behind the normalizer, as GPT-NeoX has them."""
    missing = [
        *b"\xc0\xc1",
        *range(0xF5, 256),
        *draw.sample(range(256), draw.choice([0, 1, 9, 60])),
    ]
    missing += [byte for byte in "é中x\u0301".encode() if draw.random() < 0.3]
    have = [byte for byte in range(256) if byte not in missing]
    vocab = {letters_of(bytes([byte])): number for number, byte in enumerate(have)}
    spelled = (letters_of(bytes([byte])) for atom in ATOMS for byte in atom.encode())
    merges = _draw_merges(draw, vocab, [letter for letter in spelled if letter in vocab], 24)
    for atom in draw.sample(["é", "abé", " 中", "x"], 2):  # a token all the same
        vocab.setdefault(letters_of(atom.encode()), len(vocab))
    unknown = draw.choice([None, "<unk>"])
    vocab |= {} if unknown is None else {unknown: len(vocab)}
    names = [f"<0x{byte:02X}>" for byte in range(256) if draw.random() < 0.99]
    falls_back = draw.random() < 0.3
    vocab |= {name: len(vocab) + k for k, name in enumerate(names if falls_back else [])}
    settings = {name: draw.random() < 0.4 for name in ("fuse_unk", "ignore_merges")}
    tokenizer = Tokenizer(
        models.BPE(vocab, merges, unk_token=unknown, byte_fallback=falls_back, **settings)
    )
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    normalizer = draw.choice([None, normalizers.NFC, normalizers.NFD, normalizers.NFKC, _accents])
    if normalizer is not None:
        tokenizer.normalizer = normalizer()
    for run in draw.sample([" " * 2, " " * 3, "\n\n", "\t", " \n"], draw.randrange(5)):
        flags = {"rstrip": draw.random() < 0.1, "lstrip": draw.random() < 0.1}
        tokenizer.add_tokens([AddedToken(run, normalized=True, **flags)])
    return tokenizer


def draw_characters(draw: random.Random) -> Tokenizer:
    """A BPE over characters, with marks of spaces from a normalizer or from Metaspace, or without
    stages."""
    alphabet = [*"abcABC12.,'é中😀"]
    chars = [*draw.sample(alphabet, draw.randrange(4, len(alphabet))), MARK]
    is_bare = draw.random() < 0.15
    chars += [" "] * (is_bare and draw.random() < 0.7)
    falls_back = draw.random() < 0.6
    names = [f"<0x{byte:02X}>" for byte in range(256)] if falls_back else []
    vocab = {token: number for number, token in enumerate(["<unk>", *names, *chars])}
    merges = _draw_merges(draw, vocab, chars, 12)
    for _ in range(draw.randrange(3)):
        vocab.setdefault("".join(draw.choices(alphabet, k=3)), max(vocab.values()) + 1)
    tokenizer = Tokenizer(
        models.BPE(
            _with_holes(draw, vocab),
            merges,
            unk_token="<unk>",
            fuse_unk=draw.random() < 0.5,
            byte_fallback=falls_back,
        )
    )
    if not is_bare:
        _draw_marks(draw, tokenizer)
    return tokenizer


def draw_words(draw: random.Random) -> Tokenizer:
    """A WordPiece behind BERT's stages, with odd prefixes and limits."""
    prefix = draw.choice(["##", "##", "", "@", MARK, "é", "##a"])
    alphabet = [*"abcxiSE12.,'-é中文한\u1112\u1161\u11a8ß", "ab", "bc", "abc", "\u0301", "s\u0307"]
    tokens = ["".join(draw.choices(alphabet, k=draw.choice([1, 1, 2, 5]))) for _ in range(40)]
    spelled = [draw.choice(["", prefix]) + token for token in tokens]
    spelled += [start + char for char in draw.sample(alphabet, 9) for start in ("", prefix)]
    vocab = {token: number for number, token in enumerate(dict.fromkeys(["[UNK]", *spelled]))}
    limit = draw.choice([100, 100, 3, 1])
    tokenizer = Tokenizer(
        models.WordPiece(
            vocab,
            unk_token="[UNK]",
            continuing_subword_prefix=prefix,
            max_input_chars_per_word=limit,
        )
    )
    if draw.random() < 0.9:
        tokenizer.normalizer = normalizers.BertNormalizer(
            clean_text=draw.random() < 0.7,
            handle_chinese_chars=draw.random() < 0.7,
            strip_accents=draw.choice([None, True, False]),
            lowercase=draw.random() < 0.6,
        )
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


def draw_added(draw: random.Random, tokenizer: Tokenizer) -> list[str]:
    """Adds up to four tokens with drawn flags. Returns their contents."""
    contents = []
    for _ in range(draw.choice([0, 0, 1, 2, 4])):
        content = "".join(draw.choices([*ATOMS, "<x>", "<", "ab"], k=draw.randrange(1, 4)))
        content = content if content.strip() else f"<|{content}"
        flags = {name: draw.random() < 0.2 for name in ("single_word", "lstrip", "rstrip")}
        normalizer = tokenizer.normalizer
        is_emptied = normalizer is not None and not normalizer.normalize_str(content)
        # the engine does not end on some texts with an added token that its normalizer empties
        token = AddedToken(content, normalized=draw.random() < 0.3 and not is_emptied, **flags)
        add = draw.choice([tokenizer.add_special_tokens, tokenizer.add_tokens])
        add([token])
        contents.append(content)
    return contents


def draw_text(draw: random.Random, contents: list[str]) -> str:
    atoms = [*ATOMS, *contents, "ab", "bc", " a", "  ", "     ", MARK]
    return "".join(draw.choices(atoms, k=draw.choice([1, 3, 8, 20, 60])))


DRAWN: dict[str, Callable[[random.Random], Tokenizer]] = {
    "bytes": draw_bytes,
    "missing bytes": draw_missing_bytes,
    "characters": draw_characters,
    "words": draw_words,
}


def _draw_merges(
    draw: random.Random, vocab: dict[str, int], parts: list[str], longest: int
) -> list[tuple[str, str]]:
    """Adds tokens to `vocab`. Returns merges, perhaps out of order, perhaps one of them twice."""
    merges = []
    for _ in range(draw.randrange(3, 40)):
        left, right = draw.choice(parts), draw.choice(parts)
        if len(left + right) <= longest:
            vocab.setdefault(left + right, len(vocab))
            merges.append((left, right))
            parts = [*parts, left + right, left + right]
    if draw.random() < 0.3:
        draw.shuffle(merges)
    return [*merges, draw.choice(merges)] if merges and draw.random() < 0.3 else merges


def _with_holes(draw: random.Random, vocab: dict[str, int]) -> dict[str, int]:
    if draw.random() < 0.8:
        return vocab
    return {token: 3 * number + 7 for token, number in vocab.items()}


def _draw_marks(draw: random.Random, tokenizer: Tokenizer) -> None:
    replace = normalizers.Replace(" ", MARK)
    kind = draw.randrange(7)
    if kind in (0, 5):
        tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend(MARK), replace])
    elif kind in (1, 2, 6):
        tokenizer.normalizer = replace
    if kind == 2:
        tokenizer.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    if kind in (5, 6):
        tokenizer.pre_tokenizer = pre_tokenizers.Split(MARK, "merged_with_next")
    if kind in (3, 4):
        scheme = draw.choice(["always", "first", "never"])
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(MARK, scheme, draw.random() < 0.5)


def _accents() -> normalizers.Normalizer:
    return normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents()])
