"""Writes the table of docs/programs.md, of docs/data/programs.csv:
`python -m tests.programs.page_table`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from tests.programs.documents import ROOT
from tests.programs.row_files import read_rows

DATA, PAGE = ROOT / "docs/data/programs.csv", ROOT / "docs/programs.md"
HEADING = "| program | what to type | new | seen |\n|---|---|---|---|\n"
RUN, AS_HF = "`python -m tokpar.run PROGRAM`", "`tokpar.as_hf(tokenizer)`"
GROUPS: Sequence[tuple[str, str, Sequence[tuple[str, str]]]] = (
    (
        "semchunk, semantic-text-splitter, docling",
        "`Encoder.count`, as below",
        (
            ("semchunk_splitter", "Encoder.count"),
            ("semantic_splitter", ""),
            ("docling_chunker", "Encoder.count"),
        ),
    ),
    (
        "LangChain's and LlamaIndex' splitters, haystack, unstructured, ttok, aider, gitingest, "
        "by tiktoken",
        f"{RUN}, or `with tokpar.patch_tiktoken():` where they are made",
        (
            ("langchain_splitters", "[^,]*(, tiktoken)?$"),
            ("llamaindex_splitters", ""),
            ("haystack_splitter", ""),
            ("unstructured_chunks", ""),
            ("ttok_counter", ""),
            ("aider_counter", ""),
            ("gitingest_counter", ""),
        ),
    ),
    (
        "semchunk, LangChain, chonkie, docling, litellm, given a tokenizer",
        "`tokpar.as_hf(...)`, `as_tokenizers(...)`, `as_tiktoken(...)`",
        (
            ("semchunk_splitter", "(a trans|tik)"),
            ("langchain_splitters", ".*, transformers"),
            ("chonkie_splitters", ""),
            ("docling_chunker", "(a trans|tik)"),
            ("litellm_counter", ""),
        ),
    ),
    (
        "datatrove, litgpt, torchtitan, gunicorn",
        "`python -m tokpar.run`, or `with tokpar.patch_tokenizers():`",
        (
            ("datatrove_counter", ""),
            ("litgpt_tokenizer", ""),
            ("torchtitan_tokenizer", ""),
            ("gunicorn_workers", ""),
        ),
    ),
    (
        "lm-eval: contexts of 500 and 10,000 characters; llama-cpp-python's `LlamaHFTokenizer`",
        "`python -m tokpar.run`, or `patch_transformers`",
        (("lm_eval_requests", ""), ("llama_cpp_tokenizer", "tokenize")),
    ),
    (
        "sentence-transformers, Infinity's and FlagEmbedding's `encode`",
        "the same",
        (
            ("sentence_transformers_encode", ""),
            ("infinity_embedder", ""),
            ("flagembedding_encode", ""),
        ),
    ),
    (
        "a `DataLoader` that forks; `datasets.map`, streaming",
        AS_HF,
        (("torch_dataloader", ".*fork"), ("datasets_map", "stream")),
    ),
    (
        "`datasets.map` of 300,000 characters; TRL's `SFTTrainer`; Ray Data's `map_batches`; a "
        "`DataLoader` that spawns",
        AS_HF,
        (
            ("datasets_map", "map"),
            ("trl_trainer", ""),
            ("ray_data", ""),
            ("torch_dataloader", ".*spawn"),
        ),
    ),
    (
        "uvicorn with workers, which it spawns",
        "`tokpar.as_tokenizers(tokenizer)`",
        (("uvicorn_workers", ""),),
    ),
    (
        "vLLM, SGLang: next turn of 200,000 characters",
        "[the plugin](serving.md)",
        tuple((name, "next turn of 200") for name in ("vllm_server", "vllm_render", "sglang_chat")),
    ),
)
"""What the page calls programs, what their user types, and their rows: the name of the program, and
a pattern that the call begins with."""


def main() -> None:
    page, rows = PAGE.read_text("utf-8"), read_rows(DATA)
    start = page.index(INTRO)
    stop = page.index("\n\n", page.index(HEADING)) + 1
    PAGE.write_text(page[:start] + f"{intro(rows)}\n\n{table(rows)}" + page[stop:], "utf-8")


INTRO = "`python -m tests.programs` compares each with and without tokpar"


def intro(rows: Sequence[Mapping[str, str]]) -> str:
    """Returns the sentences above the table."""
    loads = [float(row["load"]) for row in rows]
    return (
        f"{INTRO}. Processor time, new and seen texts,\non two cores with a load of "
        f"{min(loads):.0f} to {max(loads):.0f}, {max(row['date'] for row in rows)}; releases and "
        f"calls: [programs.csv](data/programs.csv)."
    )


def table(rows: Sequence[Mapping[str, str]]) -> str:
    """Returns the table. Raises ValueError if a program of a group has no row."""
    return HEADING + "".join(_line_of(*group, rows) for group in GROUPS)


def _line_of(
    programs: str,
    typed: str,
    selectors: Sequence[tuple[str, str]],
    rows: Sequence[Mapping[str, str]],
) -> str:
    found = list[Mapping[str, str]]()
    for program, pattern in selectors:
        of_program = [row for row in rows if row["program"] == program]
        matching = [row for row in of_program if re.match(pattern, row["call"])]
        if not matching:
            raise ValueError(f"{DATA.name} has no row of {program} whose call is {pattern!r}")
        found += matching
    ranges = (_range_of([float(row[texts]) for row in found]) for texts in ("new", "seen"))
    return f"| {programs} | {typed} | {' | '.join(ranges)} |\n"


def _range_of(ratios: Sequence[float]) -> str:
    least, most = (
        f"{ratio:.1f}" if ratio < 10 else f"{ratio:.0f}" for ratio in (min(ratios), max(ratios))
    )
    return least if least == most else f"{least}\N{EN DASH}{most}"


if __name__ == "__main__":
    main()
