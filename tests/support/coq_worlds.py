"""Drawn tokenizers of all kinds, as their engine has them and as Pipeline.v writes them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import tiktoken
from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    models,
    normalizers,
    pre_tokenizers,
)

from tests.recipes.coq_tables import coq_row
from tests.support.certified import oniguruma_patterns
from tests.support.windows_brute import ask, asked
from tokpar.patterns.pattern_reader import UnsupportedPatternError
from tokpar.patterns.shipped_patterns import GPT2
from tokpar.patterns.splits import SplitStage, machines_of, tree_of
from tokpar.files.char_classes import single

LETTERS = "aaabbA1. '\n\u00e9\u4e2d_"
MARK = "\u2581"
ITEMS = (
    *("a", "A", r"\p{L}", r"\s", "[aA]", r"[^\s\p{L}]", r"\p{L}+", r"\s+", r"\s*", r"\s++", " ?"),
    *(r"\p{N}{1,3}", r"\p{N}{1,2}+", r"\p{L}+?", r"[aA]*", r"[.1]?+", r"(?:ab|a)?", "(?:1|a.)"),
    *(r"(?!\S)", r"(?=a)", r"\Z", r"(?:\.a|a)??"),
)
CONTENTS = (
    "<s>",
    "ab",
    "a",
    "1",
    " a",
    "aab",
    "</s>",
    "b1",
    "\u00e9",
    "\n",
    "a ",
    "<s",
    "\u4e2d",
    "_",
)
TEXT_LETTERS = "".join(sorted({*LETTERS, *"".join(CONTENTS)}))
FAMILIES = ("gpt2", "cl100k", "qwen2", "o200k", "tekken", "deepseek")
BEHAVIORS = {
    "isolated": "Isolated",
    "removed": "Removed",
    "merged_with_previous": "WithPrevious",
    "merged_with_next": "WithNext",
}
FLAGS = ("lstrip", "rstrip", "single_word")


@dataclass(frozen=True)
class World:
    """A tokenizer: the ids its engine gives, and its facts as Pipeline.v writes them.

    `parts`: what its texts are made of."""

    encode: Callable[[str], list[int]]
    coq: str
    parts: tuple[str, ...]

    def drawn_text(self, rng: random.Random) -> str:
        return "".join(rng.choices(self.parts, k=rng.randint(0, 10)))


# ------------------------------------------------------------------------------ Coq's words


def points(text: str) -> str:
    """A text as Coq writes it: its code points."""
    return f"[{'; '.join(str(ord(char)) for char in text)}]%N"


def atoms(row: Iterable[int]) -> str:
    return f"[{'; '.join(map(str, row))}]"


def truth(value: bool) -> str:
    return "true" if value else "false"


def listed(values: Iterable[str]) -> str:
    return f"[{'; '.join(values)}]"


def replacing(table: Mapping[str, str]) -> str:
    """A stage that replaces characters one by one."""
    return f"Each {listed(f'({ord(c)}%N, {points(text)})' for c, text in table.items())}"


@dataclass(frozen=True)
class Facts:
    """The fields of Pipeline.tokenizer that a kind of tokenizer sets."""

    model: str
    normalizer: Sequence[str] = ()
    signs: Sequence[str] = ()
    splits: Sequence[str] = ()
    symbols: Mapping[str, int] = field(default_factory=dict)
    raw_tokens: Sequence[str] = ()
    normalized_tokens: Sequence[str] = ()

    def coq(self) -> str:
        letters = TEXT_LETTERS + MARK + "e"  # what a normalizer makes of "\u00e9"
        spaces, words = (
            listed(f"({ord(c)}%N, {ord(c)}%N)" for c in letters if single(name).match(c))
            for name in ("white", "word")
        )
        symbols = (f"({ord(c)}%N, {ord(c)}%N, {s})" for c, s in self.symbols.items())
        return (
            f"{{| spaces := {spaces}; words := {words}; raw_tokens := {listed(self.raw_tokens)}; "
            f"normalizer := {listed(self.normalizer)}; "
            f"normalized_tokens := {listed(self.normalized_tokens)}; "
            f"signs := {listed(self.signs)}; symbols := {listed(symbols)}; other_symbol := 0; "
            f"splits := {listed(self.splits)}; model_of := {self.model} |}}"
        )


def merges_model(
    tokens: Mapping[str, int],
    merges: Iterable[tuple[str, str]],
    atoms_of: Callable[[str], Iterable[int]],
    letters: str = "",
    whole_piece: bool = False,
) -> str:
    words = (f"({atoms(atoms_of(token))}, {id_}%N)" for token, id_ in tokens.items())
    pairs = (f"({atoms(atoms_of(u))}, {atoms(atoms_of(v))})" for u, v in merges)
    return (
        f"Merges {{| letters := {listed(f'({ord(c)}%N, {256 + i})' for i, c in enumerate(letters))}; "
        f"vocabulary_of := {listed(words)}; merges := {listed(pairs)}; "
        f"whole_piece := {truth(whole_piece)} |}}"
    )


# ------------------------------------------------------------------------------ added tokens


def with_added_tokens(rng: random.Random, engine: Tokenizer, facts: Facts) -> World:
    """The tokenizer with some drawn added tokens."""
    chosen = rng.sample(CONTENTS, rng.choice([0, 1, 2, 3]))
    # the engine would search for nothing if its normalizer left nothing of a token
    kept = [c for c in chosen if engine.normalizer is None or engine.normalizer.normalize_str(c)]
    tokens = [
        AddedToken(
            content,
            normalized=content in kept and rng.random() < 0.3,
            special=rng.random() < 0.3,
            **{flag: rng.random() < 0.2 for flag in FLAGS},
        )
        for content in chosen
    ]
    for token in tokens:
        engine.add_tokens([token])
    engine.encode_special_tokens = rng.random() < 0.2
    rows: dict[bool, dict[str, str]] = {False: {}, True: {}}
    for token in tokens:
        content = token.content
        if token.normalized and engine.normalizer is not None:
            content = engine.normalizer.normalize_str(content)
        rows[token.normalized].setdefault(content, _token(engine, token, content))
    raw, normalized = (list(rows[flag].values()) for flag in (False, True))
    facts = replace(facts, raw_tokens=raw, normalized_tokens=normalized)
    return World(ids_or_panic(engine), facts.coq(), (*LETTERS, *chosen, *chosen))


def _token(engine: Tokenizer, token: AddedToken, content: str) -> str:
    return (
        f"{{| content := {points(content)}; token_id := {engine.token_to_id(token.content)}%N; "
        f"lstrip := {truth(token.lstrip)}; rstrip := {truth(token.rstrip)}; "
        f"single_word := {truth(token.single_word)}; "
        f"skipped := {truth(token.special and engine.encode_special_tokens)} |}}"
    )


class PanicError(Exception):
    """The engine gives no ids: a token strips white space that the token before it has stripped."""


def ids_or_panic(engine: Tokenizer) -> Callable[[str], list[int]]:
    def encode(text: str) -> list[int]:
        try:
            return [*engine.encode(text, add_special_tokens=False).ids]
        except BaseException as error:  # a panic is no Exception
            if type(error).__name__ != "PanicException":
                raise
            raise PanicError from None

    return encode


# ------------------------------------------------------------------------------ vocabularies


def drawn_merges(
    rng: random.Random, strings: Sequence[str], longer: int = 8
) -> list[tuple[str, str]]:
    """Merges in any order, each of another string: of letters that texts often have, so that most
    places of a piece show in the ids, and some of longer strings."""
    often = [letter for letter in (*spelled("aab1. '\nA"), MARK) if letter in strings]
    known, made = [*strings], dict[str, tuple[str, str]]()
    for number in range(20 + longer):
        pair = tuple(rng.choices(often if number < 20 else [*often, *made], k=2))
        if "".join(pair) not in known:
            made["".join(pair)] = (pair[0], pair[1])
            known.append("".join(pair))
    merges = [*made.values()]
    rng.shuffle(merges)
    return merges


def codes_of_bytes() -> list[int]:
    """The letter of each byte in a byte-level file: printable ones are themselves."""
    own = {*range(33, 127), *range(161, 173), *range(174, 256)}
    others = iter(range(256, 512))
    return [byte if byte in own else next(others) for byte in range(256)]


CODES = codes_of_bytes()
BYTE_OF = {code: byte for byte, code in enumerate(CODES)}


def spelled(text: str) -> str:
    """A text as a byte-level file writes it."""
    return "".join(chr(CODES[byte]) for byte in text.encode())


def bytes_of(string: str) -> list[int]:
    """The bytes of a string of a byte-level file."""
    return [BYTE_OF[ord(letter)] for letter in string]


def used_letters() -> list[str]:
    return sorted({*spelled(TEXT_LETTERS)})


# ------------------------------------------------------------------------------ patterns


def drawn_pattern(rng: random.Random, covering: bool = True) -> str:
    """Some alternatives of classes, counts, groups and look-aheads."""
    rows = ["".join(rng.choices(ITEMS, k=rng.randint(0, 3))) for _ in range(rng.randint(1, 4))]
    drawn = [rng.choice([f"a{row}", rf"\p{{L}}{row}", f" {row}"]) for row in rows]
    return "|".join([*drawn, r"[\s\S]"] if covering else drawn)


@dataclass(frozen=True)
class SplitRow:
    """A row of patterns with its trees over the symbols of the letters."""

    patterns: tuple[str, ...]
    trees: tuple[str, ...]
    symbols: Mapping[str, int]


def row_of(patterns: Sequence[str], engine: str, known: str) -> SplitRow | None:
    """The patterns as Coq writes them, or None if they are none of PatternPairs.v."""
    splits = [SplitStage(pattern, engine) for pattern in patterns]
    try:
        symbols, _ = machines_of(splits, ask(known), asked(known))
        trees = tuple(coq_row([tree_of(split, symbols)], symbols.size)[1:-1] for split in splits)
    except (UnsupportedPatternError, ValueError):
        return None
    numbered = dict(zip(known, symbols.symbols(known), strict=True))
    return SplitRow(tuple(patterns), trees, numbered)


def drawn_row(rng: random.Random, engine: str, covering: bool | None = None) -> SplitRow:
    """One to three patterns, or a family's. `covering`: one pattern that matches everywhere."""
    while True:
        count = 1 if covering else rng.choice([1, 1, 2, 3])
        sure = (covering or rng.random() < 0.6 for _ in range(count))
        patterns = [drawn_pattern(rng, each) for each in sure]
        if covering is None and rng.random() < 0.3:
            patterns = [*oniguruma_patterns(rng.choice(FAMILIES))]
        found = row_of(patterns, engine, TEXT_LETTERS)
        if found is not None:
            return found


