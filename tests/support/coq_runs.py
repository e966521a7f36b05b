"""Compile the Coq files of proofs/coq, and compute with them."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.support.paths import ROOT

COQ = ROOT / "proofs" / "coq"
SOURCES = [line for line in (COQ / "_CoqProject").read_text().splitlines() if line.endswith(".v")]
PRINTED = "Assumptions.out"
Values = list[list[list[int]]]
"""What Coq computes: for each term rows of numbers."""


def coqc(directory: Path, file: str) -> str:
    """Compile one file of the directory. Returns what Coq prints."""
    command = ["coqc", "-Q", ".", "Tokpar", file]
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f"coqc {file}:\n{done.stdout}{done.stderr}"
    return done.stdout


def compile_all(directory: Path, kept: Path | None) -> str:
    """Compile all files in an empty directory. Returns what the last file, Assumptions.v, prints.

    `kept`: a directory in which compiled files are kept for the next run with the same sources and
    the same version of Coq."""
    kept = kept / _digest_of_sources() if kept else None
    if kept and (kept / PRINTED).is_file():
        shutil.copytree(kept, directory, dirs_exist_ok=True)
        return (kept / PRINTED).read_text(encoding="utf-8")
    for file in SOURCES:
        shutil.copy(COQ / file, directory)
    printed = [coqc(directory, file) for file in SOURCES][-1]
    if kept:
        (directory / PRINTED).write_text(printed, encoding="utf-8")
        whole = Path(shutil.copytree(directory, kept.with_suffix(f".{os.getpid()}")))
        try:
            whole.rename(kept)
        except OSError:  # another process was sooner
            shutil.rmtree(whole)
    return printed


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


def write_definitions(directory: Path, definitions: Mapping[str, str]) -> None:
    """Compile all definitions as one file, Planted.v, with a module for each."""
    libraries = {each for text in definitions.values() for each in LIBRARIES.findall(text)}
    source = "".join(sorted(libraries))
    for name, text in definitions.items():
        body = REQUIRED.sub(r"\1 \2.", LIBRARIES.sub("", text))
        source += f"Module {name}.\n{body}\nEnd {name}.\n"
    source += f"Export {' '.join(definitions)}.\n"
    (directory / "Planted.v").write_text(source, encoding="utf-8")
    coqc(directory, "Planted.v")


def computed(directory: Path, imports: str, terms: Iterable[str], definitions: str = "") -> Values:
    """The values of the terms. `definitions`: Coq sentences before the terms."""
    (directory / "Computed.v").write_text(
        "From Coq Require Import List NArith.\nImport ListNotations.\n"
        f"From Tokpar Require Import {imports}.\n{definitions}\n"
        "Set Printing Width 1000000.\nSet Printing Depth 1000000.\n"
        f"Eval vm_compute in [{'; '.join(terms)}].\n",
        encoding="utf-8",
    )
    value = coqc(directory, "Computed.v").partition(": list")[0].strip().removeprefix("=")
    values: Values = json.loads(value.replace(";", ","))
    return values
