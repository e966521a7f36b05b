"""Drawn tokenizers of all kinds, as their engine has them and as Pipeline.v writes them."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import Any

import regex
import tiktoken
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers
from tokpar_conformance.worlds.charsmaps import charsmap

from tests.recipes.coq_tables import coq_row
from tests.support.certified import oniguruma_patterns
from tests.support.cluster_tables import charsmap_coq, drawn_keys
from tests.support.form_tables import form_tables
from tests.support.windows_brute import ask, asked
from tokpar.compiled.quick_check import FORMS
from tokpar.formats.char_classes import single
from tokpar.formats.vocabulary import byte_alphabet, letters_of
from tokpar.patterns.pattern_reader import UnsupportedPatternError
from tokpar.patterns.shipped_patterns import GPT2
from tokpar.patterns.splits import SplitStage, machines_of, tree_of
from tokpar.process.cached_property import cached_property

MARK = "\u2581"
LETTERS = "aab1. '\nA\u00e9\u4e2d_\U0001f600" + MARK
CONTENTS = (
    *("<s>", "<s", "</s>", "a", "ab", "aab", "b1", "1", " a", "a ", "\n"),
    *("\u00e9", "\u4e2d", "_", MARK, "a.", "A"),
)
MARKS = "\u0301\u0316\u030d"
"""Marks of two classes; the first composes with letters, the others with nothing."""
KNOWN = "".join(
    sorted(form_tables("NFKC").closure({*LETTERS, *"".join(CONTENTS), "e", "\ufb01", *MARKS}))
)
"""All characters of texts, and what a normalizer makes of them."""
ITEMS = (
    *("a", "A", r"\p{L}", r"\s", "[aA]", r"[^\s\p{L}]", r"\p{L}+", r"\s+", r"\s*", r"\s++", " ?"),
    *(r"\p{N}{1,3}", r"\p{N}{1,2}+", r"\p{L}+?", r"[aA]*", r"[.1]?+", r"(?:ab|a)?", "(?:1|a.)"),
    *(r"(?!\S)", r"(?=a)", r"\Z", r"(?:\.a|a)??", r"[ab]{0,2}", r"\s?", r"\p{L}{1,2}"),
    *(
        r"\s++\s",
        r"[.1]?+[.1]",
        r"[ab]{0,2}+b",
        r"\s{1,2}?",
        r"[ab]*?b?",
        r"a{2,}+a",
        "[ab]{1,2}",
        "[ab]+(?=a)",
    ),
)
FAMILIES = ("gpt2", "cl100k", "qwen2", "o200k", "tekken", "deepseek")
BEHAVIORS = {
    "isolated": "Isolated",
    "removed": "Removed",
    "merged_with_previous": "WithPrevious",
    "merged_with_next": "WithNext",
}
FLAGS = ("lstrip", "rstrip", "single_word")
DEFINITIONS = """From Coq Require Import Floats.
Definition V (l : list (list N * N)) : vocabulary :=
  map (fun '(w, i) => (map N.to_nat w, i)) l.
Definition M (l : list (list N * list N)) : list (list nat * list nat) :=
  map (fun '(u, v) => (map N.to_nat u, map N.to_nat v)) l.
"""
"""What the facts are written with: Coq reads large numbers of the type nat slowly."""


class PanicError(Exception):
    """The engine gives no ids: a token strips white space that the token before it has stripped."""


@dataclass(frozen=True)
class World:
    """A tokenizer: the ids its engine gives, and its facts as Pipeline.v writes them.

    `parts`: what its texts are made of, in groups of which one is as frequent as another."""

    encode: Callable[[str], list[int]]
    coq: str
    parts: Sequence[Sequence[str]]

    def drawn_text(self, rng: random.Random) -> str:
        groups = [group for group in self.parts if group]
        few = [rng.choice(rng.choice(groups)) for _ in range(rng.randint(1, 5))]
        return "".join(rng.choices(few, k=rng.choice([1, 2, rng.randint(0, 12)])))


# ------------------------------------------------------------------------------ Coq's words


def points(text: str) -> str:
    """A text as Coq writes it: its code points."""
    return f"[{'; '.join(str(ord(char)) for char in text)}]%N"


def truth(value: bool) -> str:
    return "true" if value else "false"


def listed(values: Iterable[str]) -> str:
    return f"[{'; '.join(values)}]"


def class_of(chars: Iterable[str]) -> str:
    return listed(f"({ord(c)}%N, {ord(c)}%N)" for c in chars)


def replacing(table: Mapping[str, str]) -> str:
    """A stage that replaces characters one by one."""
    return f"Each {listed(f'({ord(c)}%N, {points(text)})' for c, text in table.items())}"


def token_facts(content: str, id_: int, **flags: bool) -> str:
    names = (*FLAGS, "skipped")
    values = "; ".join(f"{name} := {truth(flags.get(name, False))}" for name in names)
    return f"{{| content := {points(content)}; token_id := {id_}%N; {values} |}}"


@dataclass(frozen=True)
class Facts:
    """The fields of Pipeline.tokenizer."""

    model: str
    normalizer: Sequence[str] = ()
    signs: Sequence[str] = ()
    splits: str = "[]"
    symbols: Mapping[str, int] = field(default_factory=dict)
    raw_tokens: Iterable[str] = ()
    normalized_tokens: Iterable[str] = ()

    def coq(self) -> str:
        spaces, words = (
            class_of(c for c in KNOWN if single(name).match(c)) for name in ("white", "word")
        )
        symbols = (f"({ord(c)}%N, {ord(c)}%N, {s})" for c, s in self.symbols.items())
        return (
            f"{{| spaces := {spaces}; words := {words}; raw_tokens := {listed(self.raw_tokens)}; "
            f"normalizer := {listed(self.normalizer)}; "
            f"normalized_tokens := {listed(self.normalized_tokens)}; "
            f"signs := {listed(self.signs)}; symbols := {listed(symbols)}; other_symbol := 0; "
            f"splits := {self.splits}; model_of := {self.model} |}}"
        )


# ------------------------------------------------------------------------------ normalizers


Stage = tuple[normalizers.Normalizer, str, str]


def drawn_precompiled(rng: random.Random) -> Stage:
    """A table of replacements, as `drawn_stage`."""
    alphabet = f"{LETTERS}e{MARKS}"
    keys = drawn_keys(rng, alphabet, ("", " ", "a", "ab", "\u00e9", MARK, " \u0301"))
    engine = normalizers.Precompiled(charsmap(keys))
    return engine, f"Precompiled {charsmap_coq(KNOWN, keys)}", "".join([*keys, MARKS])


def drawn_stage(rng: random.Random) -> Stage:
    """A stage of a normalizer, the stage of Coq, and characters that show what it does."""
    match rng.randrange(7):
        case 6:
            form = rng.choice(FORMS)
            tables = form_tables(form).coq(KNOWN)
            return getattr(normalizers, form)(), f"Form {tables}", f"ae\u00e9\ufb01{MARKS}"
        case 0 | 1:
            front = rng.choice([MARK, " ", "a", "b1"])
            return normalizers.Prepend(front), f"Prepend {points(front)}", ""
        case 2:
            names = ("clean_text", "handle_chinese_chars", "lowercase", "strip_accents")
            bert = normalizers.BertNormalizer(**{name: rng.random() < 0.7 for name in names})
            return bert, replacing({c: bert.normalize_str(c) for c in KNOWN}), "A\u00e9"
        case _:
            char, text = rng.choice("  Ab1."), rng.choice(["", "", "a", MARK, MARK, " "])
            return normalizers.Replace(char, text), replacing({char: text}), char


# ------------------------------------------------------------------------------ pre-tokenizers


@cache
def examples(item: str) -> list[str]:
    """Texts that an item matches, or would if it were not possessive and counted one more."""
    loose = re.sub(r"([+*?}])\+", r"\1", item)
    loose = re.sub(r"(\d)}", lambda found: f"{int(found[1]) + 1}}}", loose)
    short = ("".join(row) for size in range(4) for row in product("ab1. ", repeat=size))
    return [text for text in short if regex.fullmatch(loose, text)] or [""]


def drawn_pattern(rng: random.Random, covering: bool = True) -> tuple[str, list[str]]:
    """Some alternatives of classes, counts, groups and look-aheads, and texts that they match."""
    rows = [
        [rng.choice(["a", r"\p{L}", " "]), *rng.choices(ITEMS, k=rng.randint(0, 3))]
        for _ in range(rng.randint(1, 4))
    ]
    texts = ["".join(map(rng.choice, map(examples, row))) for row in rows for _ in range(4)]
    return "|".join(["".join(row) for row in rows] + [r"[\s\S]"] * covering), texts


@dataclass(frozen=True)
class PreTokenizer:
    """The parts of a pre-tokenizer, and the facts of Coq."""

    parts: Sequence[Any] = ()
    signs: Sequence[str] = ()
    splits: Sequence[str] = ()
    symbols: Mapping[str, int] = field(default_factory=dict)
    texts: Sequence[str] = ()

    def before(self, other: PreTokenizer) -> PreTokenizer:
        return PreTokenizer(
            [*self.parts, *other.parts],
            [*self.signs, *other.signs],
            [*self.splits, *other.splits],
            {**self.symbols, **other.symbols},
            [*self.texts, *other.texts],
        )


def of_patterns(
    patterns: Sequence[str], engine: str, texts: Sequence[str] = ()
) -> PreTokenizer | None:
    """The patterns as Coq writes them, or None if they are none of PatternPairs.v."""
    stages = [SplitStage(pattern, engine) for pattern in patterns]
    try:
        symbols, _ = machines_of(stages, ask(KNOWN), asked(KNOWN))
        trees = [coq_row([tree_of(stage, symbols)], symbols.size)[1:-1] for stage in stages]
    except (UnsupportedPatternError, ValueError):
        return None
    return PreTokenizer(
        [pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in patterns],
        splits=[f"Pattern ({tree})" for tree in trees],
        symbols=dict(zip(KNOWN, symbols.symbols(KNOWN), strict=True)),
        texts=texts,
    )


def drawn_patterns(rng: random.Random) -> PreTokenizer:
    """One to three patterns, or a family's."""
    while True:
        count = rng.choice([1, 1, 2, 3])
        drawn = [drawn_pattern(rng, rng.random() < 0.6) for _ in range(count)]
        patterns, texts = [pattern for pattern, _ in drawn], [t for _, row in drawn for t in row]
        if rng.random() < 0.2:
            patterns = [*oniguruma_patterns(rng.choice(FAMILIES))]
        if found := of_patterns(patterns, "oniguruma", texts):
            return found


def drawn_characters(rng: random.Random) -> PreTokenizer:
    """A split at one character, or one that looks at the class of characters."""
    behavior = rng.choice([*BEHAVIORS])
    char = rng.choice(f"  a.{MARK}")
    if rng.random() < 0.6:
        split = pre_tokenizers.Split(char, behavior)
        splits = [f"At {ord(char)}%N {BEHAVIORS[behavior]}"]
        return PreTokenizer([split], splits=splits, texts=[char, f"a{char}b"])
    part = rng.choice(
        [
            pre_tokenizers.BertPreTokenizer(),
            pre_tokenizers.Punctuation("isolated"),
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.WhitespaceSplit(),
        ]
    )
    pieces = {c: len(part.pre_tokenize_str(f"a{c}a")) for c in KNOWN}
    alone, removed = (class_of(c for c in KNOWN if pieces[c] == count) for count in (3, 2))
    return PreTokenizer([part], splits=[f"Apart {alone} {removed}"])


def drawn_metaspace(rng: random.Random) -> PreTokenizer:
    scheme, split = rng.choice(["always", "first", "first", "never"]), rng.random() < 0.7
    sign = [f"Sign {ord(MARK)}%N {truth(scheme == 'first')}"] if scheme != "never" else []
    return PreTokenizer(
        [pre_tokenizers.Metaspace(MARK, scheme, split)],
        [replacing({" ": MARK}), *sign],
        [f"At {ord(MARK)}%N WithNext"] if split else [],
    )


def drawn_pretokenizer(rng: random.Random) -> PreTokenizer:
    drawn = [drawn_metaspace, drawn_characters, drawn_characters, drawn_patterns, drawn_patterns]
    row = PreTokenizer()
    for kind in sorted(rng.sample(range(5), rng.choice([0, 1, 1, 2, 3]))):
        if kind != 4 or not row.symbols:
            row = row.before(drawn[kind](rng))
    return row


# ------------------------------------------------------------------------------ models


@dataclass(frozen=True)
class Model:
    """A model, the facts of Coq, and texts that it has tokens for."""

    engine: Any
    coq: str
    texts: Sequence[str]


def bytes_of(string: str) -> list[int]:
    """The bytes of a string of a byte-level file."""
    return [BYTE_OF[letter] for letter in string]


def drawn_merges(
    rng: random.Random, often: Sequence[str], ambiguous: bool = True
) -> list[tuple[str, str]]:
    """Merges, each of another string: most of them of few letters, so that their order matters.

    `ambiguous`: a token may be made by several pairs of tokens."""
    few = rng.sample(often, min(len(often), rng.randint(1, 4)))
    known, made = [*often], dict[str, tuple[str, str]]()
    for number in range(24):
        u, v = rng.choices([*few, *made] if number % 3 else often, k=2)
        strings = {*known, u + v}
        fits = u + v not in known and len(u + v) < 7
        if fits and (ambiguous or all(ways(t, strings) < 2 for t in strings)):
            made[u + v] = (u, v)
            known.append(u + v)
    merges = [*made.values()]
    if rng.random() < 0.5:
        rng.shuffle(merges)
    return merges


def drawn_strings(rng: random.Random, often: Sequence[str], made: Sequence[str]) -> list[str]:
    """Tokens that no merge makes."""
    strings = {"".join(rng.choices(often, k=2)) for _ in range(4)}
    return sorted(strings.difference(made))


def ways(token: str, known: set[str]) -> int:
    """How many pairs of tokens make a token."""
    return sum({token[:k], token[k:]} <= known for k in range(1, len(token)))


def merges_facts(
    tokens: Mapping[str, int],
    merges: Iterable[tuple[str, str]],
    atoms_of: Callable[[str], list[int]],
    letters: str = "",
    whole_piece: bool = False,
) -> str:
    numbers = listed(f"({ord(c)}%N, {256 + i})" for i, c in enumerate(letters))
    words = "; ".join(f"({written(atoms_of(t))}, {i})" for t, i in tokens.items())
    pairs = "; ".join(f"({written(atoms_of(u))}, {written(atoms_of(v))})" for u, v in merges)
    return (
        f"Merges {{| letters := {numbers}; vocabulary_of := V [{words}]%N; "
        f"merges := M [{pairs}]%N; whole_piece := {truth(whole_piece)} |}}"
    )


def written(row: Iterable[int]) -> str:
    return f"[{'; '.join(map(str, row))}]"


BYTE_OF = byte_alphabet()
USED = {*letters_of(KNOWN.encode())}
OFTEN = [*letters_of(b"ab1. '\nA")]


def text_of(string: str) -> str:
    """The characters of a byte-level string, but for those that Coq does not know."""
    text = bytes(bytes_of(string)).decode(errors="ignore")
    return "".join(char for char in text if char in KNOWN)


def drawn_bytes(rng: random.Random) -> Model:
    """Byte-level BPE."""
    merges = drawn_merges(rng, [*OFTEN, *rng.sample(sorted(USED), 2)])
    made = ["".join(pair) for pair in merges]
    made += drawn_strings(rng, OFTEN, made)
    vocabulary = {token: id_ for id_, token in enumerate([*BYTE_OF, *made])}
    whole = rng.random() < 0.4
    used = {t: i for t, i in vocabulary.items() if USED.issuperset(t)}
    return Model(
        models.BPE(vocabulary, merges, ignore_merges=whole),
        merges_facts(used, merges, bytes_of, whole_piece=whole),
        [text_of(token) for token in made],
    )


def drawn_letters(rng: random.Random) -> Model:
    """BPE over characters with byte fallback."""
    letters = "".join(sorted(["a", MARK, *rng.sample("bA1. \u00e9\u4e2d_\n", 6)]))
    merges = drawn_merges(rng, letters)
    made = ["".join(pair) for pair in merges]
    names = {f"<0x{byte:02X}>": [byte] for byte in sorted({*KNOWN.encode()})}
    vocabulary = {token: id_ for id_, token in enumerate([*names, *letters, *made])}

    def atoms_of(token: str) -> list[int]:
        return names.get(token) or [256 + letters.index(char) for char in token]

    return Model(
        models.BPE(vocabulary, merges, byte_fallback=True),
        merges_facts(vocabulary, merges, atoms_of, letters),
        made,
    )


def drawn_words(rng: random.Random) -> Model:
    """WordPiece: with tokens for most characters, so that pieces show in the ids, or for few."""
    every = [f"{front}{char}" for char in KNOWN for front in ("", "##")]
    few = {
        rng.choice(["", "##"]) + "".join(rng.choices("aaabb1\u00e9e\u4e2d.", k=rng.randint(1, 3)))
        for _ in range(rng.randint(4, 14))
    }
    strings = sorted({*few, *(every if rng.random() < 0.7 else [])} - {*rng.sample(every, 3)})
    vocabulary = {token: id_ for id_, token in enumerate(["[UNK]", *strings])}
    limit = rng.choice([100, 100, 3, 5])
    tokens = listed(f"({points(token)}, {id_}%N)" for token, id_ in vocabulary.items())
    return Model(
        models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=limit),
        f"Longest {tokens} {points('##')} {limit} 0%N",
        [token.removeprefix("##") for token in sorted(few)],
    )


def unigram_facts(
    pieces: Iterable[tuple[str, float]], unknown: int | None, byte_fallback: bool
) -> str:
    """The record of Unigram.v, with the engine's scores."""
    rows = [*pieces]
    entries = listed(f"({points(piece)}, ({score.hex()})%float)" for piece, score in rows)
    least = min(score for _, score in rows) - 10.0
    missing = "None" if unknown is None else f"Some ({unknown}%N, ({least.hex()})%float)"
    return (
        f"{{| entries := {entries}; unknown := {missing}; start_sum := 0%float; "
        f"byte_fallback := {truth(byte_fallback)} |}}"
    )


def drawn_unigram(rng: random.Random) -> Model:
    few = [MARK, *rng.sample("aabb1. \u00e9\u4e2d_", 4)]
    strings = {"".join(rng.choices(few, k=rng.choice([1, 1, 2, 2, 3, 4]))) for _ in range(20)}
    scores = rng.choice([(-1.0, -2.0, -3.0), (-1.1, -0.7, -1.7, -3.3, -2.2, -rng.random())])
    pieces = [(piece, rng.choice(scores)) for piece in ["<unk>", *sorted(strings)]]
    return Model(
        models.Unigram(pieces, unk_id=0, byte_fallback=False),
        f"AnyModel (unigram_ids PrimFloat.add PrimFloat.ltb {unigram_facts(pieces, 0, False)})",
        sorted(strings),
    )


def drawn_word_level(rng: random.Random) -> Model:
    strings = {"".join(rng.choices(f"aab1. {MARK}", k=rng.randint(1, 3))) for _ in range(25)}
    vocabulary = {token: id_ for id_, token in enumerate(["[UNK]", *sorted(strings)])}
    tokens = listed(f"({points(token)}, {id_}%N)" for token, id_ in vocabulary.items())
    engine = models.WordLevel(vocabulary, unk_token="[UNK]")
    return Model(engine, f"AnyModel (word_level {tokens} 0%N)", sorted(strings))


# ------------------------------------------------------------------------------ tokenizers

MODELS = {
    "bytes": drawn_bytes,
    "letters": drawn_letters,
    "words": drawn_words,
    "unigram": drawn_unigram,
    "word level": drawn_word_level,
}
KINDS = ("bytes", "words", "letters", "words", "tiktoken")


def drawn_worlds(seed: str, kinds: Sequence[str] = KINDS) -> Iterator[World]:
    """Worlds without end, one kind after the other."""
    rng = random.Random(seed)
    while True:
        for kind in kinds:
            if kind == "tiktoken":
                yield drawn_tiktoken(rng)
            elif kind == "precompiled":
                yield drawn_tokenizer(rng, "unigram", [drawn_precompiled(rng)])
            else:
                yield drawn_tokenizer(rng, kind)


def drawn_tokenizer(rng: random.Random, kind: str, first: Sequence[Stage] = ()) -> World:
    """A tokenizer of Hugging Face: normalizer, pre-tokenizer and model are drawn one by one.

    `first`: stages of the normalizer before those that are drawn."""
    model, pre = MODELS[kind](rng), drawn_pretokenizer(rng)
    stages = [*first, *(drawn_stage(rng) for _ in range(rng.choice([0, 1, 2, 3, 3])))]
    engine, parts = Tokenizer(model.engine), [*pre.parts]
    if kind == "bytes":
        parts.append(pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False))
        if rng.random() < 0.2:
            pre = with_space_in_front()
            parts = [pre_tokenizers.ByteLevel(add_prefix_space=True, use_regex=True)]
    if parts:
        engine.pre_tokenizer = parts[0] if len(parts) == 1 else pre_tokenizers.Sequence(parts)
    if stages:
        engine.normalizer = normalizers.Sequence([stage for stage, _, _ in stages])
    chosen = drawn_tokens(rng, engine)
    normalizer, splits = [coq for _, coq, _ in stages], listed(pre.splits)
    facts = Facts(model.coq, normalizer, pre.signs, splits, pre.symbols, *chosen.facts)
    parts_of_texts = (
        LETTERS,
        pre.texts,
        model.texts,
        "".join(chars for *_, chars in stages),
        chosen.contents,
    )
    return World(ids_or_panic(engine), facts.coq(), parts_of_texts)


