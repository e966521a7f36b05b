"""The trainer against Hugging Face's, against plain counting, and on what it must refuse."""

from __future__ import annotations

import functools
import itertools
import json
import os
import re
import signal
import sysconfig
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokpar_train import trainer
from tokpar_train.corpus import Boundaries, Job
from tokpar_train.merges import TIES, Limits, Ties, learn_merges
from tokpar_train.save import compact_json, write_ranks, write_tokenizer_json
from tokpar_train.trainer import PreTokenCounter

import tokpar
from tests.support.profiles import cases
from tokpar.executors.pipes import WorkerProcess
from tokpar.formats.vocabulary import Vocabulary, byte_alphabet
from tokpar.patterns import shipped_patterns as known
from tokpar.patterns.known_pattern import shipped_pattern

tokenizers = pytest.importorskip("tokenizers")

END = "<|endoftext|>"
PLAIN_IDS = list(range(256))
STDLIB = Path(sysconfig.get_path("stdlib"))


# oracles


def hugging_face(texts: Sequence[str], pattern: str, **settings: Any) -> Any:
    """A `tokenizers.Tokenizer` trained on these texts."""
    pre = tokenizers.pre_tokenizers
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    split = pre.Split(tokenizers.Regex(pattern), "isolated")
    tokenizer.pre_tokenizer = pre.Sequence(
        [split, pre.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    alphabet = pre.ByteLevel.alphabet()
    trainer = tokenizers.trainers.BpeTrainer(
        initial_alphabet=alphabet, show_progress=False, **settings
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def merges_of(tokenizer: Any) -> list[tuple[int, int]]:
    model = json.loads(tokenizer.to_str())["model"]
    return [(model["vocab"][left], model["vocab"][right]) for left, right in model["merges"]]


def listed(vocabulary: Vocabulary) -> list[tuple[int, int]]:
    return sorted(vocabulary.merges, key=lambda pair: vocabulary.merges[pair][0])


def merges_by_counting(words: Mapping[bytes, int], limits: Limits, ties: Ties) -> list[Any]:
    """All pairs are counted again before each merge; overlapping ones count."""
    spelling = {byte: bytes([byte]) for byte in range(256)}
    parts = {word: list(word) for word in words}
    merges: list[tuple[int, int]] = []
    while len(merges) < limits.merges:
        counts: Counter[tuple[int, int]] = Counter()
        for word, ids in parts.items():
            for left, right in itertools.pairwise(ids):
                together = len(spelling[left]) + len(spelling[right])
                if together == 2 or limits.length is None or together < limits.length:
                    counts[left, right] += words[word]
        if not counts or max(counts.values()) < limits.least_count:
            break
        most = [pair for pair, count in counts.items() if count == max(counts.values())]
        best = min(most)
        if ties == "lexicographic":
            best = max(most, key=lambda pair: (spelling[pair[0]], spelling[pair[1]]))
        new = 256 + len(merges)
        spelling[new] = spelling[best[0]] + spelling[best[1]]
        parts = {word: replaced(ids, best, new) for word, ids in parts.items()}
        merges.append(best)
    return merges


def replaced(ids: list[int], pair: tuple[int, int], new: int) -> list[int]:
    found, i = [], 0
    while i < len(ids):
        here = tuple(ids[i : i + 2]) == pair
        found.append(new if here else ids[i])
        i += 2 if here else 1
    return found


# merges

letters = st.sampled_from(["a", "ab", "abc"]).flatmap(
    lambda some: st.text(st.sampled_from(some), min_size=1, max_size=40)
)
word_counts = st.dictionaries(letters, st.integers(1, 5), max_size=25)
limits = st.builds(
    Limits,
    merges=st.integers(0, 60),
    least_count=st.integers(1, 4),
    length=st.none() | st.integers(1, 12),
)


@given(word_counts, limits)
@example({"a" * 80: 1}, Limits(60))
@example({"abababab": 2, "aab": 2}, Limits(9, 1, 5))
@example({"a" * n: 1 for n in range(1, 60)}, Limits(60, 1, 7))
def test_merges_of_random_words_are_those_of_hugging_face(
    words: dict[str, int], limits: Limits
) -> None:
    settings: dict[str, Any] = {} if limits.length is None else {"max_token_length": limits.length}
    texts = ["".join(f"{word} " * count) for word, count in words.items()]
    theirs = hugging_face(
        texts,
        "[^ ]+| ",
        vocab_size=256 + limits.merges,
        min_frequency=limits.least_count,
        **settings,
    )
    byte_ids = [0] * 256
    for id_, (_, byte) in enumerate(sorted(byte_alphabet().items())):
        byte_ids[byte] = id_
    encoded = {word.encode(): count for word, count in words.items()}
    assert learn_merges(encoded, byte_ids, limits, "huggingface") == merges_of(theirs)


@pytest.mark.parametrize("ties", TIES)
@given(words=word_counts, limits=limits)
@example(words={"aaaaaaa": 1, "aaaa": 3}, limits=Limits(9))
@example(words={"ab": 1, "b": 1, "ba": 1, "bab": 1}, limits=Limits(9))
def test_merges_of_random_words_are_those_of_counting_again(
    ties: Ties, words: dict[str, int], limits: Limits
) -> None:
    encoded = {word.encode(): count for word, count in words.items()}
    expected = merges_by_counting(encoded, limits, ties)
    assert learn_merges(encoded, PLAIN_IDS, limits, ties) == expected


# real corpora


def python_sources() -> list[str]:
    """Modules of the standard library."""
    return [path.read_text(encoding="utf-8") for path in sorted(STDLIB.glob("[a-l]*.py"))]


def english_prose() -> list[str]:
    """The help topics of the interpreter, and the documentation of this project."""
    from pydoc_data.topics import topics

    pages = sorted(Path(__file__).parents[3].glob("docs/*.md"))
    return [*topics.values(), *(page.read_text(encoding="utf-8") for page in pages)]


CORPORA: tuple[Callable[[], list[str]], ...] = (
    python_sources,
    english_prose,
)


@functools.cache
def beginning(corpus: Callable[[], list[str]]) -> tuple[str, ...]:
    """Whole texts of together about 600,000 code points."""
    sizes = itertools.accumulate(len(text) for text in corpus())
    return tuple(text for text, size in zip(corpus(), sizes, strict=True) if size < 600_000)


@pytest.mark.parametrize("vocab_size", cases([1000, 8000], [8000]))
@pytest.mark.parametrize("corpus", CORPORA, ids=lambda corpus: corpus.__name__)
def test_real_text_gives_the_tokenizer_of_hugging_face(
    corpus: Callable[[], list[str]], vocab_size: int, tmp_path: Path
) -> None:
    texts = beginning(corpus)
    assert sum(map(len, texts)) > 150_000
    parts = [part for text in texts for part in text.split(END)]  # HF would count the token's parts
    ours = tokpar.train(texts, vocab_size=vocab_size, special_tokens=[END], min_frequency=0)
    theirs = hugging_face(parts, known.CL100K, vocab_size=vocab_size, special_tokens=[END])
    assert listed(ours) == merges_of(theirs)
    assert len(ours.merges) == vocab_size - 257
    assert_loaded_alike(ours, theirs, "".join(texts)[:200_000], tmp_path)


def assert_loaded_alike(vocabulary: Vocabulary, theirs: Any, text: str, directory: Path) -> None:
    """The written files give the ids of `theirs` in tokpar, Hugging Face and tiktoken."""
    import tiktoken
    from tiktoken.load import load_tiktoken_bpe

    text = f"{text}{END} one more"
    expected = theirs.encode(text).ids
    json_file, ranks_file = directory / "t.json", directory / "t.tiktoken"
    write_tokenizer_json(vocabulary, json_file, compact=True)
    settings = write_ranks(vocabulary, ranks_file, covering=True)
    encoding = tiktoken.Encoding(
        "t", mergeable_ranks=load_tiktoken_bpe(str(ranks_file)), **settings
    )
    assert tokpar.load(vocabulary, engine="pure").encode(text).tolist() == expected
    assert tokpar.encode(text, json_file).ids.tolist() == expected
    assert tokenizers.Tokenizer.from_file(str(json_file)).encode(text).ids == expected
    of_ranks = tokpar.load(ranks_file, allowed_special="all", **settings)
    assert of_ranks.encode(text).tolist() == expected
    assert encoding.encode(text, allowed_special="all") == expected


@pytest.mark.parametrize("name", ["llama3", "gpt2", "qwen2", "o200k", "tekken"])
def test_a_named_pattern_is_that_of_hugging_face(name: str) -> None:
    texts = beginning(english_prose)[:20]
    ours = tokpar.train(texts, vocab_size=700, pattern=name, special_tokens=())
    [pattern] = ours.patterns
    theirs = hugging_face(texts, pattern, vocab_size=700, min_frequency=2)
    assert listed(ours) == merges_of(theirs)


# workers


@pytest.fixture(scope="module")
def large_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six megabytes of sources, without any special token."""
    path = tmp_path_factory.mktemp("corpus") / "large.txt"
    sources = (file.read_bytes() for file in sorted(STDLIB.rglob("*.py")))
    with path.open("wb") as file:
        for source in sources:
            if is_utf8(source) and b"<|" not in source:
                file.write(source)
            if file.tell() > 6_000_000:
                return path
    raise AssertionError("the standard library is smaller than it was")


def is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


@pytest.mark.parametrize(
    "special",
    cases([False, True], [True]),
    ids=lambda special: "special tokens" if special else "certified cuts",
)
def test_one_two_and_five_workers_give_the_same_bytes(
    large_file: Path, tmp_path: Path, special: bool
) -> None:
    path = large_file
    if special:
        path = tmp_path / "divided.txt"
        path.write_bytes(large_file.read_bytes().replace(b"\nclass ", f"{END}\nclass ".encode()))
    trained = [
        compact_json(tokpar.train(path, vocab_size=800, workers=workers))
        for workers in cases([1, 2, 5], [1, 5])
    ]
    assert all(each == trained[0] for each in trained)
    texts = path.read_text(encoding="utf-8").split(END)
    assert compact_json(tokpar.train(texts, vocab_size=800, workers=2)) == trained[0]


class StoppedError(Exception):
    """Raised by a corpus."""


def test_an_error_of_the_corpus_ends_the_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []

    class Recorded(WorkerProcess):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            made.append(self)

    monkeypatch.setattr(trainer, "WorkerProcess", Recorded)

    def texts() -> Iterator[str]:
        for _ in range(6):
            yield "a b " * 400_000
        raise StoppedError

    with pytest.raises(StoppedError):
        tokpar.train(texts(), vocab_size=300, workers=2)
    assert len(made) == 2
    assert all(worker._process.returncode == -signal.SIGKILL for worker in made)


# boundaries


def boundaries(special_tokens: Sequence[str] = (END,), **settings: Any) -> Boundaries:
    found = shipped_pattern("regex", (known.CL100K,))
    assert found is not None
    return Boundaries(special_tokens, found.table.sure_places, **settings)


pieces = st.sampled_from(
    [
        *(" ", "a", "The", "'ll", "12", "1234", "\n", "\r\n", "\t", ".", " \n ", "x" * 40),
        *("é", "中文", "👍🏽", "<a>", "a><", "><a", "<ab>", "<", ">", "¡<é"),
    ]
)
corpus_texts = st.lists(pieces, max_size=60).map("".join)
SPECIAL = ("<a>", "a><", "><a", "<ab>", "¡<é>", "中文")


def counted(slices: Sequence[str], special_tokens: Sequence[str]) -> Counter[str]:
    counter = PreTokenCounter(known.CL100K, special_tokens)
    counter.count(Job(tuple(part.encode() for part in slices), 0))
    return counter.counts


def assert_dividing_changes_no_count(
    text: str, job_bytes: int, special_tokens: Sequence[str]
) -> None:
    data = text.encode()
    divider = boundaries(special_tokens, job_bytes=job_bytes)
    parts = divider.divide(lambda start, stop: data[start:stop], len(data))
    divided = [data[start:stop].decode() for start, stop in parts]
    assert "".join(divided) == text
    assert counted(divided, special_tokens) == counted([text], special_tokens)


@given(
    corpus_texts,
    st.integers(1, 30),
    st.lists(st.sampled_from(SPECIAL), unique=True),
)
@example("<a><a" * 8, 3, ["<a>", "a><", "><a"])
@example("中文" * 10, 2, ["中文"])
@example("1234567890 " * 9, 4, [])
def test_dividing_a_text_changes_no_count(
    text: str, job_bytes: int, special_tokens: list[str]
) -> None:
    assert_dividing_changes_no_count(text, job_bytes, special_tokens)


@pytest.mark.parametrize("job_bytes", range(1, 40))
def test_no_place_divides_a_character_a_special_token_or_a_pre_token(job_bytes: int) -> None:
    assert_dividing_changes_no_count("中文é the end, 12345\n\n  👍🏽 of it " * 9, job_bytes, [])
    assert_dividing_changes_no_count("word <a>< " * 20, job_bytes, ["<a>", "a><"])
    assert_dividing_changes_no_count("中文 中文 ", job_bytes, ["文 中"])


# special tokens and texts


def test_special_tokens_divide_texts_and_are_not_counted() -> None:
    divided = tokpar.train([f"ab{END}ab{END}"] * 3, vocab_size=300)
    apart = tokpar.train(["ab", "ab"] * 3, vocab_size=300)
    assert compact_json(divided) == compact_json(apart)
    assert listed(divided) == [(apart.tokens[b"a"], apart.tokens[b"b"])]
    assert [token.content for token in divided.added] == [END]


def test_special_tokens_come_first_then_the_bytes_then_the_merges() -> None:
    vocabulary = tokpar.train(["abab " * 9], vocab_size=260, special_tokens=["<x>", "<y>"])
    assert [(token.content, token.id) for token in vocabulary.added] == [("<x>", 0), ("<y>", 1)]
    by_id = sorted(vocabulary.tokens, key=lambda token: vocabulary.tokens[token])
    assert [vocabulary.tokens[token] for token in by_id] == list(range(2, 260))
    assert by_id[0] == b"!"
    assert by_id[256:] == [b"ab", b"abab"]


# refused


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"vocab_size": 256}, "vocab_size must be at least 257 (256 bytes and 1 special"),
        ({"special_tokens": ["<x>", "<x>"]}, "'<x>' is given twice"),
        ({"special_tokens": ["x"]}, "special token 'x': expected at least two characters"),
        ({"special_tokens": [""]}, "special token '': expected at least two characters"),
        ({"special_tokens": ["Ġthe"]}, "special token 'Ġthe': a tokenizer.json would take it"),
        ({"special_tokens": "<x>"}, "pass ['<x>']"),
        ({"ties": "random"}, "ties must be one of huggingface, lexicographic, got 'random'"),
        ({"min_frequency": -1}, "min_frequency must be at least 0, got -1"),
        ({"max_token_length": 0}, "max_token_length must be at least 1 or None, got 0"),
        ({"workers": 0}, "workers must be at least 1, got 0"),
        ({"pattern": r"\w+"}, "pass another regex or a name: llama3, gpt2"),
        ({"pattern": "("}, "pass another regex or a name: llama3, gpt2"),
    ],
)
def test_settings_that_cannot_be_used_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(tokpar.OptionError, match=re.escape(message)):
        tokpar.train(["text"], **({"vocab_size": 300} | settings))


def test_a_corpus_is_refused_that_is_one_str_or_holds_something_else(tmp_path: Path) -> None:
    with pytest.raises(tokpar.OptionError, match=r"pass \[text\], or a pathlib\.Path"):
        tokpar.train("corpus.txt", vocab_size=300)
    with pytest.raises(tokpar.OptionError, match="item 1 is of type int"):
        tokpar.train(["a", 1], vocab_size=300)  # type: ignore[list-item]
    with pytest.raises(tokpar.OptionError, match="text 1 of the corpus has a lone surrogate at"):
        tokpar.train(["a", "b\ud800"], vocab_size=300)
    with pytest.raises(FileNotFoundError):
        tokpar.train([tmp_path / "missing.txt"], vocab_size=300)


@pytest.mark.parametrize(("workers", "place"), [(1, 0), (2, 3_000_000), (1, 5_999_999)])
def test_a_file_that_is_not_utf8_is_named_with_the_place(
    large_file: Path, tmp_path: Path, place: int, workers: int
) -> None:
    data = bytearray(large_file.read_bytes())
    data[place] = 0xFF
    bad = tmp_path / "bad.txt"
    bad.write_bytes(data)
    expected = f"{bad}: expected UTF-8 text, byte {place:,} is 0xff (invalid start byte)"
    with pytest.raises(tokpar.FileFormatError, match=re.escape(expected)):
        tokpar.train(bad, vocab_size=300, workers=workers)


def test_an_interrupted_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.json"
    path.write_text("old", encoding="utf-8")
    vocabulary = tokpar.train(["ab"], vocab_size=257)

    def interrupted(source: object, target: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_tokenizer_json(vocabulary, path)
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]
