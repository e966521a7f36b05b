"""The published figures to compare with, read from the files in `published_figures/`.

`published_figures/README.md` names the source of each file."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from tokpar_bench.datasets import Dataset
from tokpar_bench.subjects import Subject

FOLDER = "published_figures"
LOPT = "LoPT, arXiv 2511.04952"
"""The source of the figures of the methods, of scaling and of retries."""
METHODS = {
    "serial": "HuggingFace TokenizerFast",
    "delimiter-comma": "Delimiter based ParallelTokenizer (,)",
    "delimiter-period": "Delimiter based ParallelTokenizer (.)",
    "delimiter-space": "Delimiter based ParallelTokenizer (-)",
    "overlap-longest": "Overlap-based ParallelTokenizer-Origin",
    "overlap-window": "Overlap-based ParallelTokenizer-Ours",
    "lopt-paper": "LoPT(Ours)",
}
"""Our name of a method -> its name in LoPT's table 1."""
TOKENIZERS = {
    "deepseek": "DeepSeek-V3",
    "qwen": "Qwen3",
    "llama": "Llama-3.1",
    "gpt": "GPT-OSS-120B",
    "o200k": "GPT-OSS-120B",
    "cl100k": "GPT-OSS-120B",
    "tekken": "GPT-OSS-120B",
}
"""A word in the name of a tokenizer's file -> the nearest row of table 1."""
BERT = {True: "BERT-BASE-UNCASED", False: "BERT-BASE-CASED"}  # by whether it lowercases
_TABLE_3 = {
    "BERT-BASE-CASED": "BERT-based-cased",
    "BERT-BASE-UNCASED": "BERT-based-uncased",
    "DeepSeek-V3": "DeepSeek-V3",
    "GPT-OSS-120B": "gpt-oss-120b",
    "Llama-3.1": "Llama-3.1-8B",
    "Qwen3": "Qwen3-8B",
}
CORPORA = {"longbench_v2": "LongBench v2", "leval": "L-Eval", "clongeval": "CLongEval"}
MOSTLY_CHINESE, LONG_CHARS = 0.3, 300_000
LARGEST_SHARE_TEXTS = 100_000


@dataclass(frozen=True)
class PublishedMethod:
    """The figures of one method in table 1: seconds per text, and accuracy, which is None for the
    own call."""

    seconds: float
    accuracy: float | None


@dataclass(frozen=True)
class PublishedScaling:
    """One row of table 2. `stages`: shares of the time, 0 to 1. Speed-ups are relative to one
    process."""

    workers: int
    stages: dict[str, float]
    speedup: float
    amdahl: float


@dataclass(frozen=True)
class PublishedRetries:
    """One row of table 3. Seconds are per text; `retries` is the mean per text."""

    own_seconds: float
    seconds: float
    retries: float
    speedup: float


@cache
def table(name: str) -> tuple[dict[str, str], ...]:
    """The rows of a file: "lopt_table_1", "lopt_table_2", "lopt_table_3", "others"."""
    content = (files("tokpar_bench") / FOLDER / f"{name}.csv").read_text(encoding="utf-8")
    return tuple(csv.DictReader(content.splitlines()))


def method_figures(tokenizer: str, corpus: str, method: str) -> PublishedMethod | None:
    """The figures of table 1, or None if the table has no such row.

    `tokenizer`: the name in the table. `corpus`: a key of `CORPORA`. `method`: our name."""
    wanted = METHODS.get(method)
    for row in table("lopt_table_1"):
        if (row["tokenizer"], row["method"]) == (tokenizer, wanted) and corpus in CORPORA:
            accuracy = row[f"{corpus}_accuracy"]
            seconds = float(row[f"{corpus}_ms"]) / 1000
            return PublishedMethod(seconds, float(accuracy) if accuracy else None)
    return None


def scaling_figures() -> list[PublishedScaling]:
    """The rows of table 2."""
    stages = {
        "split": "split_percent",
        "tokenize": "parallel_tokenization_percent",
        "match": "match_percent",
        "merge": "merge_percent",
        "convert": "convert_percent",
    }
    return [
        PublishedScaling(
            int(row["processes"]),
            {stage: float(row[column]) / 100 for stage, column in stages.items()},
            float(row["actual_speedup"]),
            float(row["theoretical_speedup"]),
        )
        for row in table("lopt_table_2")
    ]


def retry_figures(tokenizer: str, repetitive: bool) -> PublishedRetries | None:
    """The row of table 3 for a tokenizer, given by its name in table 1; None if there is none."""
    dataset = "repetitive-LongBenchV2" if repetitive else "LongBenchV2"
    for row in table("lopt_table_3"):
        if (row["tokenizer"], row["dataset"]) == (_TABLE_3.get(tokenizer), dataset):
            names = "standard_s", "lopt_s", "average_retries", "speedup"
            return PublishedRetries(*(float(row[name]) for name in names))
    return None


def other_figure(what: str, setting: str) -> str | None:
    """The cell of `others.csv` as its source has it, or None."""
    found = [row for row in table("others") if (row["what"], row["setting"]) == (what, setting)]
    return found[0]["published"] if found else None


def nearest_tokenizer(subject: Subject) -> str | None:
    """The row of table 1 that is nearest to a tokenizer, by the name of its file; None for an
    unknown name.

    For BERT, the row depends on whether the tokenizer lowercases."""
    name = subject.tokenizer.lower()
    for word, row in TOKENIZERS.items():
        if word in name:
            return row
    if "bert" in name:
        upper, lower = (list(subject.own_ids(text)) for text in ("HOUSE", "house"))
        return BERT[upper == lower]
    return None


def nearest_corpus(dataset: Dataset) -> str:
    """The corpus of table 1 that is nearest to a dataset.

    The name of the dataset decides, if it names a corpus (L-Eval only if its texts are shorter than
    below). Else CLongEval for mostly Chinese texts, LongBench v2 for texts of 300,000 code points
    or more on average, L-Eval for others."""
    name = dataset.name.lower().replace("-", "")
    for word, corpus in (("clongeval", "clongeval"), ("longbench", "longbench_v2")):
        if word in name:
            return corpus
    if "leval" in name and dataset.code_points < LONG_CHARS * len(dataset.texts):
        return "leval"
    if chinese_share(dataset.texts) > MOSTLY_CHINESE:
        return "clongeval"
    return "longbench_v2" if dataset.code_points >= LONG_CHARS * len(dataset.texts) else "leval"


def chinese_share(texts: Sequence[str]) -> float:
    """The share of CJK ideographs in the first code points of the texts, 0 to 1."""
    sample = "".join(text[: LARGEST_SHARE_TEXTS // len(texts) + 1] for text in texts)
    return sum("\u4e00" <= char <= "\u9fff" for char in sample) / max(1, len(sample))
