"""A build that stops at any step, in any way, goes on to the same bytes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from corpora import contents, many, write_rows
from lossy_disk import FullDisk, LossyDisk, PowerCutError
from tokpar_corpus.build_progress import Progress
from tokpar_corpus.building import BuildStoppedError, run_build
from tokpar_corpus.durable_files import Disk, FileLayer
from tokpar_corpus.job import Request, prepare
from tokpar_corpus.journal import Entry, is_whole
from tokpar_corpus.manifest import Shard

from tests.conftest import is_quick

NEVER = 1 << 40
LOSSES = {
    "killed": (True, True),
    "power cut": (False, False),
    "names kept, bytes lost": (True, False),
    "bytes kept, names lost": (False, True),
}


def run(layer: FileLayer, source: Path, out: Path, **options: object) -> None:
    request = Request([str(source)], out, "default", shard_size=1200, workers=1, **options)  # type: ignore[arg-type]
    run_build(prepare(request), layer, Progress())


@pytest.fixture(params=["megatron", "numpy", "parquet"])
def whole(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Path, dict[str, bytes]]:
    """A format, an input, and the files of an undisturbed build."""
    source = write_rows(tmp_path / "rows.jsonl.gz", many(70))
    run(Disk(), source, tmp_path / "whole", format=request.param)
    assert len(list((tmp_path / "whole").glob("shard-*"))) >= 6
    return request.param, source, contents(tmp_path / "whole")


@pytest.mark.parametrize("loss", LOSSES)
def test_a_build_goes_on_after_a_cut_at_any_step(
    whole: tuple[str, Path, dict[str, bytes]], tmp_path: Path, loss: str
) -> None:
    format_, source, expected = whole
    keeps_names, keeps_data = LOSSES[loss]
    every = LossyDisk(tmp_path / "every", NEVER)
    run(every, source, tmp_path / "every", format=format_)
    assert every.steps > 40
    for last in range(0, every.steps, 5 if is_quick() else 1):
        out = tmp_path / f"cut-{last}"
        disk = LossyDisk(out, last)
        with pytest.raises(PowerCutError):
            run(disk, source, out, format=format_)
        disk.cut(keeps_names, keeps_data)
        for name in set(disk.names) & set(expected) if not keeps_names or keeps_data else ():
            if (out / name).exists():  # never a file that looks whole and is not
                assert (out / name).read_bytes() == expected[name], (last, name)
        if loss in ("killed", "power cut"):
            assert all(is_whole(shard, out) for shard in journaled(out)), last
        run(Disk(), source, out, format=format_, resume=True)
        assert contents(out) == expected, last


def journaled(out: Path) -> list[Shard]:
    """The shards that the journal of a folder names, but for a last line that is not complete."""
    journal = out / "journal.jsonl"
    lines = journal.read_text().split("\n")[1:-1] if journal.exists() else []
    return [Entry.from_line(line).shard for line in lines]


FILES = {"megatron": 2, "numpy": 2, "parquet": 1}
"""How many files a shard has."""


@pytest.mark.parametrize("keeps_data", [True, False])
def test_a_build_goes_on_after_cuts_at_each_step_in_turn(
    whole: tuple[str, Path, dict[str, bytes]], tmp_path: Path, keeps_data: bool
) -> None:
    """Each run gets a little further than the one before."""
    format_, source, expected = whole
    out, last = tmp_path / "out", 3
    for _ in range(400):
        disk = LossyDisk(out, last)
        try:
            run(disk, source, out, format=format_, resume=True)
        except PowerCutError:
            disk.cut(keeps_names=keeps_data, keeps_data=keeps_data)
            last += 1
            continue
        break
    assert last > 10
    assert contents(out) == expected
    run(Disk(), source, out, format=format_, resume=True)  # no line of the journal is damaged
    assert (
        len(journaled(out)) == len([name for name in expected if name[0] == "s"]) // FILES[format_]
    )


def test_a_full_disk_is_an_error_and_the_build_goes_on_when_there_is_room(
    whole: tuple[str, Path, dict[str, bytes]], tmp_path: Path
) -> None:
    format_, source, expected = whole
    needed = FullDisk(NEVER)
    run(needed, source, tmp_path / "every", format=format_)
    for room in range(0, needed.written, needed.written // (7 if is_quick() else 60)):
        out = tmp_path / f"full-{room}"
        with pytest.raises(OSError, match="No space left"):
            run(FullDisk(room), source, out, format=format_)
        assert not [path for path in out.iterdir() if "shard" in path.name and path.name[0] == "."]
        run(Disk(), source, out, format=format_, resume=True)
        assert contents(out) == expected, room


def test_a_build_that_is_asked_to_stop_ends_with_a_whole_shard(
    whole: tuple[str, Path, dict[str, bytes]], tmp_path: Path
) -> None:
    format_, source, expected = whole
    request = Request([str(source)], tmp_path / "out", "default", shard_size=1200, format=format_)
    with pytest.raises(BuildStoppedError):
        run_build(prepare(request), Disk(), Progress(), is_stopped=lambda: True)
    found = contents(tmp_path / "out")
    assert sorted(name for name in found if name[0] == ".") == []
    assert "manifest.json" not in found
    assert found.items() < expected.items()
    run(Disk(), source, tmp_path / "out", format=format_, resume=True)
    assert contents(tmp_path / "out") == expected


def test_a_shard_that_was_damaged_since_is_built_again(
    whole: tuple[str, Path, dict[str, bytes]], tmp_path: Path
) -> None:
    format_, source, expected = whole
    out = tmp_path / "out"
    damages: list[Callable[[Path], object]] = [
        lambda path: path.unlink(),
        lambda path: path.write_bytes(path.read_bytes()[:-1]),
        lambda path: path.write_bytes(path.read_bytes()[:-1] + b"\xff"),
    ]
    run(Disk(), source, out, format=format_)
    for damage in damages:
        damage(sorted(out.glob("shard-*"))[2])
        run(Disk(), source, out, format=format_, resume=True)
        assert contents(out) == expected
