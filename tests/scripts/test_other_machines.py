"""The driver that asks the kernel's C on other machines: it answers as the kernel here, and finds a
kernel that does not."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import needs_below_one, needs_kernel
from tests.recipes.other_machines import __main__ as other_machines
from tests.recipes.other_machines import cases
from tests.recipes.other_machines.__main__ import HERE, KERNEL, MACHINES, Machine

pytestmark = [
    needs_kernel,
    needs_below_one,
    pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler"),
]
PLANTED = {
    "call_words.h": ("return slot->id[2];", "return slot->id[2] - 1;"),
    "call.c": ("s->is_placing = 1;", "s->is_placing = 0;"),
    "call_decode.h": (
        "const char *from = data + (places[k] >> 16)",
        "const char *from = data + (places[k] >> 17)",
    ),
}


def outcome(kernel: Path, folder: Path, steps: bytes, capfd: pytest.CaptureFixture[str]) -> str:
    """What the driver with a kernel prints, compiled in a hurry."""
    quick = Machine(("cc", "-O0"))
    folder.mkdir(exist_ok=True)
    flags = tuple(flag for flag in other_machines.FLAGS if flag not in ("-O2", "-static"))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(other_machines, "FLAGS", flags)
        driver = other_machines.compiled(quick, folder, kernel)
    capfd.readouterr()
    differs = other_machines.differs(quick, driver, [steps, b"."])
    printed = capfd.readouterr().out
    assert differs == (" 0 differ" not in printed)
    return printed


def test_the_driver_has_the_kernel_s_answers(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    steps = [cases.drawn_steps("bytes", 5), cases.drawn_steps("words", 5)]
    printed = outcome(KERNEL, tmp_path, b"".join(steps), capfd)
    assert printed.startswith("2 tokenizers, ")
    assert " 0 differ" in printed
    assert int(printed.split()[2]) > 200


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_mistake_differs(
    name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    kernel = tmp_path / "kernel"
    kernel.mkdir()
    for file in [*KERNEL.glob("*.h"), KERNEL / "call.c"]:
        shutil.copy(file, kernel)
    source = (kernel / name).read_text()
    assert PLANTED[name][0] in source
    (kernel / name).write_text(source.replace(*PLANTED[name]))
    assert " 0 differ" not in outcome(kernel, tmp_path, cases.drawn_steps("bytes", 5), capfd)


def test_a_file_that_ends_too_soon_is_no_success(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="ended with 3"):
        outcome(KERNEL, tmp_path, cases.drawn_steps("bytes", 5)[:-1], capfd)


def test_a_machine_that_is_not_here_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MACHINES, "moon", Machine(("moon-gcc",), ("qemu-moon",)))
    assert other_machines.lacks(MACHINES["moon"]) == ["moon-gcc", "qemu-moon"]
    assert (HERE / "microsoft/intrin.h").is_file()


def test_arrays_are_little_endian_in_the_file() -> None:
    array = np.array([1, 2], dtype=">u4")
    assert cases.value(array) == cases.value(array.astype("<u4"))
    assert cases.value(array)[-8:] == b"\1\0\0\0\2\0\0\0"
