"""Files and folders of the cache on disk: which are read, and how they are opened and made."""

import os
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader, BufferedWriter
from pathlib import Path

from tokpar.process.interrupts import ignored_os_errors

FILE_MODE, FOLDER_MODE = 0o644, 0o755
"""The modes of what is made, whatever the umask: other users read the tables of an image."""
PART = ".part"
"""The suffix of a file that is being written."""
OLD = 3600
"""Seconds after which nobody writes a file with the suffix PART any more."""
_OPTIONS = ("O_NONBLOCK", "O_NOCTTY", "O_BINARY")  # not every system has all of them
_refusals: set[str] = set()


def open_to_read(path: Path) -> BufferedReader | None:
    """Opens a file of the cache; None if it is refused (`why_refused`). Raises OSError.

    The file is opened first and looked at then, so nobody can exchange it between the two. A FIFO
    without a writer does not keep the caller waiting."""
    options = sum(getattr(os, name, 0) for name in _OPTIONS)
    descriptor = os.open(path, os.O_RDONLY | options)
    try:
        why = why_refused(path.parent, os.stat(path.parent))
        why = why or why_refused(path, os.fstat(descriptor))
        if why is None and stat.S_ISREG(os.fstat(descriptor).st_mode):
            return os.fdopen(descriptor, "rb")
        log_refusal(why or f"{path} is no regular file")
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None


def why_refused(path: Path, status: os.stat_result) -> str | None:
    """Returns why a file or folder of the cache is not read, or None.

    It is read if it is a regular file or a folder that belongs to this user or to root, and that no
    other user may write to. Windows has other rights, which are not looked at."""
    if not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode):
        return f"{path} is no regular file"
    user = os.geteuid() if hasattr(os, "geteuid") else None
    if user is not None and status.st_uid not in (user, 0):
        return f"{path} belongs to user {status.st_uid}, not to user {user} or root"
    if user is not None and status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"other users may write to {path} (chmod go-w)"
    return None


def log_refusal(why: str) -> None:
    """Logs once in a process why a file or folder is not read."""
    if why not in _refusals:
        import logging  # `import tokpar` does not need it

        _refusals.add(why)
        logging.getLogger("tokpar").warning("the cache on disk is not used: %s", why)


def make_folder(folder: Path) -> bool:
    """Makes a folder of the cache with all folders above it that are missing. Returns False if what
    is written there would not be read. Raises OSError."""
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for each in reversed(missing):
        try:
            each.mkdir()
        except FileExistsError:  # another process made it
            continue
        each.chmod(FOLDER_MODE)
    last = missing[0] if missing else folder
    why = why_refused(last, last.stat())
    if why is not None:
        log_refusal(why)
    return why is None


@contextmanager
def new_file(path: Path) -> Iterator[BufferedWriter]:
    """A file that gets the name `path` when the block ends without an error; else it is deleted."""
    handle, name = tempfile.mkstemp(dir=path.parent, suffix=PART)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            os.chmod(file.fileno() if os.chmod in os.supports_fd else name, FILE_MODE)
        os.replace(name, path)
    except BaseException:
        with ignored_os_errors():  # the first error counts
            os.unlink(name)
        raise


def sweep(folder: Path) -> None:
    """Deletes the files that killed processes were writing. Raises OSError."""
    oldest = time.time() - OLD
    for path in folder.glob(f"*{PART}"):
        with ignored_os_errors():  # another process sweeps, too
            if path.lstat().st_mtime < oldest:
                path.unlink()
