"""`.ci/run` names files and folders of the checkout, and nothing of tokpar that may be moved."""

import re

from tests.support.paths import ROOT

RUN = (ROOT / ".ci/run").read_text(encoding="utf-8")


def test_each_path_that_ci_names_is_there() -> None:
    named = set(re.findall(r"(?<![\w./$-])(?:tests|plugins)/[\w./-]*\w(?=[\s)\\]|$)", RUN))
    assert len(named) > 15
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []


def test_ci_imports_no_module_of_tokpar() -> None:
    imported = re.findall(r"(?:from tokpar|import tokpar)[^'\"\n]*", RUN)
    assert imported == [], "ask a command of tokpar: a module may be moved, its command stays"
