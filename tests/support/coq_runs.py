"""Compile the Coq files of proofs/coq, and compute with them."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.support.paths import ROOT

COQ = ROOT / "proofs" / "coq"
SOURCES = [line for line in (COQ / "_CoqProject").read_text().splitlines() if line.endswith(".v")]
PRINTED = "Assumptions.out"
MONTH = 30 * 24 * 3600
Values = list[list[list[int]]]
"""What Coq computes: for each term rows of numbers."""


def coqc(directory: Path, file: str, compiled: Path | None = None) -> str:
    """Compile one file of the directory. Returns what Coq prints.

    `compiled`: where the compiled files are that it requires, if not in the same directory."""
    command = ["coqc", "-Q", str(compiled or "."), "Tokpar", file]
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f"coqc {file}:\n{done.stdout}{done.stderr}"
    return done.stdout


def compile_all(parent: Path) -> tuple[Path, str]:
    """Compile all files, unless a process has done so, in a directory of `parent` that is named by
    a digest. Returns the directory, and what the last file, Assumptions.v, prints.

    Processes that ask at the same time wait for the one that compiles. Directories that no run has
    used for a month are deleted."""
    import fcntl  # Unix has it

    directory = parent / _digest_of_sources()
    directory.mkdir(parents=True, exist_ok=True)
    os.utime(directory)
    for each in parent.iterdir():
        if each.stat().st_mtime < time.time() - MONTH:
            shutil.rmtree(each, ignore_errors=True)  # another process deletes it, too
    printed = directory / PRINTED
    with (directory / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not printed.is_file():
            for file in SOURCES:
                shutil.copy(COQ / file, directory)
            *_, last = [coqc(directory, file) for file in SOURCES]
            printed.write_text(last, encoding="utf-8")
    return directory, printed.read_text(encoding="utf-8")


def _digest_of_sources() -> str:
    """A hash of all sources in their order, and of the version of Coq."""
    version = subprocess.run(["coqc", "--version"], capture_output=True, check=True).stdout
    found = hashlib.sha256(version)
    for file in SOURCES:
        found.update(hashlib.sha256((COQ / file).read_bytes()).digest())
    return found.hexdigest()[:16]


PROVED = re.compile(r"^(?:Lemma|Theorem|Corollary|Example) .*?\bQed\.", re.MULTILINE | re.DOTALL)
LIBRARIES = re.compile(r"^From Coq Require Import [^.]*\.\n", re.MULTILINE)
REQUIRED = re.compile(r"^From Tokpar Require (Import|Export) ([^.]*)\.", re.MULTILINE)


def definitions_only(last: str) -> dict[str, str]:
    """The definitions of a file and of those it requires, without proofs: name of the file -> text.

    Proofs would refuse a wrong definition, so a mistake is planted in a text without them."""
    needed, found = {last}, dict[str, str]()
    for name in (file.removesuffix(".v") for file in reversed(SOURCES)):
        if name in needed:
            source = (COQ / f"{name}.v").read_text(encoding="utf-8")
            needed.update(" ".join(names for _, names in REQUIRED.findall(source)).split())
            found[name] = PROVED.sub("", source)
    return dict(reversed(found.items()))


def write_definitions(parent: Path, definitions: Mapping[str, str]) -> Path:
    """Compile all definitions as one file, Planted.v, with a module for each, unless a process has
    done so, in a directory of `parent` that is named by a digest. Returns the directory."""
    libraries = {each for text in definitions.values() for each in LIBRARIES.findall(text)}
    source = "".join(sorted(libraries))
    for name, text in definitions.items():
        body = REQUIRED.sub(r"\1 \2.", LIBRARIES.sub("", text))
        source += f"Module {name}.\n{body}\nEnd {name}.\n"
    source += f"Export {' '.join(definitions)}.\n"
    directory = parent / hashlib.sha256(source.encode()).hexdigest()[:32]
    if not directory.is_dir():
        with TemporaryDirectory(dir=parent) as own:
            new = Path(own, "planted")
            new.mkdir()
            (new / "Planted.v").write_text(source, encoding="utf-8")
            (new / PRINTED).write_text(coqc(new, "Planted.v"), encoding="utf-8")
            with suppress(OSError):  # another process compiled it, too
                new.rename(directory)
    return directory


def computed(compiled: Path, imports: str, terms: Iterable[str], definitions: str = "") -> Values:
    """The values of the terms, with the files compiled in a directory. `definitions`: Coq sentences
    before the terms.

    A directory of `compile_all` or `write_definitions` keeps what Coq printed, by a digest of the
    sentences and terms: the directory is named by a digest of everything else that the values
    depend on."""
    source = (
        "From Coq Require Import List NArith.\nImport ListNotations.\n"
        f"From Tokpar Require Import {imports}.\n{definitions}\n"
        "Set Printing Width 1000000.\nSet Printing Depth 1000000.\n"
        f"Eval vm_compute in [{'; '.join(terms)}].\n"
    )
    kept = compiled / f"{hashlib.sha256(source.encode()).hexdigest()[:32]}.out"
    if kept.is_file():
        printed = kept.read_text(encoding="utf-8")
    else:
        with TemporaryDirectory(dir=compiled) as own:  # other processes use `compiled`, too
            (Path(own) / "Computed.v").write_text(source, encoding="utf-8")
            printed = coqc(Path(own), "Computed.v", compiled)
            if (compiled / PRINTED).is_file():
                (Path(own) / PRINTED).write_text(printed, encoding="utf-8")
                (Path(own) / PRINTED).replace(kept)
    value = printed.partition(": list")[0].strip().removeprefix("=")
    values: Values = json.loads(value.replace(";", ","))
    return values