# ------------------------------------------------------------------------------ the kinds


def byte_level(rng: random.Random) -> World:
    """Byte-level BPE behind a row of Splits, with a normalizer that replaces some characters."""
    merges = drawn_merges(rng, used_letters())
    tokens = [*map(chr, CODES), *map("".join, merges)]
    vocabulary = {token: id_ for id_, token in enumerate(tokens)}
    whole = rng.random() < 0.5
    engine = Tokenizer(models.BPE(vocabulary, merges, ignore_merges=whole))
    prefix = rng.random() < 0.3
    if prefix:
        row = row_of([GPT2], "oniguruma", TEXT_LETTERS)
        engine.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True, use_regex=True)
    else:
        row = drawn_row(rng, "oniguruma")
        splits = [pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in row.patterns]
        last = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
        engine.pre_tokenizer = pre_tokenizers.Sequence([*splits, last])
    assert row is not None
    table = {c: rng.choice(["", "a", "b1", " "]) for c in rng.sample("Ab1.", rng.choice([0, 1, 2]))}
    if table:
        stages = [normalizers.Replace(c, text) for c, text in table.items()]
        engine.normalizer = normalizers.Sequence(stages)
    used = {t: i for t, i in vocabulary.items() if {*used_letters()}.issuperset(t)}
    facts = Facts(
        merges_model(used, merges, bytes_of, whole_piece=whole),
        normalizer=[replacing({c: text}) for c, text in table.items()],
        signs=["Sign 32%N false"] if prefix else [],
        splits=[f"Pattern ({tree})" for tree in row.trees],
        symbols=row.symbols,
    )
    return with_added_tokens(rng, engine, facts)


