"""tokpar is imported, and encodes, where Python lacks what only Linux or only Unix has."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from tests.support.paths import ROOT, VOCAB
from tests.support.profiles import cases

LINUX_ONLY = (
    *("os.sched_getaffinity", "os.sched_setaffinity", "os.posix_fadvise", "os.memfd_create"),
    *("os.eventfd", "os.getrandom", "os.copy_file_range", "os.pipe2", "os.fdatasync"),
    *("os.splice", "os.O_TMPFILE", "os.O_DIRECT", "os.O_PATH", "os.O_LARGEFILE", "os.O_NOATIME"),
    *("signal.sigtimedwait", "signal.SIGRTMIN", "select.epoll"),
)
"""What macOS lacks."""
UNIX_ONLY = (
    *("os.fork", "os.forkpty", "os.register_at_fork", "os.posix_spawn", "os.wait", "os.waitid"),
    *("os.WIFEXITED", "os.WEXITSTATUS", "os.killpg", "os.getpgid", "os.setsid", "os.nice"),
    *("os.getuid", "os.geteuid", "os.getgid", "os.getegid", "os.getgroups", "os.getloadavg"),
    *("os.uname", "os.sysconf", "os.statvfs", "os.chown", "os.fchown", "os.mkfifo", "os.mknod"),
    *("os.pread", "os.pwrite", "os.readv", "os.writev", "os.sendfile", "os.lockf", "os.sync"),
    *("os.O_NONBLOCK", "os.O_CLOEXEC", "os.O_NOFOLLOW", "os.O_DIRECTORY", "os.O_NOCTTY"),
    *("os.O_SYNC", "os.O_DSYNC", "os.EX_OK", "os.RTLD_GLOBAL", "os.ctermid", "os.setpriority"),
    *("signal.SIGKILL", "signal.SIGHUP", "signal.SIGQUIT", "signal.SIGALRM", "signal.SIGPIPE"),
    *("signal.SIGUSR1", "signal.SIGCHLD", "signal.alarm", "signal.setitimer", "signal.sigwait"),
    *("signal.pthread_sigmask", "signal.pthread_kill", "signal.siginterrupt", "signal.pause"),
    *("select.poll", "time.clock_gettime", "time.tzset", "socket.AF_UNIX", "mmap.MAP_SHARED"),
    *("mmap.MAP_PRIVATE", "mmap.PROT_READ", "mmap.PROT_WRITE", "mmap.MADV_WILLNEED"),
    *("resource", "fcntl", "pwd", "grp", "termios", "tty", "pty", "syslog", "readline"),
)
"""What Windows lacks, besides `LINUX_ONLY`."""
WINDOWS, MACOS = (*LINUX_ONLY, *UNIX_ONLY), LINUX_ONLY
MISSED_BEFORE = ("os.fork", "os.O_NONBLOCK", "os.getuid", "resource", "fcntl")
"""Each of these is left out alone, whether a source mentions it or not."""
SCRIPT = """
import importlib, pkgutil, sys
# what others do without a name is theirs: they are imported first
import asyncio, concurrent.futures.process, logging, multiprocessing.pool, random, tempfile
import numpy, pluggy, regex, tiktoken, tiktoken.load, tokenizers, tqdm
text_file, vocabulary, *lacks = sys.argv[1:]
for name in lacks:
    module, _, attribute = name.partition(".")
    if not attribute:
        sys.modules[module] = None
    elif hasattr(importlib.import_module(module), attribute):
        delattr(importlib.import_module(module), attribute)
if len(lacks) < 50:  # transformers is slow to import: one process imports it
    sys.modules["transformers"] = None
import tokpar
packages = [tokpar]
for plugin in ("tokpar_corpus", "tokpar_conformance", "tokpar_train"):
    if importlib.util.find_spec(plugin):
        packages.append(importlib.import_module(plugin))
