"""docs/pictures/speed.svg and README.md have the figures of docs/benchmarks.md, and the pictures of
seams show what the strategies do."""

from __future__ import annotations

import importlib.util
import re
import sys
from types import ModuleType

import pytest

from tests.support.paths import ROOT

PAGE = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / "pictures" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def drawing() -> ModuleType:
    return script("draw_speed")


def test_the_pictures_of_seams_are_what_the_strategies_do() -> None:
    seams = script("draw_seams")
    for picture in seams.PICTURES:
        path = ROOT / "docs" / "pictures" / f"{picture.name}.svg"
        said = "run `python docs/pictures/draw_seams.py`"
        assert path.read_text(encoding="utf-8") == seams.draw(picture), said


def test_the_picture_is_what_the_script_draws_of_the_page(drawing: ModuleType) -> None:
    drawn = drawing.draw(drawing.speeds(PAGE))
    said = "run `python docs/pictures/draw_speed.py`"
    assert drawing.PICTURE.read_text(encoding="utf-8") == drawn, said


def test_the_picture_of_prompts_is_what_the_script_draws_of_the_page() -> None:
    prompts = script("draw_prompts")
    said = "run `python docs/pictures/draw_prompts.py`"
    assert prompts.PICTURE.read_text(encoding="utf-8") == prompts.draw(prompts.times(PAGE)), said


def test_each_figure_stands_in_the_picture(drawing: ModuleType) -> None:
    texts = re.findall(r">([^<]+)</text>", drawing.PICTURE.read_text(encoding="utf-8"))
    known = drawing.speeds(PAGE)
    assert list(known) == ["English", "Python code", "Chinese"]
    for engines in known.values():
        assert len(engines) == 4
        for figures in engines.values():
            for figure in figures:
                assert drawing.shown(figure) in texts
    assert len([text for text in texts if re.fullmatch(r"[\d.]+", text)]) == 3 * 7


def test_another_figure_is_another_picture(drawing: ModuleType) -> None:
    row = next(line for line in PAGE.splitlines() if line.startswith("| llama3"))
    other = PAGE.replace(row, row.replace(" | 2.0 | ", " | 2.0 | 9", 1))
    assert drawing.draw(drawing.speeds(other)) != drawing.draw(drawing.speeds(PAGE))


def test_the_readme_has_at_most_120_lines() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 120