def with_space_in_front() -> PreTokenizer:
    """ByteLevel of GPT-2 with `add_prefix_space`."""
    row = of_patterns([GPT2], "oniguruma")
    assert row is not None
    return PreTokenizer((), ["Sign 32%N false"], row.splits, row.symbols)


@dataclass(frozen=True)
class AddedTokens:
    engine: Tokenizer
    tokens: Sequence[AddedToken]

    @property
    def contents(self) -> list[str]:
        return [token.content for token in self.tokens]

    @cached_property
    def facts(self) -> list[Iterable[str]]:
        """Those that are searched in the text, and those that are searched in normalized text: of
        several with the same content the first."""
        rows: list[dict[str, str]] = [{}, {}]
        for token in self.tokens:
            content = token.content
            if token.normalized and self.engine.normalizer is not None:
                content = self.engine.normalizer.normalize_str(content)
            skipped = token.special and self.engine.encode_special_tokens
            flags = {name: getattr(token, name) for name in FLAGS}
            id_ = self.engine.token_to_id(token.content)
            assert id_ is not None
            fact = token_facts(content, id_, skipped=skipped, **flags)
            rows[token.normalized].setdefault(content, fact)
        return [row.values() for row in rows]


def drawn_tokens(
    rng: random.Random,
    engine: Tokenizer,
    most: int = 3,
    normalized: float = 0.3,
    flagged: float = 0.2,
) -> AddedTokens:
    """Some added tokens, which the engine gets. `normalized`, `flagged`: how many are searched in
    normalized text, and how many have each flag."""
    normal = engine.normalizer
    tokens = [
        AddedToken(
            content,
            # the engine would search for nothing if its normalizer left nothing of a token
            normalized=rng.random() < normalized
            and bool(not normal or normal.normalize_str(content)),
            special=rng.random() < 0.3,
            **{flag: rng.random() < flagged for flag in FLAGS},
        )
        for content in rng.sample(CONTENTS, min(most, rng.choice([0, 1, 1, 2, 3])))
    ]
    for token in tokens:
        engine.add_tokens([token])
    engine.encode_special_tokens = rng.random() < flagged
    return AddedTokens(engine, tokens)


