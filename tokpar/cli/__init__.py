"""The command `tokpar`: one file per subcommand, each with a function that declares and one that
acts.

Exit codes: 0 done, 1 not lossless or check failed, 2 the arguments or files cannot be used.
"""

import argparse
import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

SUBCOMMANDS = (
    *("bench", "encode", "decode", "count", "check", "conform", "plan", "explain", "stream"),
    *("train", "plugins", "strategies", "tokentree"),
)
OK, FAILED, USAGE = 0, 1, 2
INTERRUPTED, PIPE_CLOSED = 130, 141


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors read like every other error of the command."""

    def error(self, message: str) -> NoReturn:
        self.exit(USAGE, f"tokpar: error: {message} (see {self.prog} --help)\n")


def parser() -> argparse.ArgumentParser:
    from tokpar import __version__, kernel

    top = Parser(prog="tokpar", description="Lossless parallel tokenization.")
    top.add_argument(
        "--version", action="version", version=f"tokpar {__version__}, kernel: {kernel.NAME}"
    )
    commands = top.add_subparsers(metavar="COMMAND", required=True)
    for name in SUBCOMMANDS:
        module = import_module(f"tokpar.cli.{name}")
        about = (module.__doc__ or "").splitlines()[0].rstrip(".:")
        command = commands.add_parser(name, help=about, description=module.__doc__)
        command.formatter_class = argparse.RawDescriptionHelpFormatter
        module.declare(command)
        command.set_defaults(run=module.run)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    from tokpar.errors import TokparError

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # what the terminal's encoding lacks is escaped
            stream.reconfigure(errors="backslashreplace")
    try:
        arguments = parser().parse_args(argv)
        code: int = arguments.run(arguments)
        sys.stdout.flush()
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else OK
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _forget_stdout()
        return PIPE_CLOSED
    except (TokparError, OSError) as error:
        said = str(error)
        if isinstance(error, OSError) and error.filename is not None and error.strerror:
            said = f"{error.filename}: {error.strerror}"
        print(f"tokpar: error: {said}", file=sys.stderr)
        return USAGE
    return code


def _forget_stdout() -> None:
    """The reader has gone: let the interpreter's last flush go nowhere, quietly."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, sys.stdout.fileno())
    except (OSError, ValueError):
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  # until the exit
    finally:
        os.close(nowhere)
