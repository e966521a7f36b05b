"""uvicorn: an application with a tokenizer of tokenizers in two workers, which uvicorn spawns;
`tokpar.as_tokenizers` is a line of the application."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any

from tests.programs.documents import documents
from tests.programs.tokenizer_files import directory, make_tables
from tests.programs.turns import Row, compare, processor_time_of_tree
from tests.programs.web_server import free_port, posted, served

INSTALL = ("uvicorn==0.54.0",)
VERSIONS = ("uvicorn", "tokenizers")
SIDE = "PROGRAMS_SIDE"


def rows() -> Iterator[Row]:
    make_tables()
    with ExitStack() as servers:
        addresses = [servers.enter_context(_server(side)) for side in ("own", "ours")]
        texts = documents(10_000, 24)
        batches = [texts[k : k + 6] for k in range(0, len(texts), 6)]
        sides = map(_answers_of, addresses)
        yield compare("two workers", *sides, batches, processor_time_of_tree)


def _server(side: str) -> Any:
    port = free_port()
    command = [sys.executable, "-m", "uvicorn", "--workers", "2", "--port", str(port), "--factory"]
    # or a worker that takes more than 5 s to start is ended, again and again
    command += ["--timeout-worker-healthcheck", "300", f"{__name__}:make_application"]
    return served(command, port, **{SIDE: side})


def _answers_of(address: str) -> Callable[[Sequence[str]], list[Any]]:
    # each twice, so that with luck both workers get it
    return lambda texts: [posted(address, text) for text in (*texts, *texts)]


def make_application() -> Any:
    """Returns the application of ASGI: JSON of a text in, JSON of its ids out."""
    from tokenizers import Tokenizer

    import tokpar

    tokenizer = Tokenizer.from_file(f"{directory()}/tokenizer.json")
    if os.environ[SIDE] == "ours":
        tokenizer = tokpar.as_tokenizers(tokenizer)

    async def application(scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        answer = json.dumps(tokenizer.encode(json.loads(body or b'""')).ids).encode("ascii")
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": answer})

    return application
