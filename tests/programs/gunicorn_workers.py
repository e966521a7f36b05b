"""gunicorn: an application with a tokenizer of tokenizers behind two forked workers, unchanged:
tokpar comes by `python -m tokpar.run`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any

from tests.programs.documents import documents
from tests.programs.tokenizer_files import directory, make_tables
from tests.programs.turns import Row, compare, processor_time_of_tree
from tests.programs.web_server import free_port, posted, served

INSTALL = ("gunicorn==27.0.1",)
VERSIONS = ("gunicorn", "tokenizers")


def rows() -> Iterator[Row]:
    make_tables()
    with ExitStack() as servers:
        addresses = [servers.enter_context(_server(*start)) for start in ((), ("tokpar.run", "-m"))]
        texts = documents(10_000, 24)
        batches = [texts[k : k + 6] for k in range(0, len(texts), 6)]
        sides = map(_answers_of, addresses)
        yield compare("two workers, --preload", *sides, batches, processor_time_of_tree)


def _server(*start: str) -> Any:
    port = free_port()
    command = [sys.executable, "-m", *start, "gunicorn", "--workers", "2", "--preload"]
    application = f"{__name__}:make_application()"
    return served([*command, "--bind", f"127.0.0.1:{port}", application], port)


def _answers_of(address: str) -> Callable[[Sequence[str]], list[Any]]:
    # each twice, so that with luck both workers get it
    return lambda texts: [posted(address, text) for text in (*texts, *texts)]


def make_application() -> Any:
    """Returns the application of WSGI: JSON of a text in, JSON of its ids out."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(f"{directory()}/tokenizer.json")

    def application(environment: dict[str, Any], start: Any) -> Iterable[bytes]:
        size = int(environment.get("CONTENT_LENGTH") or 0)
        text = json.loads(environment["wsgi.input"].read(size) or '""')
        answer = json.dumps(tokenizer.encode(text).ids).encode("ascii")
        start("200 OK", [("Content-Type", "application/json")])
        return [answer]

    return application
