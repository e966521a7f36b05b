"""Says by its name what a file holds, and which files of a folder are inputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tokpar.errors import OptionError

LINES = (".jsonl", ".ndjson")
COMPRESSED = (".gz", ".zst")
COLUMNS = (".parquet", ".arrow")
TEXT = (".txt", ".text", ".md")
ROWS = ("rows", "parquet", "arrow")
"""The kinds of files with a document in each row."""
KINDS = (
    ".jsonl, .ndjson and .txt (also with .gz or .zst), .parquet and .arrow; --lines reads any other"
    " name as a document a line"
)
_MOST_NAMES = 5


def kind_of(name: str, lines: bool) -> str | None:
    """Returns the kind of an input (see `tokpar_corpus.inputs.Input`) by its name, or None if the
    name does not say it. `lines`: each line of a text file is a document."""
    plain = _without_compression(name)
    if plain.endswith(LINES):
        return "rows"
    if name.endswith(COLUMNS):
        return name.rpartition(".")[2]
    if plain.endswith(".json"):
        return None
    if lines:
        return "lines"
    return "text" if plain.endswith(TEXT) else None


def known_kind(name: str, lines: bool) -> str:
    """Returns the kind of an input. Raises OptionError if the name does not say it."""
    kind = kind_of(name, lines)
    if kind is not None:
        return kind
    if _without_compression(name).endswith(".json"):
        raise OptionError(
            f"{name}: a .json is one value, not a document in each line; if it is an array, "
            "`jq -c '.[]'` makes a .jsonl of it"
        )
    raise OptionError(f"{name}: the name does not tell what it holds; expected {KINDS}")


@dataclass(frozen=True, slots=True)
class FolderContents:
    """The names in a folder, relative to it and sorted: those of inputs, and the others. Of a
    folder whose name begins with a dot, `left_out` has only this folder: ".git/"."""

    taken: tuple[str, ...]
    left_out: tuple[str, ...]


def choose_inputs(names: Iterable[str], lines: bool, text: bool) -> FolderContents:
    """Returns which files of a folder are inputs.

    `names`: relative to the folder, with "/". Names that begin with a dot are left out, and names
    that do not say what the file holds. Beside files of rows or columns, text files such as
    README.md are left out, too, unless `text`."""
    every = sorted(names)
    hidden = {name: _hidden_part(name) for name in every}
    kinds = {name: kind_of(name, lines) for name in every if hidden[name] is None}
    has_rows = any(kind in ROWS for kind in kinds.values())
    taken = tuple(
        name for name, kind in kinds.items() if kind in ROWS or (kind and (text or not has_rows))
    )
    known = set(taken)
    others = (hidden[name] or name for name in every if name not in known)
    return FolderContents(taken, tuple(dict.fromkeys(others)))


def describe_kinds(names: Iterable[str]) -> str:
    """Returns how many files of each kind the inputs are: "2 .jsonl, 1 .parquet"."""
    counts = Counter(_suffix(name) for name in names)
    return ", ".join(f"{count:,} {suffix}" for suffix, count in sorted(counts.items()))


def describe_left_out(names: Sequence[str]) -> str:
    """Returns the files that a folder has beside its inputs: "left out: README.md, .git/ ..."."""
    shown = [*names[:_MOST_NAMES]]
    more = [f"{len(names) - len(shown):,} more"] if len(names) > len(shown) else []
    is_text = any(kind_of(name, False) == "text" and not _hidden_part(name) for name in names)
    hint = " (--text takes text files)" if is_text else ""
    return f"left out: {', '.join([*shown, *more])}{hint}"


def _without_compression(name: str) -> str:
    return name.removesuffix(next((end for end in COMPRESSED if name.endswith(end)), ""))


def _suffix(name: str) -> str:
    plain = _without_compression(name.rpartition("/")[2])
    dot = plain.rfind(".")
    return name[len(name) - len(name.rpartition("/")[2]) + dot :] if dot > 0 else "without a suffix"


def _hidden_part(name: str) -> str | None:
    """Returns the name up to its first part that begins with a dot, or None."""
    parts = name.split("/")
    for k, part in enumerate(parts):
        if part.startswith("."):
            return "/".join(parts[: k + 1]) + ("/" if k + 1 < len(parts) else "")
    return None
