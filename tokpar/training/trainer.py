"""`train`: a byte-level BPE vocabulary learned from files or texts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from tokpar.errors import FileFormatError, OptionError
from tokpar.executors.workers import worker_count
from tokpar.pure.vocabulary import Vocabulary, byte_alphabet, letters_of
from tokpar.training.corpus import Boundaries, jobs_of
from tokpar.training.counting import PreTokenCounter, counted
from tokpar.training.merges import TIES, Limits, Pair, Ties, learn_merges
from tokpar.types import AddedToken

PATTERNS = ("llama3", "gpt2", "qwen2", "o200k", "tekken")
"""Names of patterns; "llama3" is that of the bundled tokenizer."""
END_OF_TEXT = "<|endoftext|>"

CorpusItem = str | os.PathLike[str]
Progress = Callable[[str, int], object]


def train(
    corpus: Iterable[CorpusItem] | os.PathLike[str],
    *,
    vocab_size: int,
    special_tokens: Sequence[str] = (END_OF_TEXT,),
    pattern: str = "llama3",
    ties: Ties = "huggingface",
    min_frequency: int = 2,
    max_token_length: int | None = None,
    workers: int | None = None,
    progress: Progress = lambda stage, done: None,
    name: str = "trained",
) -> Vocabulary:
    """The vocabulary of at most `vocab_size` entries that the corpus gives; `tokpar.load` takes
    it, `tokpar.pure.save.write_tokenizer_json` writes it.

    `corpus`: texts (str) and files (pathlib.Path), each pre-tokenized alone; one path is one file.
    Special tokens in it are left out and divide the text. Ids: special tokens, the 256 bytes in
    the order of their ByteLevel characters, then one per merge. `pattern`: a name of PATTERNS or a
    regex. `ties`, `max_token_length`: see `tokpar.training.merges`. `progress` is told ("count",
    bytes) and ("merge", merges) as they are done. The result is the same for any `workers`.
    Raises OptionError, also for a corpus without text; FileFormatError for a file that is not
    UTF-8, with the place; OSError.
    """
    from tokpar.facts.tables import pair_pattern, recognise

    count = worker_count(workers)
    _check_special_tokens(special_tokens)
    _check(vocab_size, special_tokens, ties, min_frequency, max_token_length)
    regex = regex_of(pattern)
    counter = partial(PreTokenCounter, regex, tuple(special_tokens))
    items = [corpus] if isinstance(corpus, os.PathLike) else corpus
    if isinstance(items, str):
        raise OptionError("a corpus is several texts or files: pass [text], or a pathlib.Path")
    family = recognise("regex", (regex,))
    boundaries = Boundaries(special_tokens, pair_pattern(family) if family else None)
    counts = counted(jobs_of(items, boundaries), counter, count, partial(progress, "count"))
    if not counts:
        raise OptionError("the corpus is empty: there is no text in it besides special tokens")
    words = {pre_token.encode("utf-8"): number for pre_token, number in counts.items()}
    del counts  # as much memory again
    in_order = sorted(range(256), key=lambda byte: letters_of(bytes([byte])))
    byte_ids = [len(special_tokens) + in_order.index(byte) for byte in range(256)]
    limits = Limits(vocab_size - 256 - len(special_tokens), max(1, min_frequency), max_token_length)
    merges = learn_merges(words, byte_ids, limits, ties, partial(progress, "merge"))
    return _vocabulary(name, regex, special_tokens, byte_ids, merges)


def regex_of(pattern: str) -> str:
    """The regex of a name of PATTERNS, or `pattern` itself. OptionError for one whose meaning is
    not the same in all engines."""
    from tokpar.pure.patterns import compile_pattern

    regex = _named_patterns().get(pattern, pattern)
    try:
        compile_pattern(regex, "oniguruma")
    except FileFormatError as error:
        known = ", ".join(PATTERNS)
        raise OptionError(f"{error}; pass another regex or a name: {known}") from error
    return regex


def covers(pattern: str) -> bool:
    """True if the pattern is known to leave no text out, as a .tiktoken file needs it."""
    return regex_of(pattern) in _named_patterns().values()


def _named_patterns() -> dict[str, str]:
    from tokpar.facts import families as known

    regexes = (known.CL100K, known.GPT2, known.QWEN2, known.O200K, known.TEKKEN)
    return dict(zip(PATTERNS, regexes, strict=True))


def _check(
    vocab_size: int,
    special_tokens: Sequence[str],
    ties: str,
    min_frequency: int,
    max_token_length: int | None,
) -> None:
    least = 256 + len(special_tokens)
    if vocab_size < least:
        raise OptionError(
            f"vocab_size must be at least {least} (256 bytes and {len(special_tokens)} special "
            f"tokens), got {vocab_size}"
        )
    if ties not in TIES:
        raise OptionError(f"ties must be one of {', '.join(TIES)}, got {ties!r}")
    if min_frequency < 0:
        raise OptionError(f"min_frequency must be at least 0, got {min_frequency}")
    if max_token_length is not None and max_token_length < 1:
        raise OptionError(f"max_token_length must be at least 1 or None, got {max_token_length}")


def _check_special_tokens(special_tokens: Sequence[str]) -> None:
    alphabet = byte_alphabet().keys()
    if isinstance(special_tokens, str):
        raise OptionError(f"special_tokens must be several, pass [{special_tokens!r}]")
    for token in special_tokens:
        if special_tokens.count(token) > 1:
            raise OptionError(f"special token {token!r} is given twice")
        if len(token) < 2 or any("\ud800" <= char <= "\udfff" for char in token):
            raise OptionError(f"special token {token!r}: expected at least two characters of text")
        if not token.isascii() and alphabet >= set(token):
            raise OptionError(
                f"special token {token!r}: a tokenizer.json would take it for a token of bytes; "
                "use an ASCII character for one of its characters that are none"
            )


def _vocabulary(
    name: str,
    regex: str,
    special_tokens: Sequence[str],
    byte_ids: Sequence[int],
    merges: Sequence[Pair],
) -> Vocabulary:
    spelling = {id_: bytes([byte]) for byte, id_ in enumerate(byte_ids)}
    rules = {}
    for rank, (left, right) in enumerate(merges):
        id_ = len(special_tokens) + 256 + rank
        spelling[id_] = spelling[left] + spelling[right]
        rules[left, right] = (rank, id_)
    return Vocabulary(
        name=name,
        tokens={token: id_ for id_, token in spelling.items()},
        semantics="pairs",
        patterns=(regex,),
        merges=rules,
        keep_gaps=True,
        whole_piece=False,
        added=tuple(AddedToken(token, id_) for id_, token in enumerate(special_tokens)),
    )
