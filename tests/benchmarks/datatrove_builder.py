"""Tokenizes .jsonl files by datatrove's `DocumentTokenizer`; runs in an environment with datatrove.

    python -m tests.benchmarks.datatrove_builder FOLDER OUT TOKENIZER_JSON EOS_TOKEN WORKERS

FOLDER holds one .jsonl file for each worker. Documents are not shuffled."""

from __future__ import annotations

import sys
from importlib import import_module


def main() -> None:
    folder, out, tokenizer, eos_token, workers = sys.argv[1:]
    executor = import_module("datatrove.executor")
    readers = import_module("datatrove.pipeline.readers")
    tokens = import_module("datatrove.pipeline.tokens")
    executor.LocalPipelineExecutor(
        pipeline=[
            readers.JsonlReader(folder, glob_pattern="*.jsonl"),
            tokens.DocumentTokenizer(out, tokenizer, eos_token=eos_token, shuffle_documents=False),
        ],
        tasks=int(workers),
        workers=int(workers),
        logging_dir=f"{out}-logs",
    ).run()


if __name__ == "__main__":
    main()
