"""Many tokenizers: where tokpar cuts with each, that the ids are equal, and how fast it is.

    python -m tests.recipes.tokenizer_files --out DIR --corpora DIR [--vocab DIR]
    python -m tests.benchmarks.tokenizers --files DIR --corpora DIR [--only ROW ...]
        [--parts PART ...] [--all-texts]

Writes docs/tokenizers.json and makes docs/tokenizers.md of it; without --files only the page. A
part of a row (way, cuts, ids, speed) is kept with the hash of tokpar's sources and of the file, and
measured again when one of them has changed, so that a run that was stopped goes on where it was.
--all-texts compares ids on all of the corpora, which takes an hour. Ends with 1 if any ids
differ.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import platform
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tqdm import tqdm

import tokpar
from tests.benchmarks import refuse_without_kernel
from tests.benchmarks.tokenizers_page import page
from tests.benchmarks.tokenizers_rows import (
    Loaded,
    Samples,
    compared,
    cuts,
    loaded,
    samples,
    speed,
    way,
)

DOCS = Path(__file__).parents[2] / "docs"
RESULTS, PAGE = DOCS / "tokenizers.json", DOCS / "tokenizers.md"
PARTS: dict[str, Callable[[Loaded, Samples], dict[str, Any]]] = {
    "way": way,
    "cuts": cuts,
    "ids": compared,
    "speed": speed,
}
PACKAGES = ("tokenizers", "tiktoken", "numpy")
Results = dict[str, Any]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--files", type=Path, help="what tests.recipes.tokenizer_files wrote")
    parser.add_argument("--corpora", type=Path, help="a directory of *.jsonl files")
    parser.add_argument("--only", nargs="+", metavar="ROW", help="rows with one of these names")
    parser.add_argument("--all-texts", action="store_true", help="compare ids on whole corpora")
    parser.add_argument("--parts", nargs="+", choices=[*PARTS], default=[*PARTS], help="only these")
    args = parser.parse_args(argv)
    results: Results = json.loads(RESULTS.read_text(encoding="utf-8"))
    if args.files is not None:
        if args.corpora is None:
            parser.error("--files needs --corpora")
        _measure(results, args)
    PAGE.write_text(page(results), encoding="utf-8")
    differing = [name for name, row in results["rows"].items() if row.get("ids", {}).get("differ")]
    for name in differing:
        print(f"{name}: {results['rows'][name]['ids']['differ']}", file=sys.stderr)
    return 1 if differing else 0


def _measure(results: Results, args: argparse.Namespace) -> None:
    index = json.loads((args.files / "index.json").read_text(encoding="utf-8"))
    unknown = sorted(set(args.only or ()) - set(index))
    if unknown:
        raise SystemExit(f"no such row: {', '.join(unknown)}; there are {', '.join(index)}")
    results["versions"] = {name: version(name) for name in PACKAGES}
    results["versions"]["Python"] = platform.python_version()
    texts, code = samples(args.corpora, args.all_texts), sources()
    results["texts"] = texts.counts()
    old = results["rows"]
    results["rows"] = {name: old.get(name, {}) for name in index}
    for name in (bar := tqdm(args.only or index, unit="tokenizer")):
        bar.set_description(name)
        entry, row = index[name], results["rows"][name]
        path = args.files / entry["file"]
        state = hashlib.sha256(path.read_bytes() + code.encode()).hexdigest()[:16]
        enough = sum(map(len, texts.usual)) if args.all_texts else 0
        missing = [part for part in args.parts if not _kept(row.get(part), state, enough)]
        if not missing:
            continue
        subject = loaded(path, entry["settings"])
        row["origin"] = entry["origin"]
        for part in missing:
            row[part] = PARTS[part](subject, texts) | {"of": state}
        written = json.dumps(results, indent=1, ensure_ascii=False)
        RESULTS.write_text(written + "\n", encoding="utf-8")


def _kept(part: dict[str, Any] | None, state: str, enough: int) -> bool:
    """That the part was measured in this state, and ids on at least so many code points."""
    if part is None or part["of"] != state:
        return False
    return bool(part.get("code points", enough) >= enough)


def sources() -> str:
    """What tells one state of tokpar from another."""
    root = Path(tokpar.__file__).parent
    files = sorted(path for path in root.rglob("*") if path.suffix in (".py", ".json"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


if __name__ == "__main__":
    refuse_without_kernel()
    raise SystemExit(main())
