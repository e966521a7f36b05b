"""`train`: learn a byte-level BPE vocabulary from files or texts. Pre-tokens are counted in this
process or by worker processes."""

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
from tokpar.formats.vocabulary import Vocabulary, byte_alphabet, letters_of
from tokpar.process.limits import worker_count
from tokpar.types import AddedToken
from tokpar_train.corpus import Boundaries, Job, jobs_of
from tokpar_train.merges import TIES, Limits, Pair, Ties, learn_merges

FEW_JOBS = 4  # fewer jobs are counted without processes
IN_FLIGHT = 2  # jobs sent to each worker, so that the next one waits when one is done


class PreTokenCounter:
    """Count the pre-tokens of one job after another.

    Special tokens divide the text and are not counted. `pattern` splits the text between them; text
    that the pattern does not match is a pre-token, too."""

    def __init__(self, pattern: str, special_tokens: Sequence[str]) -> None:
        from tokpar_pure.added_tokens import AddedTokens
        from tokpar_pure.pretokenize import PreTokenizer

        added = [AddedToken(token, id_) for id_, token in enumerate(special_tokens)]
        self._segments = AddedTokens(added).segments
        self._split = PreTokenizer([pattern], "oniguruma", keep_gaps=True).split
        self.counts: Counter[str] = Counter()

    def count(self, job: Job) -> None:
        """Count one job. Raises OSError, and FileFormatError for bytes that are not UTF-8."""
        for part in job.slices:
            text = part.decode("utf-8") if isinstance(part, bytes) else part.text()
            for segment in self._segments(text):
                if isinstance(segment, str):
                    self.counts.update(self._split(segment))

    def __call__(self, job: Job | str) -> dict[str, int] | None:
        """The answer of a worker process: None after counting a job, or the counts for "counts"."""
        if isinstance(job, str):
            return dict(self.counts)
        self.count(job)
        return None


NewCounter = Callable[[], PreTokenCounter]
OnProgress = Callable[[int], object]  # called with the size of each job when the job is done


def count_pretokens(
    jobs: Iterator[Job], counter: NewCounter, workers: int, on_progress: OnProgress
) -> Mapping[str, int]:
    """The pre-tokens of all jobs, and how often each occurs. Few jobs are counted in this
    process."""
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
    """Count jobs in worker processes. Answers are taken in order, so the first error of the corpus
    is raised.

    Each worker has one count for all its jobs, so memory is bounded by the distinct pre-tokens."""
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
    """Delay a Ctrl-C inside the block until its end. Otherwise a process could be started that is
    never killed."""
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
"""Names of patterns; "llama3" is the pattern of the bundled tokenizer."""
END_OF_TEXT = "<|endoftext|>"
MOST_ENTRIES = 1 << 31
"""With so many entries, two ids still fit into 64 bits."""

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
    """The vocabulary that a corpus gives, with at most `vocab_size` entries.

    `tokpar.load` accepts it, `tokpar_train.save.write_tokenizer_json` writes it. The ids are:
    special tokens, then the 256 bytes in the order of their ByteLevel characters, then one id per
    merge.

    `corpus`: texts (str) and files (pathlib.Path), each pre-tokenized by itself; a single path is
    one file. Special tokens in the corpus divide the text and are not counted.
    `pattern`: a name of PATTERNS, or a regex.
    `ties`, `max_token_length`: see `tokpar_train.merges`.
    `progress`: called with ("count", bytes) and ("merge", merges) for each part that is done.
    `workers`: the result is the same for any number.

    Raises OptionError, also for a corpus without text; FileFormatError with the place for a file
    that is not UTF-8; OSError."""
    from tokpar.patterns.known_pattern import shipped_pattern

    count = worker_count(workers)
    _check_special_tokens(special_tokens)
    _check(vocab_size, special_tokens, ties, min_frequency, max_token_length)
    regex = regex_of(pattern)
    counter = partial(PreTokenCounter, regex, tuple(special_tokens))
    items = [corpus] if isinstance(corpus, os.PathLike) else corpus
    if isinstance(items, str):
        raise OptionError("a corpus is several texts or files: pass [text], or a pathlib.Path")
    known = shipped_pattern("regex", (regex,))
    cuts = None if known is None else known.table.sure_places
    boundaries = Boundaries(special_tokens, cuts)
    counts = count_pretokens(jobs_of(items, boundaries), counter, count, partial(progress, "count"))
    if not counts:
        raise OptionError("the corpus is empty: there is no text in it besides special tokens")
    words = {pre_token.encode("utf-8"): number for pre_token, number in counts.items()}
    del counts  # it takes as much memory as `words`
    in_order = sorted(range(256), key=lambda byte: letters_of(bytes([byte])))
    byte_ids = [len(special_tokens) + in_order.index(byte) for byte in range(256)]
    limits = Limits(vocab_size - 256 - len(special_tokens), max(1, min_frequency), max_token_length)
    merges = learn_merges(words, byte_ids, limits, ties, partial(progress, "merge"))
    return _vocabulary(name, regex, special_tokens, byte_ids, merges)


def regex_of(pattern: str) -> str:
    """The regex of a named pattern, or `pattern` itself. Raises OptionError for a regex that
    engines read differently."""
    from tokpar_pure.patterns import compile_pattern

    regex = _named_patterns().get(pattern, pattern)
    try:
        compile_pattern(regex, "oniguruma")
    except FileFormatError as error:
        known = ", ".join(PATTERNS)
        raise OptionError(f"{error}; pass another regex or a name: {known}") from error
    return regex


def covers(pattern: str) -> bool:
    """True if the pattern is known to match all text, which a .tiktoken file needs."""
    return regex_of(pattern) in _named_patterns().values()


def _named_patterns() -> dict[str, str]:
    from tokpar.patterns.shipped_patterns import CL100K, GPT2, O200K, QWEN2, TEKKEN

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
