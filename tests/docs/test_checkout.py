"""A copy of the repository that was not built: the example of README.md has a compiled call there.

Python takes the folder `tokpar` of the current directory before the installed package."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import needs_kernel
from tests.support.model_files import llama_3
from tests.support.pages import blocks
from tests.support.paths import ROOT
from tokpar.process import kernel_modules
from tokpar.process.kernel_sources import DIGEST, kernel_for, sources_digest

CACHE = Path("tokpar", "compiled")
SAYS_KERNEL = """
from pathlib import Path
from tokpar.process import kernel_modules
assert Path(tokpar.__file__).parent.parent == Path.cwd()
print(kernel_modules.NAME, [kernel_modules.CONTENTS, kernel_modules.MERGES] != [None, None])
"""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The package as `git clone` makes it."""
    if not (ROOT / CACHE / "call.c").exists():
        pytest.skip("the sources of the kernel are only in a checkout")
    left_out = shutil.ignore_patterns("*.so", "*.pyd", DIGEST, "__pycache__")
    shutil.copytree(ROOT / "tokpar", tmp_path / "clone" / "tokpar", ignore=left_out)
    return tmp_path / "clone"


def install(site: Path, digest: str | None) -> None:
    """Put a kernel into `site`, as an installation does, beside a digest of sources."""
    (site / CACHE).mkdir(parents=True)
    assert kernel_modules.CALL is not None
    for name in ("_call", "_contents", "_merges", "_vocabulary"):
        for file in Path(str(kernel_modules.CALL.__file__)).parent.glob(f"{name}.*"):
            if file.suffix in (".so", ".pyd"):
                shutil.copy(file, site / CACHE)
    (site / CACHE / DIGEST).write_text(f"{digest}\n", encoding="ascii")


def run(clone: Path, site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python in the clone; `site` is the only other folder with a kernel that matters."""
    own = {k: v for k, v in os.environ.items() if not k.startswith("TOKPAR_")}
    own["PYTHONPATH"] = os.pathsep.join([str(site), own.get("PYTHONPATH", "")])
    command = [sys.executable, "-X", "utf8", *arguments]
    return subprocess.run(
        command, cwd=clone, env=own, capture_output=True, encoding="utf-8", timeout=120, check=False
    )


@needs_kernel
def test_the_example_of_the_readme_has_a_compiled_call_in_a_clone(
    clone: Path, tmp_path: Path
) -> None:
    pytest.importorskip("transformers", reason="the example has a tokenizer of transformers")
    install(tmp_path / "site", sources_digest(clone / CACHE))
    llama_3().save_pretrained(clone / "my-model")
    example = next(block.body for block in blocks(ROOT / "README.md") if block.kind == "python")
    outcome = run(clone, tmp_path / "site", "-W", "error", "-c", example + SAYS_KERNEL)
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stdout.splitlines()[-1] == "compiled True"


@needs_kernel
@pytest.mark.parametrize("name", ["call.c", "call_words.h", "_merges.py", "_contents.pxd"])
def test_a_kernel_of_other_sources_is_not_taken_and_the_reason_is_said(
    clone: Path, tmp_path: Path, name: str
) -> None:
    install(tmp_path / "site", sources_digest(clone / CACHE))
    with (clone / CACHE / name).open("a", encoding="utf-8") as file:
        file.write("\n")
    outcome = run(clone, tmp_path / "site", "-m", "tokpar", "--version")
    assert "kernel: none, because Python imports the sources in" in outcome.stdout
    assert outcome.stderr.count("RuntimeWarning: tokpar encodes without its kernel") == 1
    assert "install these sources again" in outcome.stderr


def test_each_source_of_the_kernel_counts(clone: Path) -> None:
    folder = clone / CACHE
    known = {sources_digest(folder)}
    for file in sorted(folder.glob("*")):
        if file.suffix in (".c", ".h", ".pxd") or file.with_suffix(".pxd").exists():
            file.write_bytes(file.read_bytes() + b" ")
            assert sources_digest(folder) not in known, file
            known.add(sources_digest(folder))
    assert len(known) > 15


def test_without_an_installed_kernel_the_reason_says_what_to_do(
    clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [str(clone), str(tmp_path / "missing")])
    folder, why_none = kernel_for(clone / CACHE)
    assert folder is None
    assert "`pip install -e .` compiles them there" in why_none
    (clone / CACHE / "call.c").unlink()
    assert "no C compiler worked" in kernel_for(clone / CACHE)[1]
