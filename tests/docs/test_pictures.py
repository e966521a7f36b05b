"""Pictures and the tables of docs/benchmarks.md and docs/programs.md have the figures of docs/data,
and the pictures of seams show what the strategies do."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

from tests.programs import page_table
from tests.programs.row_files import read_rows
from tests.support.paths import ROOT


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / "pictures" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def test_the_pictures_of_seams_are_what_the_strategies_do() -> None:
    seams = script("draw_seams")
    for picture in seams.PICTURES:
        path = ROOT / "docs" / "pictures" / f"{picture.name}.svg"
        said = "run `python docs/pictures/draw_seams.py`"
        assert path.read_text(encoding="utf-8") == seams.draw(picture), said


def test_the_picture_and_the_table_of_speeds_are_what_the_script_makes_of_the_data() -> None:
    speed = script("draw_speed")
    said = "run `python docs/pictures/draw_speed.py`"
    assert speed.PICTURE.read_text(encoding="utf-8") == speed.draw(speed.speeds()), said
    assert f"\n\n{speed.table()}\n" in speed.PAGE.read_text(encoding="utf-8"), said


def test_the_picture_of_prompts_is_what_the_script_draws_of_the_data() -> None:
    prompts = script("draw_prompts")
    said = "run `python docs/pictures/draw_prompts.py`"
    assert prompts.PICTURE.read_text(encoding="utf-8") == prompts.draw(prompts.times()), said


def test_the_table_of_programs_is_what_the_script_makes_of_the_data() -> None:
    said = "run `python -m tests.programs.page_table`"
    rows = read_rows(page_table.DATA)
    assert {row["answers"] for row in rows} == {"equal"}
    assert f"\n\n{page_table.intro(rows)}\n\n" in page_table.PAGE.read_text("utf-8"), said
    assert f"\n\n{page_table.table(rows)}\n" in page_table.PAGE.read_text("utf-8"), said


def test_the_readme_has_at_most_120_lines() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 120
