"""How many files and functions a call of a user runs: a second way beside the front shows here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tokpar
from tests.conftest import needs_kernel
from tests.support.paths import VOCAB
from tests.support.trips import (
    TEXT,
    TEXTS,
    everyday_trips,
    functions_of,
    stored_trips,
    trip_of,
    trips_of_as_hf,
)
from tokpar.adapters.hf_version import installed_release
from tokpar.chunks.encoded_text import EncodedText
from tokpar.compiled.compiled_call import CompiledCall
from tokpar.encoder import LEFT_OVER
from tokpar.sessions.rope import segments_after

pytestmark = [
    needs_kernel,
    pytest.mark.compiled_at_once,
    pytest.mark.skipif(installed_release() >= (1,), reason="1.x has no compiled call"),
]


@pytest.fixture(name="encoder")
def _encoder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tokpar.Encoder:
    monkeypatch.setenv("TOKPAR_CACHE", str(tmp_path))
    encoder = tokpar.Encoder(VOCAB / "deepseek_part.json")
    encoder.prepare()
    encoder.encode_batch([*TEXTS, TEXT])  # seen, and every module is imported
    return encoder


def within(trip: tuple[int, int], files: int, functions: int) -> bool:
    return trip[0] <= files and trip[1] <= functions


WATCHED = "integrations/tokenizers_functions.py note_new_models.<locals>.set_attribute"
"""Notes each new model of an engine, once another test of this process has used `as_tokenizers`."""


def test_an_everyday_call_runs_no_function_that_is_not_in_the_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The names that fail here are new on the way of the call: `python -m tests.recipes.trips`."""
    monkeypatch.setenv("TOKPAR_CACHE", str(tmp_path))
    stored = stored_trips()
    grown = {
        name: sorted(functions_of(call) - {*stored[name], WATCHED})
        for name, call in everyday_trips(tmp_path)
    }
    assert {name: functions for name, functions in grown.items() if functions} == {}
    assert len(grown) == 8


def test_a_call_of_as_hf_runs_no_function_that_is_not_in_the_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("transformers", reason="transformers is missing")
    monkeypatch.setenv("TOKPAR_CACHE", str(tmp_path))
    for name, call in trips_of_as_hf():
        assert functions_of(call) - {*stored_trips()[name]} == set(), name


def test_a_text_takes_three_files_and_a_batch_takes_eight() -> None:
    """The list does not grow by itself."""
    most = {"encode": (3, 5), "count": (3, 5), "encode_batch": (8, 20), "chunks": (18, 58)}
    most |= {"stream": (21, 65), "session.append": (11, 43), "count with a limit": (5, 9)}
    most |= {"as_hf, a text": (13, 40), "as_hf, a batch": (14, 45), "tokpar count": (60, 400)}
    for name, (files, functions) in most.items():
        rows = stored_trips()[name]
        found = len({row.partition(" ")[0] for row in rows}), len(rows)
        assert within(found, files, functions), (name, found)


def test_lossless_makes_no_seams(encoder: tokpar.Encoder) -> None:
    encoding = encoder.encode(TEXT * 100)
    assert within(trip_of(lambda: encoding.lossless), 6, 15)
    assert "seams" not in vars(encoding)
    assert encoding.seams.lossless


def test_a_check_takes_thirty_files(encoder: tokpar.Encoder) -> None:
    encoding = encoder.encode(TEXT)
    tokpar.check(encoding, TEXT, encoder.tokenizer)
    trip = trip_of(lambda: tokpar.check(encoding, TEXT, encoder.tokenizer))
    assert within(trip, 30, 120), trip


def test_a_text_that_the_call_leaves_is_encoded_by_one_call_of_the_engine(
    encoder: tokpar.Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CompiledCall, "encode", lambda *_: None)
    report = encoder.encode(TEXT * 100).report
    assert (report.plan, report.why, report.chunks) == ("serial", LEFT_OVER, 1)


def test_a_text_is_cut_while_there_is_no_compiled_call(encoder: tokpar.Encoder) -> None:
    encoder.tokenizer.later_call.call = None  # type: ignore[attr-defined]
    report = encoder.encode(TEXT * 100).report
    assert (report.plan, encoder.report.texts["cut"]) == ("divided at every space", 1)


def test_a_count_with_a_limit_stops_at_the_limit(encoder: tokpar.Encoder) -> None:
    assert encoder.count(TEXT) == len(encoder.encode(TEXT)) > 5
    assert encoder.count(TEXT, limit=5) == 6


@pytest.mark.parametrize("boundary", ["token", "line", "sentence"])
@pytest.mark.parametrize("overlap", [0, 64])
def test_chunks_take_eighteen_files_and_seventy_functions(
    encoder: tokpar.Encoder, boundary: Any, overlap: int
) -> None:
    text = f"{TEXT}\n" * 100
    certified = [chunk.certified for chunk in encoder.chunks(text, 512, overlap, boundary)]
    assert len(certified) > 9
    trip = trip_of(lambda: [*encoder.chunks(text, 512, overlap, boundary)])
    assert within(trip, 18, 70), trip


@pytest.mark.parametrize("name", ["deepseek_part", "bert_part"])
def test_chunks_encode_the_text_once_and_each_slice_once(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKPAR_CACHE", str(tmp_path))
    encoder, text, sizes = tokpar.Encoder(VOCAB / f"{name}.json"), TEXT * 40, []
    encoder.prepare()

    def counted(own: Any) -> Any:
        return lambda self, given: (sizes.append(len(given)), own(self, given))[1]

    for method in ("encode_plain", "places"):
        monkeypatch.setattr(CompiledCall, method, counted(getattr(CompiledCall, method)))
    chunks = [*encoder.chunks(text, 100)]
    assert len(chunks) > 9
    assert 2 * len(text) == sum(sizes)


def test_a_text_of_one_chunk_is_encoded_once_and_not_located(
    encoder: tokpar.Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    [*encoder.chunks(TEXT, 512)]
    monkeypatch.setattr(EncodedText, "load", lambda _: pytest.fail("located"))
    trip = trip_of(lambda: [*encoder.chunks(TEXT, 512)])
    assert within(trip, 17, 45), trip
    [chunk] = encoder.chunks(TEXT, encoder.count(TEXT))
    assert (chunk.start, chunk.stop, chunk.certified) == (0, len(TEXT), True)


def test_an_edit_of_a_session_takes_fifteen_files_and_sixty_functions(
    encoder: tokpar.Encoder,
) -> None:
    session = encoder.session(TEXT * 300)
    session.fork().append(TEXT)
    assert within(trip_of(lambda: encoder.session(TEXT)), 16, 50)
    for edit in (
        lambda: session.append(TEXT),
        lambda: session.replace(40_000, 40_009, TEXT),
        lambda: session.truncate(len(session) - 9),
    ):
        trip = trip_of(edit)
        assert within(trip, 15, 60), trip
    assert len([*segments_after(session._state.rope, 0)]) > 2
