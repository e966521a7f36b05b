"""Patterns and vocabulary files: what is read as the engines read it, and what is refused."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest
import tiktoken
from hypothesis import example, given
from hypothesis import strategies as st
from tiktoken.load import load_tiktoken_bpe
from tokenizers import Regex, Tokenizer, pre_tokenizers
from tokpar_pure.adapter import PureTokenizer
from tokpar_pure.added_tokens import AddedTokens
from tokpar_pure.formats import read_tokenizer_json
from tokpar_pure.patterns import Engine, compile_pattern, flatten_sets
from tokpar_pure.pretokenize import PreTokenizer

import tokpar
from tests.support.profiles import divided
from tokpar.errors import FileFormatError
from tokpar.formats.formats import read_ranks
from tokpar.formats.vocabulary import byte_alphabet
from tokpar.patterns.charclass_members import match_chars
from tokpar.types import AddedToken

BYTES = {bytes([byte]): byte for byte in range(256)}


# Pre-tokenizer


def test_gaps_are_dropped_as_tiktoken_drops_them() -> None:
    native = tiktoken.Encoding("gaps", pat_str="[a-z]+", mergeable_ranks=BYTES, special_tokens={})
    pieces = PreTokenizer(["[a-z]+"], "fancy-regex", keep_gaps=False).split("ab CD e")
    assert list("".join(pieces).encode()) == native.encode("ab CD e")


@pytest.mark.parametrize(
    "pattern",
    [
        "^a", "a$", r"\bfoo", r"\w+", "(?<=a)b", "(?P<n>a)", "[a&&b]", "[[:alpha:]]", r"\d",
        "(?i)a", "(?i:strasse)", r"\p{Alphabetic}", r"\x41", "a{,3}", "[]a]", r"\k<a>", "a(?#b)",
    ],
)  # fmt: skip
@pytest.mark.parametrize("engine", ["oniguruma", "fancy-regex"])
def test_a_pattern_that_engines_read_in_different_ways_is_refused(
    pattern: str, engine: Any
) -> None:
    with pytest.raises(FileFormatError, match="regex engines"):
        compile_pattern(pattern, engine)


IN_SETS = ("a", "b-d", "B-Z", r"\s", r"\p{L}", r"\p{Nd}", *"()|.,^&~:!", r"\]", r"\[", r"\-", "中")
members_of_sets = st.lists(st.sampled_from(IN_SETS), min_size=1, max_size=3).map("".join)
sets_in_sets = st.tuples(
    st.sampled_from(("", "^")),
    st.lists(members_of_sets | members_of_sets.map("[{}]".format), min_size=1, max_size=3),
).map(lambda parts: f"[{parts[0]}{''.join(parts[1])}]")
SAMPLE = "".join(map(chr, range(0x09, 0x7F))) + "\u00a0é²中。，…\U0001f600"


@given(sets_in_sets)
@example(r"[^(\s|[.,!?…。，、।۔،])]")
@example("[a&[&b]]")
@example("[^^[.]]")
@example("[[~]~[~]]")
def test_sets_in_sets_hold_what_they_hold_for_the_engines(source: str) -> None:
    for engine in get_args(Engine):
        try:
            compiled = compile_pattern(source, engine)
        except FileFormatError:
            continue
        ours = [compiled.fullmatch(char) is not None for char in SAMPLE]
        assert ours == match_chars(source, engine, SAMPLE).tolist()
        assert ours == match_chars(flatten_sets(source), "regex", SAMPLE).tolist()


@pytest.mark.parametrize(
    "source", ["[a-[b]]", "[[a]-z]", "[[a-]b]", "[a[^b]]", "[a[b[c]]]", "[a[]b]]", "[[a]&&b]"]
)
def test_a_set_in_a_set_that_may_be_the_end_of_a_range_or_more_is_refused(source: str) -> None:
    for engine in get_args(Engine):
        with pytest.raises(FileFormatError, match="regex engines"):
            compile_pattern(source, engine)


def test_a_possessive_interval_is_refused_where_it_repeats_a_group() -> None:
    assert compile_pattern(r"\p{N}{1,3}+", "fancy-regex").findall("1234") == ["123", "4"]
    assert pre_tokenizers.Split(Regex(r"\p{N}{1,3}+"), "isolated").pre_tokenize_str("1234") == [
        ("1234", (0, 4))
    ]
    with pytest.raises(FileFormatError, match=r"\{1,3\}\+"):
        compile_pattern(r"\p{N}{1,3}+", "oniguruma")


def test_of_added_tokens_the_longest_wins_and_raw_ones_come_first() -> None:
    tokens = [AddedToken("<a>", 1), AddedToken("<a><b>", 2), AddedToken("b><", 3, normalized=True)]
    assert AddedTokens(tokens).segments("x<a><b><a>b><") == ["x", 2, 1, 3]
    assert AddedTokens(tokens).segments("<b><") == ["<", 3]
    assert AddedTokens([]).segments("<a>") == ["<a>"]
    assert AddedTokens(tokens).segments("") == []


# .tiktoken files


def lines_of(ranks: dict[bytes, int]) -> list[bytes]:
    return [base64.b64encode(token) + b" %d" % rank for token, rank in ranks.items()]


@pytest.fixture
def rank_file(tmp_path: Path) -> Callable[[list[bytes]], Path]:
    def write(lines: list[bytes]) -> Path:
        path = tmp_path / "some.tiktoken"
        path.write_bytes(b"\n".join(lines) + b"\n")
        return path

    return write


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"YWI= a", "line 257: expected a base64 token"),
        (b"YWI 300", "line 257: expected a base64 token"),
        (b"YWI=", "line 257: expected a base64 token"),
        (b"YWI= 300 1", "line 257: expected a base64 token"),
        (b"YWI= -1", "line 257: rank -1 does not fit"),
        (b"\xff\xfe\x00 3", "line 257: rank 3 is already that of line 4"),
        (b"YWI= 4294967296", "does not fit"),
        (b"YWI= 7", "line 257: rank 7 is already that of line 8"),
    ],
)
def test_a_corrupt_line_is_named(
    rank_file: Callable[[list[bytes]], Path], line: bytes, message: str
) -> None:
    path = rank_file([*lines_of(BYTES), line])
    with pytest.raises(FileFormatError, match=message) as caught:
        read_ranks(path)
    assert str(path) in str(caught.value)


BASE64 = ("=", "==", "====", "YWI=", "YWI", "YQ==", "Y!WI=", "%%%", "YmE=", "4pyT", "IGE=")
odd_lines = st.lists(
    st.tuples(
        st.sampled_from(BASE64),
        st.sampled_from((" ", "  ", "\t", "\x0b")),
        st.integers(256, 400).map(str) | st.sampled_from(("+300", "3_01", "007", "x", "-1", "")),
    ).map("".join)
    | st.sampled_from(("", " ", "=")),
    max_size=6,
)
PATTERN = r"\s+|\S+"


@pytest.mark.ids
@divided(6)
@given(lines=odd_lines, end=st.sampled_from(("\n", "\r\n")), text=st.text("ab ✓=\n", max_size=40))
@example(["YWI= 256", "= 257"], "\n", "ab = ab")
@example(["== 256", "YWI= 256"], "\n", "ab")
@example(["YQ== 300", "YWI= 97"], "\n", "ab a")
@example(["Y!WI= 256"], "\r\n", "ab a")
def test_a_rank_file_is_read_as_the_loader_of_tiktoken_reads_it(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], end: str, text: str
) -> None:
    path = tmp_path_factory.mktemp("ranks") / "some.tiktoken"
    path.write_bytes(end.join([*map(bytes.decode, lines_of(BYTES)), *lines, ""]).encode())
    try:
        expected = load_tiktoken_bpe(str(path))
        if len(set(expected.values())) < len(expected) or min(expected.values()) < 0:
            raise ValueError("tiktoken makes no encoding of it")
    except ValueError:
        with pytest.raises(FileFormatError, match=re.escape(f"{path}, line ")):
            read_ranks(path)
        return
    assert read_ranks(path) == expected
    own = tiktoken.Encoding("a", pat_str=PATTERN, mergeable_ranks=expected, special_tokens={})
    ids = own.encode(text, disallowed_special=())
    for engine in (None, "pure"):
        ours = tokpar.load(path, engine=engine, pat_str=PATTERN, special_tokens={})
        assert ours.encode_whole(text).tolist() == ids
        assert ours.decode(ids) == text
        encoding = tokpar.Encoder(ours, strategy="cut", workers=2, chunk_chars=5).encode(text)
        assert encoding.ids.tolist() == ids
        assert tokpar.check(encoding, text, ours).findings == ()


def test_bytes_that_utf8_does_not_have_may_be_missing(
    rank_file: Callable[[list[bytes]], Path],
) -> None:
    never = {*range(256)} - {
        *"".join(map(chr, [*range(0xD800), *range(0xE000, 0x110000)])).encode()
    }
    lines = [line for byte, line in enumerate(lines_of(BYTES)) if byte not in never]
    assert len(read_ranks(rank_file(lines))) == 256 - len(never) == 243


# tokenizer.json

SPLIT = {"type": "Split", "pattern": {"Regex": "a"}, "behavior": "Isolated", "invert": False}
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}
BYTE_LEVEL |= {"trim_offsets": False}


def valid_json() -> dict[str, Any]:
    vocab = {char: i for i, char in enumerate([*byte_alphabet(), "ab"])}
    return {
        "truncation": None,
        "padding": None,
        "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [SPLIT, BYTE_LEVEL]},
        "post_processor": None,
        "decoder": None,
        "version": "1.0",
        "added_tokens": [{"content": "<s>", "id": 257, "special": True}],
        "model": {"type": "BPE", "vocab": vocab, "merges": ["a b"]},
    }


def written(path: Path, data: object) -> Path:
    path = path / "tokenizer.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def test_a_merge_listed_twice_has_its_last_place_as_in_hf(tmp_path: Path) -> None:
    data = valid_json()
    data["model"]["vocab"] |= {"bc": 257}
    data |= {"added_tokens": []}
    data["model"]["merges"] = ["a b", "b c", "a b"]
    path = written(tmp_path, data)
    native = Tokenizer.from_file(str(path))
    assert PureTokenizer(read_tokenizer_json(path)).encode("bcabc").tolist() == [
        *native.encode("bcabc").ids
    ]


BAD_PARTS: list[tuple[str, dict[str, Any]]] = [
    ("truncation", {"truncation": {"max_length": 8}}),
    ("padding", {"padding": {"strategy": "BatchLongest"}}),
    ("normalizer NFC", {"normalizer": {"type": "NFC"}}),
    ("post_processor TemplateProcessing", {"post_processor": {"type": "TemplateProcessing"}}),
    ("decoder Metaspace", {"decoder": {"type": "Metaspace"}}),
    ("got None", {"pre_tokenizer": None}),
    ("got Whitespace", {"pre_tokenizer": {"type": "Whitespace"}}),
    ("add_prefix_space", {"pre_tokenizer": BYTE_LEVEL | {"add_prefix_space": True}}),
    (
        "Digits",
        {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Digits"}, BYTE_LEVEL]}},
    ),
    (
        "behavior",
        {
            "pre_tokenizer": {
                "type": "Sequence",
                "pretokenizers": [SPLIT | {"behavior": "Removed"}, BYTE_LEVEL],
            }
        },
    ),
    ("flags", {"added_tokens": [{"content": "<s>", "id": 257, "lstrip": True}]}),
    ("id 300, expected 257", {"added_tokens": [{"content": "<s>", "id": 300}]}),
    ("expected content", {"added_tokens": [{"id": 257}]}),
    ("empty or repeated", {"added_tokens": [{"content": "", "id": 257}]}),
    ("expected an object", {"model": None}),
]


@pytest.mark.parametrize(("message", "change"), BAD_PARTS, ids=[m for m, _ in BAD_PARTS])
def test_a_part_that_is_not_supported_is_named(
    tmp_path: Path, message: str, change: dict[str, Any]
) -> None:
    path = written(tmp_path, valid_json() | change)
    with pytest.raises(FileFormatError, match=message) as caught:
        read_tokenizer_json(path)
    assert str(path) in str(caught.value)