def sentencepiece(rng: random.Random) -> World:
    """BPE over characters with byte fallback, and one of the ways to write spaces."""
    letters = "".join(sorted(["a", *rng.sample("bA1.\u00e9\u4e2d" + MARK, 6)]))
    merges = drawn_merges(rng, letters)
    used = sorted({*(TEXT_LETTERS + MARK).encode()})
    tokens = [*(f"<0x{byte:02X}>" for byte in used), *letters, *map("".join, merges)]
    vocabulary = {token: id_ for id_, token in enumerate(tokens)}
    engine = Tokenizer(models.BPE(vocabulary, merges, byte_fallback=True))
    facts = Facts(
        merges_model(
            vocabulary,
            merges,
            lambda token: (
                [int(token[3:5], 16)]
                if token.startswith("<0x")
                else [256 + letters.index(char) for char in token]
            ),
            letters,
        )
    )
    spaces, mark = replacing({" ": MARK}), f"At {ord(MARK)}%N WithNext"
    match rng.choice(["llama2", "gemma", "split", "always", "first", "first", "never"]):
        case "llama2":
            stages = [normalizers.Prepend(MARK), normalizers.Replace(" ", MARK)]
            engine.normalizer = normalizers.Sequence(stages)
            facts = replace(facts, normalizer=[f"Prepend {points(MARK)}", spaces])
        case "gemma":
            engine.normalizer = normalizers.Replace(" ", MARK)
            engine.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
            facts = replace(facts, normalizer=[spaces], splits=["At 32%N WithPrevious"])
        case "split":
            behavior = rng.choice([*BEHAVIORS])
            engine.pre_tokenizer = pre_tokenizers.Split(" ", behavior)
            facts = replace(facts, splits=[f"At 32%N {BEHAVIORS[behavior]}"])
        case scheme:
            engine.pre_tokenizer = pre_tokenizers.Metaspace(MARK, scheme, True)
            signs = [spaces]
            if scheme != "never":
                signs.append(f"Sign {ord(MARK)}%N {truth(scheme == 'first')}")
            facts = replace(facts, signs=signs, splits=[mark])
    return with_added_tokens(rng, engine, facts)


