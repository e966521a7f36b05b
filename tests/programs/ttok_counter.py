"""ttok: counting and truncating a text by its command's function, unchanged."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tests.programs.documents import documents
from tests.programs.turns import Row, compare

INSTALL = ("ttok==1.0",)
VERSIONS = ("ttok", "tiktoken")


def rows() -> Iterator[Row]:
    for share, arguments in enumerate(((), ("-t", "100"))):
        own, ours = _command(arguments, is_patched=False), _command(arguments, is_patched=True)
        yield compare(" ".join(("ttok", *arguments)), own, ours, documents(50_000, 7, share))


def _command(arguments: tuple[str, ...], is_patched: bool) -> Callable[[str], str]:
    """Returns the command with the encoding that tiktoken, or the patched tiktoken, gives to it at
    each call."""
    import tiktoken
    import ttok.cli
    from click.testing import CliRunner

    import tokpar

    encoding = tiktoken.get_encoding("cl100k_base")  # `run` replaces the other function
    encoding = tokpar.as_tiktoken(encoding) if is_patched else encoding
    runner = CliRunner()

    def run(text: str) -> str:
        ttok.cli.tiktoken.encoding_for_model = lambda model: encoding
        return runner.invoke(ttok.cli.cli, list(arguments), input=text).output

    return run
