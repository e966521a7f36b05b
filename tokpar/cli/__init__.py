"""The command `tokpar`. Each subcommand is one file with a function `declare`, for its arguments,
and a function `run`. Plugins add more subcommands.

Exit codes: 0 done, 1 not lossless or a check failed, 2 the arguments or files cannot be used.

Imported by: `__main__`.
Read first: `encode.py`.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from tokpar.registry.hooks import Command

OK, FAILED, USAGE = 0, 1, 2
INTERRUPTED, PIPE_CLOSED = 130, 141


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors have the form of the other errors of the command."""

    def error(self, message: str) -> NoReturn:
        self.exit(USAGE, f"tokpar: error: {message} (see {self.prog} --help)\n")


class _Version(argparse.Action):
    """Prints the version, whether the kernel is there, and where the cache on disk is."""

    def __call__(self, parser: argparse.ArgumentParser, *given: object) -> NoReturn:
        from tokpar import __version__
        from tokpar.process import disk_cache, kernel_modules

        because = f", because {kernel_modules.WHY_NONE}" * (kernel_modules.CALL is None)
        kernel = f"kernel: {kernel_modules.NAME}{because}"
        print(f"tokpar {__version__}, {kernel}, cache: {disk_cache.state()}")
        parser.exit()


def parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """The parser for the subcommand that `words` begin with. If `words` ask for help, the parser
    knows all subcommands.

    Raises UnknownNameError, OptionError, PluginError."""
    top = Parser(
        prog="tokpar",
        description="Lossless parallel tokenization.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument(
        "--version", action=_Version, nargs=0, help="show program's version number and exit"
    )
    commands = top.add_subparsers(metavar="COMMAND", required=True)
    if words and not words[0].startswith("-"):
        _add(_find_command(words[0]), commands)
    elif not {"-h", "--help"}.isdisjoint(words):
        top.epilog = "; ".join(_add_all(commands))
    return top


def _add_all(commands: Any) -> Iterator[str]:
    """Add every subcommand, and yield a message for each subcommand that cannot be loaded."""
    from tokpar.errors import TokparError
    from tokpar.registry.tables import registry

    for command in registry().commands():
        try:
            _add(command, commands)
        except TokparError as error:
            yield str(error)


def _find_command(name: str) -> Command:
    """The subcommand of that name. Plugins are loaded only if tokpar itself has no such
    subcommand."""
    from tokpar.errors import PluginError, UnknownNameError
    from tokpar.registry.builtins import tokpar_commands
    from tokpar.registry.tables import registry

    own = {command.name: command for command in tokpar_commands()}
    if name in own:
        return own[name]
    try:
        return registry().command(name)
    except UnknownNameError:
        for plugin in registry().plugins():
            if plugin.name == name and plugin.problem is not None:
                said = f"plugin {plugin.name!r} of {plugin.owner}: {plugin.problem}"
                raise PluginError(said) from None
        raise


def _add(command: Command, commands: Any) -> None:
    """Add one subcommand. Raises PluginError if it cannot be loaded."""
    from tokpar.errors import OptionError, PluginError

    try:
        module = command.load()
        about = module.__doc__ or ""
        summary = about.partition("\n")[0].rstrip(".:").replace("%", "%%")
        own = commands.add_parser(command.name, help=summary, description=about)
        own.formatter_class = argparse.RawDescriptionHelpFormatter
        module.declare(own)
        own.set_defaults(run=module.run)
    except OptionError:  # says what to install
        raise
    except (Exception, SystemExit) as error:
        said = f"{type(error).__name__}: {error}"
        raise PluginError(f"the command {command.name!r} cannot be loaded: {said}") from error


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line `argv`, or `sys.argv`, and return the exit code."""
    from tokpar.cli.interrupts import end_on_interrupt
    from tokpar.cli.standard_streams import open_streams
    from tokpar.errors import TokparError

    words = sys.argv[1:] if argv is None else argv
    open_streams()
    try:
        arguments = parser(words).parse_args(words)
        if argv is None and arguments.run.__module__.startswith("tokpar."):
            end_on_interrupt()  # not for a plugin's command: it may have to clean up
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
        from tokpar.cli.encodings import message_of

        print(f"tokpar: error: {message_of(error)}", file=sys.stderr)
        return USAGE
    return code


def _forget_stdout() -> None:
    """Point standard output at the null device, because its reader has gone. Otherwise the
    interpreter's last flush would print an error."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, sys.stdout.fileno())
    except (OSError, ValueError):
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  # until the exit
    finally:
        os.close(nowhere)