def bert(rng: random.Random) -> World:
    """WordPiece with BERT's normalizer and pre-tokenizer."""
    strings = {
        rng.choice(["", "##"]) + "".join(rng.choices("aaabb1\u00e9e\u4e2d.", k=rng.randint(1, 3)))
        for _ in range(rng.randint(4, 14))
    }
    vocabulary = {token: id_ for id_, token in enumerate(["[UNK]", *sorted(strings)])}
    limit = rng.choice([100, 3, 5])
    model = models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=limit)
    engine = Tokenizer(model)
    switches = {
        name: rng.random() < 0.7
        for name in ("clean_text", "handle_chinese_chars", "lowercase", "strip_accents")
    }
    engine.normalizer = normalizers.BertNormalizer(**switches)
    engine.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    kinds = {c: engine.pre_tokenizer.pre_tokenize_str(f"a{c}a") for c in TEXT_LETTERS}
    classes = (
        listed(f"({ord(c)}%N, {ord(c)}%N)" for c in TEXT_LETTERS if len(kinds[c]) == count)
        for count in (3, 2)
    )
    tokens = listed(f"({points(token)}, {id_}%N)" for token, id_ in vocabulary.items())
    facts = Facts(
        f"Longest {tokens} {points('##')} {limit} 0%N",
        normalizer=[replacing({c: engine.normalizer.normalize_str(c) for c in TEXT_LETTERS})],
        splits=[f"Apart {' '.join(classes)}"],
    )
    return with_added_tokens(rng, engine, facts)


def tiktokens(rng: random.Random) -> World:
    """tiktoken: merges by the rank of their bytes, whole pieces, special tokens."""
    row = drawn_row(rng, "fancy-regex", covering=True)
    while True:
        merges = drawn_merges(rng, used_letters(), longer=rng.choice([0, 1]))
        strings = [*map(chr, range(256)), *("".join(pair) for pair in merges)]
        tokens = [bytes([byte]) for byte in range(256)]
        tokens += [bytes(bytes_of("".join(pair))) for pair in merges]
        known = {*tokens}
        # one way to make each token: Coq orders pairs of strings, tiktoken what they make
        ways = [sum({t[:k], t[k:]} <= known for k in range(1, len(t))) for t in tokens]
        if max(ways) <= 1 and len(strings) == len(known):
            break
    ranks = {token: rank for rank, token in enumerate(tokens)}
    # of two special tokens that begin at one place, tiktoken takes the first of a hash table
    chosen = rng.sample(["<s>", "a", " a", "</s>", "b1", "\n", "\u4e2d"], rng.choice([0, 1, 2]))
    special = {content: 1000 + i for i, content in enumerate(chosen)}
    (pattern,) = row.patterns
    engine = tiktoken.Encoding(
        "drawn", pat_str=pattern, mergeable_ranks=ranks, special_tokens=special
    )
    used = {*TEXT_LETTERS.encode()}
    facts = Facts(
        merges_model(
            {spelled_bytes(t): i for t, i in ranks.items() if used.issuperset(t)},
            merges,
            bytes_of,
            whole_piece=True,
        ),
        splits=[f"Pattern ({tree})" for tree in row.trees],
        symbols=row.symbols,
        raw_tokens=[
            f"{{| content := {points(c)}; token_id := {i}%N; lstrip := false; rstrip := false; "
            "single_word := false; skipped := false |}"
            for c, i in special.items()
        ],
    )

    def encode(text: str) -> list[int]:
        return [*engine.encode(text, allowed_special="all")]

    return World(encode, facts.coq(), (*LETTERS, *special, *special))


def spelled_bytes(token: bytes) -> str:
    return "".join(chr(CODES[byte]) for byte in token)


KINDS = {
    "byte-level": byte_level,
    "sentencepiece": sentencepiece,
    "bert": bert,
    "tiktoken": tiktokens,
}


def drawn_worlds(seed: str, kinds: Sequence[str] = (*KINDS, "byte-level")) -> Iterator[World]:
    """Worlds without end, one kind after the other."""
    rng = random.Random(seed)
    while True:
        for kind in kinds:
            yield KINDS[kind](rng)
