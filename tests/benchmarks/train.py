"""Time of training: `tokpar.train`, a plain scanning trainer and Hugging Face's, in one run.

    pip install ./plugins/tokpar-train
    python -m tests.benchmarks.train --texts FILE.jsonl ... [--megabytes 50] [--vocab-size 10000]

The text is built as for the other benchmarks and divided into documents by a special token. Each
trainer starts from the file (Hugging Face from the list of the documents, already read) and ends
with the merges; they take turns, figures are the median of the rounds: seconds on the clock, and
seconds of processor time of all processes together, which a busy machine changes less. The merges
must be equal: the scanning trainer's with ties="lexicographic", Hugging Face's with "huggingface".
The scanning trainer runs `--slow-rounds` times, since it takes minutes.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path

from tokpar_train.merges import Ties

import tokpar
from tests.benchmarks.texts import long_text, read_texts, text_hash
from tests.benchmarks.train_by_scanning import train_by_scanning
from tests.recipes.train_default import END_OF_TEXT, PATTERN
from tokpar.limits import worker_count

MIN_FREQUENCY = 2
DOCUMENT_PARAGRAPHS = 40
Pair = tuple[bytes, bytes]
Train = Callable[[], list[Pair]]
Measured = dict[str, list[tuple[float, float]]]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--texts", type=Path, nargs="+", required=True)
    parser.add_argument("--megabytes", type=float, default=50)
    parser.add_argument("--vocab-size", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--slow-rounds", type=int, default=1)
    parser.add_argument("--workers", type=int)
    args = parser.parse_args(argv)
    workers = worker_count(args.workers)
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "corpus.txt"
        documents = _documents(args.texts, int(args.megabytes * 1e6))
        path.write_text(END_OF_TEXT.join(documents), encoding="utf-8", newline="")
        print(_about(path, documents, workers))
        seconds = _measured(args, path, documents, workers)
    _print(seconds)
    return 0


def _documents(paths: Sequence[Path], size: int) -> list[str]:
    """Forty paragraphs each, of a text of `size` bytes or a little less."""
    texts = [text for path in paths for text in read_texts(path)]
    data = long_text(texts, size).replace(END_OF_TEXT, "").encode()[:size]
    paragraphs = data.decode("utf-8", "ignore").split("\n\n")
    return [
        "\n\n".join(paragraphs[start : start + DOCUMENT_PARAGRAPHS])
        for start in range(0, len(paragraphs), DOCUMENT_PARAGRAPHS)
    ]


def _measured(
    args: argparse.Namespace, path: Path, documents: Sequence[str], workers: int
) -> Measured:
    merges = args.vocab_size - 257

    def ours(ties: Ties) -> Train:
        return lambda: _with_tokpar(path, args.vocab_size, ties, workers)

    def scanning() -> list[Pair]:
        return train_by_scanning(path, merges, END_OF_TEXT, PATTERN, MIN_FREQUENCY, workers)

    def hugging_face() -> list[Pair]:
        return _with_hugging_face(documents, args.vocab_size)

    seconds: Measured = {}
    for number in range(args.rounds):
        one = _timed(seconds, "tokpar", ours("huggingface"))
        other = _timed(seconds, "Hugging Face", hugging_face)
        _require_equal("Hugging Face", one, other)
        if number < args.slow_rounds:
            one = _timed(seconds, "tokpar, lexicographic", ours("lexicographic"))
            other = _timed(seconds, "scanning", scanning)
            _require_equal("scanning", one, other)
    return seconds


def _timed(seconds: Measured, name: str, train: Train) -> list[Pair]:
    start, start_work = time.perf_counter(), sum(os.times()[:4])
    merges = train()
    taken = time.perf_counter() - start, sum(os.times()[:4]) - start_work
    seconds.setdefault(name, []).append(taken)
    print(f"  {name}: {taken[0]:.2f} s, {taken[1]:.2f} s of work", flush=True)
    return merges


def _require_equal(name: str, ours: list[Pair], theirs: list[Pair]) -> None:
    if ours != theirs:
        raise SystemExit(f"{name}: the merges differ from tokpar's: nothing else matters")


def _with_tokpar(path: Path, vocab_size: int, ties: Ties, workers: int) -> list[Pair]:
    vocabulary = tokpar.train(
        path,
        vocab_size=vocab_size,
        special_tokens=[END_OF_TEXT],
        min_frequency=MIN_FREQUENCY,
        ties=ties,
        workers=workers,
    )
    spelling = {id_: token for token, id_ in vocabulary.tokens.items()}
    return [(spelling[left], spelling[right]) for left, right in vocabulary.merges]


def _with_hugging_face(documents: Sequence[str], vocab_size: int) -> list[Pair]:
    """On the documents, since this trainer does not leave special tokens out."""
    import json

    from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

    from tokpar.pure.vocabulary import byte_alphabet

    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    split = pre_tokenizers.Split(Regex(PATTERN), "isolated")
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, byte_level])
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        min_frequency=MIN_FREQUENCY,
        special_tokens=[END_OF_TEXT],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(documents, trainer)
    alphabet = byte_alphabet()

    def spelt(token: str) -> bytes:
        return bytes(alphabet[char] for char in token)

    listed = json.loads(tokenizer.to_str())["model"]["merges"]
    return [(spelt(left), spelt(right)) for left, right in listed]


def _print(seconds: Measured) -> None:
    print("\n| trainer | seconds | ratio | processor seconds | ratio |\n|---|---|---|---|---|")
    for name, base in _pairs(seconds):
        (clock, work), (base_clock, base_work) = _medians(seconds[name]), _medians(seconds[base])
        ratios = clock / base_clock, work / base_work
        print(f"| {name} | {clock:.1f} | {ratios[0]:.2f} | {work:.1f} | {ratios[1]:.2f} |")


def _medians(taken: Sequence[tuple[float, float]]) -> tuple[float, float]:
    clock, work = zip(*taken, strict=True)
    return statistics.median(clock), statistics.median(work)


def _pairs(seconds: Measured) -> Iterator[tuple[str, str]]:
    """Each trainer and tokpar's training that it is compared with."""
    for name in seconds:
        yield name, "tokpar" if name in ("tokpar", "Hugging Face") else "tokpar, lexicographic"


def _about(path: Path, documents: Sequence[str], workers: int) -> str:
    versions = ", ".join(f"{name} {version(name)}" for name in ("tokenizers", "regex", "numpy"))
    size = path.stat().st_size
    return (
        f"{size:,} bytes in {len(documents):,} documents ({text_hash(''.join(documents))}), "
        f"{workers} workers, Python {platform.python_version()}, {versions}"
    )


if __name__ == "__main__":
    raise SystemExit(main())
