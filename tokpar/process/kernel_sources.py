"""Which sources a compiled kernel was made of, and where an installed kernel of them is.

The build writes the digest of the kernel's sources beside the kernel. Python takes the folder
`tokpar` of the current directory before the installed one: in a copy of the repository that was not
built in place, it finds the sources and no kernel. The kernel of another folder of `sys.path` is
taken if, and only if, it was made of these sources, byte for byte."""

from __future__ import annotations

import hashlib
import sys
import warnings
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

DIGEST = "kernel.sha256"
"""The file beside a kernel that has the digest of its sources."""
_SUFFIXES = (".c", ".h", ".pxd")


def sources_digest(folder: Path) -> str | None:
    """Returns the digest of the kernel's sources in a folder; None if they are not all there."""
    names = sorted(path.name for path in folder.iterdir() if path.suffix in _SUFFIXES)
    names += [name.replace(".pxd", ".py") for name in names if name.endswith(".pxd")]
    whole = hashlib.sha256()
    if "call.c" not in names:
        return None
    for name in names:
        content = (folder / name).read_bytes()
        whole.update(f"{name} {len(content)}\n".encode())
        whole.update(content)
    return whole.hexdigest()


def installed_folders(own: Path) -> Iterator[Path]:
    """Yields the folders of kernels on `sys.path` but for `own`, those first that come first."""
    for entry in sys.path:
        folder = Path(entry) / own.parent.name / own.name
        with suppress(OSError):  # a folder that may not be read
            if (folder / DIGEST).is_file() and not folder.samefile(own):
                yield folder


def kernel_for(own: Path) -> tuple[Path | None, str]:
    """Returns the folder of the installed kernel that was made of the sources in `own`, or None;
    and why there is none. Warns of an installed kernel that was made of other sources."""
    digest = sources_digest(own)
    if digest is None:
        return None, "tokpar was installed without it, because no C compiler worked"
    others = [*installed_folders(own)]
    for folder in others:
        if (folder / DIGEST).read_text(encoding="ascii").strip() == digest:
            return folder, ""
    if not others:
        return None, (
            f"Python imports the sources in {own.parent}, which are not compiled; "
            "`pip install -e .` compiles them there"
        )
    why = (
        f"Python imports the sources in {own.parent}, and the kernel in {others[0].parent} was "
        "made of other sources; install these sources again, or start Python in another folder"
    )
    warnings.warn(f"tokpar encodes without its kernel: {why}", RuntimeWarning, stacklevel=2)
    return None, why
