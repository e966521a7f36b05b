"""Which sources a compiled kernel was made of, and where an installed kernel of them is.

The build writes the digest of the kernel's sources beside the kernel. Python takes the folder
`tokpar` of the current directory before the installed one: in a copy of the repository that was not
built in place, it finds the sources and no kernel. The kernel of another folder of `sys.path` is
taken if, and only if, it was made of these sources, byte for byte."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from types import ModuleType

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


@cache
def installed_kernel() -> tuple[Path | None, str]:
    """Returns what `kernel_for` returns for this copy of tokpar."""
    return kernel_for(Path(__file__).parent.with_name("compiled"))


def why_none() -> str:
    """Returns why this copy of tokpar has no kernel, in words."""
    if os.environ.get("TOKPAR_KERNEL") == "none":
        return "TOKPAR_KERNEL=none is set"
    return installed_kernel()[1]


def load_installed(name: str, is_required: bool) -> ModuleType | None:
    """Returns a module of the kernel of another folder: "_call". None if there is no such kernel,
    or, if `is_required`, ImportError."""
    folder, why = installed_kernel()
    if folder is not None:
        return load_module(f"tokpar.compiled.{name}", folder)
    if is_required:
        raise ImportError(f"TOKPAR_KERNEL=compiled, but there is no kernel: {why}")
    return None


def load_module(name: str, folder: Path) -> ModuleType | None:
    """Loads a module of the kernel in `folder`, in place of the module of that name."""
    stem = name.rpartition(".")[2]
    files = (folder / f"{stem}{suffix}" for suffix in EXTENSION_SUFFIXES)
    file = next(filter(Path.is_file, files), None)
    spec = None if file is None else importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        return None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules[name] = module
    return module
