"""Programs that people run, with and without tokpar: what they return is compared, and timed.

    python -m tests.programs [NAME ...] [--list] [--csv FILE]

Each module but those of `MACHINERY` is a program. `INSTALL` is what pip installs for it, in an
environment of its own; `rows()` runs the program with its own tokenizer and with tokpar's, in turn.
`__main__.py` makes the environments."""

MACHINERY = (
    "__main__",
    "documents",
    "page_table",
    "row_files",
    "run_rows",
    "server_processes",
    "small_models",
    "tokenizer_files",
    "turns",
    "unigram_files",
    "vllm_requests",
    "web_server",
)
"""Modules of this folder that are no programs."""
