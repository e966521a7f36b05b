"""Is the checkout ready to be released as this version? `python tests/recipes/release.py v1.2.3`

Prints what is missing and ends with 1, or says that nothing is."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VERSION = r"\d+\.\d+\.\d+(?:(?:a|b|rc)\d+)?"
NAMED = {
    "pyproject.toml": r'^version = "({version})"$',
    "tokpar/__init__.py": r'^__version__ = "({version})"$',
    "CITATION.cff": r"^version: ({version})$",
    "CHANGELOG.md": r"^## \[({version})\]",
}
"""Files that name the version, and the line where they do; the first such line counts."""


def problems(tag: str, root: Path) -> list[str]:
    """Why the files below `root` are not those of `tag`, such as "v1.2.3"."""
    version = tag.removeprefix("v")
    if not tag.startswith("v") or not re.fullmatch(VERSION, version):
        return [f"the tag must be v and a version, such as v1.2.3, got {tag!r}"]
    found = []
    for name, line in NAMED.items():
        match = re.search(line.format(version=VERSION), (root / name).read_text("utf-8"), re.M)
        named = match[1] if match else "no version"
        if named != version:
            found.append(f"{name} names {named}, the tag {version}")
    return found


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: python tests/recipes/release.py TAG", file=sys.stderr)
        return 2
    found = problems(arguments[0], ROOT)
    print("\n".join(found) if found else f"ready to be released as {arguments[0]}")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