for package in packages:
    for each in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        try:
            if not each.name.endswith("__main__"):
                importlib.import_module(each.name)
        except ImportError as error:
            without = "transformers" in sys.modules and sys.modules["transformers"] is None
            if not without or "transformers" not in str(error):
                raise
with open(text_file, encoding="utf-8") as file:
    text = file.read()
own = tokenizers.Tokenizer.from_file(vocabulary)
with tokpar.Encoder(own) as encoder:
    encoder.prepare()
    assert encoder.encode(text).ids.tolist() == own.encode(text).ids
    for ids, short in zip(encoder.encode_batch(text.split("\\n")), text.split("\\n")):
        assert ids.ids.tolist() == own.encode(short).ids
with tokpar.Encoder(own, strategy="cut", executor="threads", workers=2) as encoder:
    assert encoder.encode(text).ids.tolist() == own.encode(text).ids
assert tokpar.count(text, vocabulary) == len(own.encode(text).ids)
print("encoded")
"""


def names_in_sources() -> list[str]:
    """The names of `WINDOWS` that a source of this project mentions."""
    paths = [*(ROOT / "tokpar").rglob("*.py"), *(ROOT / "plugins").glob("*/src/**/*.py")]
    source = "\n".join(path.read_text("utf-8") for path in paths)
    # one search for all names: a search for each took seconds in each process of the tests
    found = {name for pair in re.findall(r"(?<![\w.])((\w+)(?:\.\w+)?)", source) for name in pair}
    return sorted({*(name for name in WINDOWS if name in found), *MISSED_BEFORE})


def outcome_without(*names: str) -> str:
    """What a process prints that imports and encodes where `names` are missing."""
    files = str(ROOT / "README.md"), str(VOCAB / "deepseek_part.json")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *files, *names],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT), "TOKPAR_PLUGINS": ""},
        timeout=120,
        check=False,
    )
    return done.stdout.strip() or done.stderr


@pytest.mark.parametrize("name", cases(names_in_sources(), ["os.fork", "os.register_at_fork"]))
def test_each_module_is_imported_and_encodes_without(name: str) -> None:
    assert outcome_without(name) == "encoded"


@pytest.mark.parametrize("names", [WINDOWS, MACOS], ids=["Windows", "macOS"])
def test_each_module_is_imported_and_encodes_without_all_that_is_missing_on(
    names: tuple[str, ...],
) -> None:
    assert outcome_without(*names) == "encoded"


def test_utf_32_is_read_in_the_order_of_bytes_in_which_it_was_written() -> None:
    """A big-endian machine reads native numbers in the other order."""
    files = [*(ROOT / "tokpar").rglob("*.py"), *(ROOT / "plugins").glob("*/src/**/*.py")]
    read = re.compile(r'frombuffer\([^\n]*"utf-32-le"[^\n]*')
    lines = [line for file in files for line in read.findall(file.read_text(encoding="utf-8"))]
    assert len(lines) > 4
    assert [line for line in lines if '"<u4"' not in line] == []


def test_little_endian_data_is_read_as_such() -> None:
    """As native numbers it is read the other way round on a big-endian machine."""
    sources = [*(ROOT / "tokpar").rglob("*.py"), *(ROOT / "plugins").glob("*/src/**/*.py")]
    lines = [line for file in sources for line in file.read_text("utf-8").splitlines()]
    reading = [line for line in lines if "frombuffer" in line and "utf-32-le" in line]
    assert len(reading) >= 7
    assert [line for line in reading if '"<u4"' not in line] == []


def test_wheels_are_built_for_both_processors_of_each_system_that_has_two() -> None:
    workflow = (ROOT / ".github/workflows/release.yml").read_text("utf-8")
    (systems,) = re.findall(r"^ +os: \[(.*)\]", workflow, re.MULTILINE)
    wanted = {"ubuntu-latest", "ubuntu-24.04-arm", "macos-latest", "macos-15-intel"}
    assert wanted | {"windows-latest"} == set(systems.split(", "))
