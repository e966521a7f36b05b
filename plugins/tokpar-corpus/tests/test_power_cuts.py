"""A build that stops at any step, in any way, goes on to the same bytes."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from corpora import contents, many, write_rows
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule
from lossy_disk import FullDisk, LossyDisk, PowerCutError
from tokpar_corpus.build_progress import Progress
from tokpar_corpus.building import BuildStoppedError, run_build
from tokpar_corpus.durable_files import Disk, FileLayer
from tokpar_corpus.job import Request, prepare
from tokpar_corpus.journal import Entry, is_whole
from tokpar_corpus.manifest import Shard

from tests.conftest import at_most, is_quick

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


class BuildMachine(RuleBasedStateMachine):
    """A build that loses power, runs out of disk, is asked to stop and finds damaged shards, in any
    order. At the end it goes on to the bytes of an undisturbed build."""

    @initialize(format_=st.sampled_from(["megatron", "numpy", "parquet"]))
    def begin(self, format_: str) -> None:
        self.tmp = TemporaryDirectory()
        self.folder, self.format = Path(self.tmp.name), format_
        self.source = write_rows(self.folder / "rows.jsonl.gz", many(70))
        run(Disk(), self.source, self.folder / "whole", format=format_)
        self.out, self.expected = self.folder / "out", contents(self.folder / "whole")

    def resume(self, layer: FileLayer) -> None:
        run(layer, self.source, self.out, format=self.format, resume=True)

    @rule(last=st.integers(0, 80), loss=st.sampled_from(list(LOSSES)))
    def lose_power(self, last: int, loss: str) -> None:
        disk = LossyDisk(self.out, last)
        try:
            self.resume(disk)
        except PowerCutError:
            disk.cut(*LOSSES[loss])

    @rule(room=st.integers(0, 30_000))
    def run_out_of_disk(self, room: int) -> None:
        with suppress(OSError):
            self.resume(FullDisk(room))
            return
        assert not [path for path in self.out.glob(".*") if "shard" in path.name]

    @rule()
    def ask_to_stop(self) -> None:
        request = Request(
            [str(self.source)],
            self.out,
            "default",
            shard_size=1200,
            format=self.format,
            resume=True,
        )
        with suppress(BuildStoppedError):
            run_build(prepare(request), Disk(), Progress(), is_stopped=lambda: True)

    @rule(which=st.integers(0, 30), kept=st.sampled_from([None, b"", b"\xff"]))
    def damage_a_shard(self, which: int, kept: bytes | None) -> None:
        """Delete it, cut its last byte off, or change that byte."""
        if shards := sorted(self.out.glob("shard-*")):
            path = shards[which % len(shards)]
            path.unlink() if kept is None else path.write_bytes(path.read_bytes()[:-1] + kept)

    def teardown(self) -> None:
        if hasattr(self, "expected"):
            self.resume(Disk())
            assert contents(self.out) == self.expected
            self.tmp.cleanup()


TestBuilds = BuildMachine.TestCase
TestBuilds.settings = settings(at_most(100), stateful_step_count=6)