def ids_or_panic(engine: Tokenizer) -> Callable[[str], list[int]]:
    def encode(text: str) -> list[int]:
        try:
            return [*engine.encode(text, add_special_tokens=False).ids]
        except BaseException as error:  # a panic is no Exception
            if type(error).__name__ != "PanicException":
                raise
            raise PanicError from None

    return encode


def drawn_tiktoken(rng: random.Random) -> World:
    """tiktoken: merges by the rank of their bytes, whole pieces, special tokens."""
    row = None
    while row is None:
        pattern, texts = drawn_pattern(rng)
        row = of_patterns([pattern], "fancy-regex")
    # one way to make each token: Coq orders pairs of strings, tiktoken what they make
    merges = drawn_merges(rng, OFTEN, ambiguous=False)
    made = ["".join(pair) for pair in merges]
    tokens = [*letters_of(bytes(range(256))), *made]
    ranks = {token: rank for rank, token in enumerate(tokens)}
    # of two special tokens that begin at one place, tiktoken takes the first of a hash table
    chosen = rng.sample(["<s>", "a", " a", "</s>", "b1", "\n", "\u4e2d"], rng.choice([0, 1, 2]))
    special = {content: 1000 + i for i, content in enumerate(chosen)}
    engine = tiktoken.Encoding(
        "drawn",
        pat_str=pattern,
        mergeable_ranks={bytes(bytes_of(token)): rank for token, rank in ranks.items()},
        special_tokens=special,
    )
    used = {token: rank for token, rank in ranks.items() if USED.issuperset(token)}
    facts = Facts(
        merges_facts(used, merges, bytes_of, whole_piece=True),
        splits=listed(row.splits),
        symbols=row.symbols,
        raw_tokens=[token_facts(content, id_) for content, id_ in special.items()],
    )

    def encode(text: str) -> list[int]:
        return [*engine.encode(text, allowed_special="all")]

    return World(encode, facts.coq(), (LETTERS, texts, [*map(text_of, made)], chosen))
