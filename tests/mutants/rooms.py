"""The rooms that decide ids: of each, the files that get faults, and the tests that run."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent


class Room(NamedTuple):
    """`sources`: patterns of files in tokpar/ in which faults are drawn. `tests`: files and folders
    in tests/. `first`: the names of files whose tests run first. `profile`: TOKPAR_PROFILE."""

    sources: str
    tests: str
    first: tuple[str, ...] = ()
    profile: str = "quick"

    def files(self) -> list[Path]:
        found = (sorted((ROOT / "tokpar").glob(each)) for each in self.sources.split())
        return [file for files in found for file in files if file.name != "__init__.py"]

    def folders(self) -> list[str]:
        return [f"tests/{each}" for each in self.tests.split()]


DOORS = "pipeline/test_doors.py pipeline/test_regressions.py"
SWEEP = (
    "test_call_sweep.py",
    "test_call_sure_cuts.py",
    "test_call_checks.py",
    "test_merges_gate.py",
)
ROOMS = {
    "untrusted": Room("untrusted/*.py", "untrusted certificate/test_untrusted.py"),
    "decoding": Room("decoding/*.py", "decoding"),
    "cuts": Room(
        "cuts/*.py", f"cuts facts sessions/test_stable_cuts.py methods/test_lossless.py {DOORS}",
        ("test_firm_cuts.py", "test_added_token_contents.py", "test_normalized.py"),
    ),
    "sessions": Room("sessions/*.py", f"sessions pipeline/test_stream.py {DOORS}"),
    "chunks": Room("chunks/*.py", f"chunks {DOORS}"),
    "encoder": Room(
        "encoder.py calls.py loading.py compiled/front.py pipeline/*.py",
        "pipeline methods/test_lossless.py methods/test_combining.py",
    ),
    "results": Room("results/*.py", "pipeline certificate/test_certificate.py executors"),
    "patterns": Room("patterns/*.py", "patterns cuts/test_windows_finding.py"
                     " cuts/test_window_seams.py certificate/test_windows_checked.py"),
    "facts": Room("facts/*.py", "facts adapters/test_token_lengths.py adapters/test_offsets.py"
                  " adapters/test_offset_routes.py"),
    "integrations": Room(
        "integrations/hf_arguments.py integrations/tiktoken_arguments.py"
        " integrations/hf_columns.py integrations/row_columns.py integrations/marked_text.py"
        " integrations/hf_cut_calls.py integrations/tiktoken_path.py",
        "integrations",
        ("test_row_columns.py", "test_asked_columns.py", "test_tiktoken_arguments.py"),
    ),
    "compiled": Room(
        "compiled/[!_]*.py", f"compiled pipeline/test_utf8_texts.py {DOORS}", SWEEP
    ),
    "kernel": Room(
        "compiled/call*.h compiled/words.h compiled/call.c",
        f"compiled decoding adapters/test_offsets.py {DOORS}",
        SWEEP,
    ),
    # what a state machine has to notice by itself, in as many examples as the workflow draws
    "drop_in_machine": Room("", "integrations/test_drop_in_machine.py", profile="ci"),
    "stream_machine": Room("", "decoding/test_stream_machine.py", profile="ci"),
    "chunk_machine": Room("", "chunks/test_chunk_machine.py", profile="ci"),
}  # fmt: skip
