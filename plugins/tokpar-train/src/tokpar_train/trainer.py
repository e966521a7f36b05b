"""`train`: a byte-level BPE vocabulary learned from files or texts, whose pre-tokens are counted
here, or by worker processes."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from types import FrameType

from tokpar.errors import FileFormatError, OptionError
from tokpar.executors.pipes import WorkerProcess
from tokpar.limits import worker_count
from tokpar.pure.vocabulary import Vocabulary, byte_alphabet, letters_of
from tokpar.types import AddedToken
from tokpar_train.corpus import Boundaries, Job, jobs_of
from tokpar_train.merges import TIES, Limits, Pair, Ties, learn_merges

FEW_JOBS = 4  # fewer are not worth starting processes
IN_FLIGHT = 2  # jobs that each worker has, so that the next is there when one is done


class PreTokenCounter:
    """Counts the pre-tokens of one job after the other: special tokens are left out and divide the
    text, then `pattern` splits it, and what it does not match is a pre-token too."""

    def __init__(self, pattern: str, special_tokens: Sequence[str]) -> None:
        from tokpar.pure.added_tokens import AddedTokens
        from tokpar.pure.pretokenize import PreTokenizer

        added = [AddedToken(token, id_) for id_, token in enumerate(special_tokens)]
        self._segments = AddedTokens(added).segments
        self._split = PreTokenizer([pattern], "oniguruma", keep_gaps=True).split
        self.counts: Counter[str] = Counter()

    def count(self, job: Job) -> None:
        """Raises FileFormatError for bytes that are not UTF-8, OSError."""
        for part in job.slices:
            text = part.decode("utf-8") if isinstance(part, bytes) else part.text()
            for segment in self._segments(text):
                if isinstance(segment, str):
                    self.counts.update(self._split(segment))

    def __call__(self, job: Job | str) -> dict[str, int] | None:
        """What a worker process answers: counts a job, gives the counts for "counts"."""
        if isinstance(job, str):
            return dict(self.counts)
        self.count(job)
        return None


NewCounter = Callable[[], PreTokenCounter]
OnProgress = Callable[[int], object]  # is told the size of each job as it is done


def count_pretokens(
    jobs: Iterator[Job], counter: NewCounter, workers: int, on_progress: OnProgress
) -> Mapping[str, int]:
    """Pre-tokens of all jobs and how often each occurs; few jobs are done here."""
    first = list(islice(jobs, FEW_JOBS))
    if workers > 1 and len(first) == FEW_JOBS:
        return _in_processes(chain(first, jobs), counter, workers, on_progress)
    own = counter()
    for job in chain(first, jobs):
        own.count(job)
        on_progress(job.size)
    return own.counts


def _in_processes(
    jobs: Iterable[Job], counter: NewCounter, workers: int, on_progress: OnProgress
) -> Mapping[str, int]:
    """Done in order, so that the first error of the corpus is raised. Each worker keeps one count
    over its jobs: memory is bounded by the distinct pre-tokens."""
    crew: list[WorkerProcess] = []
    running: deque[tuple[WorkerProcess, int]] = deque()

    def finish_one() -> None:
        worker, size = running.popleft()
        worker.receive()
        on_progress(size)

    try:
        for _ in range(workers):
            with _interrupts_later():
                crew.append(WorkerProcess(counter))
        for number, job in enumerate(jobs):
            worker = crew[number % workers]
            worker.send(job)
            running.append((worker, job.size))
            if len(running) > IN_FLIGHT * workers - 1:
                finish_one()
        while running:
            finish_one()
        for worker in crew:
            worker.send("counts")
        counts: Counter[str] = Counter()
        for worker in crew:
            counts.update(worker.receive())
        return counts
    finally:
        for worker in crew:
            worker.kill()


@contextlib.contextmanager
def _interrupts_later() -> Iterator[None]:
    """A Ctrl-C in here comes at the end, so that no process is started that nobody knows of."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield  # never interrupted by a KeyboardInterrupt
        return
    came: list[FrameType | None] = []
    signal.signal(signal.SIGINT, lambda number, frame: came.append(frame))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if came:
            before(signal.SIGINT, came[0])


PATTERNS = ("llama3", "gpt2", "qwen2", "o200k", "tekken")
"""Names of patterns; "llama3" is that of the bundled tokenizer."""
END_OF_TEXT = "<|endoftext|>"
MOST_ENTRIES = 1 << 31
"""Two ids fit 64 bits."""

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
    regex. `ties`, `max_token_length`: see `tokpar_train.merges`. `progress` is told ("count",
    bytes) and ("merge", merges) as they are done. The result is the same for any `workers`.
    Raises OptionError, also for a corpus without text; FileFormatError for a file that is not
    UTF-8, with the place; OSError."""
    from tokpar.cuts.window_tables import pair_cuts

    count = worker_count(workers)
    _check_special_tokens(special_tokens)
    _check(vocab_size, special_tokens, ties, min_frequency, max_token_length)
    regex = regex_of(pattern)
    counter = partial(PreTokenCounter, regex, tuple(special_tokens))
    items = [corpus] if isinstance(corpus, os.PathLike) else corpus
    if isinstance(items, str):
        raise OptionError("a corpus is several texts or files: pass [text], or a pathlib.Path")
    boundaries = Boundaries(special_tokens, pair_cuts("regex", (regex,)))
    counts = count_pretokens(jobs_of(items, boundaries), counter, count, partial(progress, "count"))
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
    """The regex of a name, or `pattern` itself. OptionError where engines do not agree on it."""
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
    from tokpar.facts.families import CL100K, GPT2, O200K, QWEN2, TEKKEN

    return dict(zip(PATTERNS, (CL100K, GPT2, QWEN2, O200K, TEKKEN), strict=True))


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
    if vocab_size > MOST_ENTRIES:
        raise OptionError(f"vocab_size must be at most {MOST_ENTRIES:,}, got {vocab_size:,}")
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
