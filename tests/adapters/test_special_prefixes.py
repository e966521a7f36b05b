"""Special tokens that begin with one another: tiktoken takes the first of a hash map, so that no
other engine can be said to give the same ids."""

from __future__ import annotations

from pathlib import Path

import pytest
import tiktoken
from hypothesis import assume, example, given
from hypothesis import strategies as st
from tokpar_pure.formats import rank_vocabulary, require_none_begins_another
from tokpar_train.save import write_ranks, write_tokenizer_json

import tokpar
from tests.support.paths import VOCAB
from tests.support.special_prefixes import BOTH, NAMED
from tokpar.errors import OptionError
from tokpar.formats.openai import KNOWN_ENCODINGS

pytestmark = pytest.mark.compiled_at_once

FILE = VOCAB / "cl100k_part.tiktoken"
PATTERN = KNOWN_ENCODINGS["cl100k_base"].pattern
BYTES = {bytes([byte]): byte for byte in range(256)}


def test_the_pure_engine_does_not_read_such_special_tokens() -> None:
    with pytest.raises(OptionError, match=NAMED):
        tokpar.load(FILE, engine="pure", pat_str=PATTERN, special_tokens=BOTH)
    one = {content: id_ for content, id_ in BOTH.items() if content != "<a>"}
    adapter = tokpar.load(FILE, engine="pure", pat_str=PATTERN, special_tokens=one)
    assert 300_001 in adapter.encode("a<a>b")


def test_no_ranks_are_written_for_such_special_tokens(tmp_path: Path) -> None:
    trained = tokpar.train(["a b a b a b"], vocab_size=260, special_tokens=["<a>", "<a>b"])
    with pytest.raises(OptionError, match=NAMED):
        write_ranks(trained, tmp_path / "mine.tiktoken", covering=True)
    assert not list(tmp_path.iterdir())
    write_tokenizer_json(trained, tmp_path / "mine.json")  # there it is the longest, always
    ids = {token.content: token.id for token in trained.added}
    for engine in ("huggingface", "pure"):
        assert tokpar.load(tmp_path / "mine.json", engine=engine).encode("<a>b") == [ids["<a>b"]]


@given(specials=st.sets(st.text("<a>", min_size=1, max_size=3), min_size=1, max_size=5))
@example(specials={"<", "<a", "<a>", "a"})
def test_refused_are_those_that_begin_another_and_no_others(specials: set[str]) -> None:
    begun = any(long != short and long.startswith(short) for long in specials for short in specials)
    if begun:
        with pytest.raises(OptionError, match="begins with"):
            require_none_begins_another(specials)
    else:
        require_none_begins_another(specials)


@given(
    specials=st.sets(st.text("<a>", min_size=1, max_size=3), min_size=1, max_size=5),
    text=st.text("<a> ", max_size=20),
)
def test_those_that_are_left_are_found_as_tiktoken_finds_them(
    specials: set[str], text: str
) -> None:
    ids = {content: 300 + k for k, content in enumerate(sorted(specials))}
    try:
        vocabulary = rank_vocabulary("drawn", BYTES, PATTERN, ids)
    except OptionError:
        assume(False)
    encoding = tiktoken.Encoding(
        "drawn", pat_str=PATTERN, mergeable_ranks=BYTES, special_tokens=ids
    )
    expected = encoding.encode(text, allowed_special="all")
    assert tokpar.load(vocabulary, engine="pure").encode(text).tolist() == expected
