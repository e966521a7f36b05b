"""Corpora: turns documents in files into shards of ids, with a manifest that says how the shards
were made, and audits shards. The command is `tokpar corpus`.

    from tokpar_corpus import build

    manifest = build(["data/*.jsonl.zst"], "shards", tokenizer="tokenizer/", append_eod=True)
    print(manifest.documents, manifest.tokens)

`api.py` lists what is public. It is imported when a program asks for one of its names, not when
tokpar looks for the commands of its plugins.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from tokpar.plugin import Command, hookimpl

if TYPE_CHECKING:
    from tokpar_corpus.api import *  # noqa: F403


@hookimpl
def tokpar_commands() -> list[Command]:
    return [Command("corpus", partial(import_module, "tokpar_corpus.command"))]


def __getattr__(name: str) -> object:
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(import_module("tokpar_corpus.api"), name)
