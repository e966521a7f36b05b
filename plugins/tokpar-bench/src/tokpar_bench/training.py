"""The trainer of tokpar compared with Hugging Face's, as figures of the part `others`."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module

import tokpar
from tokpar_bench.datasets import Dataset
from tokpar_bench.measuring import Experiment
from tokpar_bench.others import FigureRuns, of_size, processor_time
from tokpar_bench.subjects import Subject

SOURCE, WHAT = "trainer", "s of processor time (tokpar / Hugging Face)"
VOCABULARIES = (500, 2000)  # with the 256 bytes
LONGEST = 1_000_000
PATTERN = "gpt2"
Merge = tuple[bytes, bytes]


def training(subject: Subject, datasets: Sequence[Dataset], most: int) -> Experiment:
    """Train vocabularies on the first dataset, at most `most` code points of it.

    A run whose merges differ from Hugging Face's merges is named in the notes and has no figure."""
    runs = FigureRuns(replace(subject, tokenizer="trained here"), most)
    text = of_size("".join(datasets[0].texts), min(most, LONGEST))
    detail = (
        f"{len(text):,} code points, one worker, equal merges. No figure is published; "
        "the README of tokpar-train has 50 MB and the way of the article."
    )
    for size in VOCABULARIES:
        timed = [processor_time(each) for each in _trainers(text, size)]
        runs.add(SOURCE, WHAT, f"vocabulary {size:,}", detail, *timed)
    return Experiment(runs.jobs, runs.rows)


def _trainers(text: str, size: int) -> list[Callable[[], object]]:
    """Two calls that train on the text. The second call compares the merges of both."""
    found: list[list[Merge]] = []

    def ours() -> None:
        made = tokpar.train(
            [text], vocab_size=size, special_tokens=(), pattern=PATTERN, min_frequency=2, workers=1
        )
        spelling = {id_: token for token, id_ in made.tokens.items()}
        found[:] = [[(spelling[left], spelling[right]) for left, right in made.merges]]

    def theirs() -> None:
        merges = _hugging_face(text, size)
        if found and found[0] != merges:
            raise ValueError(f"the merges of a vocabulary of {size:,} differ from Hugging Face's")

    return [ours, theirs]


def _hugging_face(text: str, size: int) -> list[Merge]:
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

    from tokpar.formats.vocabulary import byte_alphabet

    regex_of = import_module("tokpar_train.trainer").regex_of
    split = pre_tokenizers.Split(Regex(regex_of(PATTERN)), "isolated")
    letters = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, letters])
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        min_frequency=2,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([text], trainer)
    alphabet = byte_alphabet()
    listed = json.loads(tokenizer.to_str())["model"]["merges"]
    return [
        (bytes(alphabet[char] for char in left), bytes(alphabet[char] for char in right))
        for left, right in listed
    ]
