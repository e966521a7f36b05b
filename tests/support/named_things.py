"""Finds what the project's prose names: commands with their options, modules, paths, environment
variables, extras, levels, calls, titles and anchors of pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.support.paths import ROOT

PROSE = sorted(
    path
    for pattern in (
        *("*.md", "docs/**/*.md", "proofs/**/*.md", "plugins/*.md", "plugins/*/README.md"),
        *(".github/**/*.yml", "CITATION.cff", "mkdocs.yml"),
    )
    for path in ROOT.glob(pattern)
)
"""Each page, template, workflow, and the citation."""
FENCED = re.compile(r"^( *)```\w*\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
INDENTED = re.compile(r"^    .*$", re.MULTILINE)
INLINE = re.compile(r"`([^`\n]+(?:\n[^`\n]+)?)`")
LINK = re.compile(r"\[([^\]]*)\]\(([^)\s:#]*)(?:#([^)\s]*))?\)")
TITLE = re.compile(r"\bpages? (?:of )?((?:\[[^\]]*\]\([^)]*\)(?:,| and)?\s*)+)")
PATH = re.compile(r"(?<![\w/.-])(?:docs|tests|tokpar|plugins|proofs|\.github|\.ci)/[\w./*-]*[\w*]")
FILE = re.compile(r"(?<![\w/.*<-])([a-z_][\w-]*\.(?:py|c|h|toml|cff|yml|csv|svg))(?![\w/(])")
MODULE = re.compile(r"python -m (tests(?:\.\w+)+|tokpar(?:\.\w+)*)")
COMMAND = re.compile(
    r"(?<![\w./\"'-])(?<!from )(?<!import )(?<!Compare )"
    r"tokpar (?!=)([a-z]+)(?: ([a-z]+)\b)?([^|;&#`]*)"
)
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*")
VARIABLE = re.compile(r"\bTOKPAR_[A-Z_]*[A-Z]\b")
EXTRA = re.compile(r"plugins/(tokpar-[a-z]+)\[([a-z,]+)\]|'\.\[([a-z,]+)\]'|tokpar\[([a-z,]+)\]")
LEVEL = re.compile(r"\blevels? `([a-z]+)`")
CALL = re.compile(r"tokpar\.([a-z_]+)\(([^()`]*)\)")
KEYWORD = re.compile(r"(?:^|,)\s*(\w+)=")


@dataclass(frozen=True)
class Link:
    """A link: its text, the file that it leads to, its anchor or "", and whether the page says that
    the text is the title of a page."""

    text: str
    target: Path
    anchor: str
    is_title: bool


def code_in(text: str) -> Iterator[str]:
    """The code of a page: fenced and indented blocks with their continued lines, code in lines."""
    for match in FENCED.finditer(text):
        yield match[2].replace("\\\n", " ")
    rest = FENCED.sub("", text)
    yield "\n".join(INDENTED.findall(rest)).replace("\\\n", " ")
    for match in INLINE.finditer(INDENTED.sub("", rest)):
        yield match[1].replace("\n", " ")


def code_in_yaml(text: str) -> Iterator[str]:
    """The code of a template or workflow: code in lines, and commands that are run."""
    yield from (match[1] for match in INLINE.finditer(text))
    yield from re.findall(r"^\s*(?:- )?(?:run: )?((?:tokpar|python) .*)$", text, re.MULTILINE)


def links_in(page: Path, text: str) -> Iterator[Link]:
    """The links of a page, but for those in code."""
    prose = INLINE.sub("`code`", INDENTED.sub("", FENCED.sub("", text)))
    titles = {
        match.start(1) + inner.start()
        for match in TITLE.finditer(prose)
        for inner in LINK.finditer(match[1])
    }
    for match in LINK.finditer(prose):
        target = (page.parent / match[2]).resolve() if match[2] else page
        is_title = match.start() in titles and match[1][:1].isupper()
        yield Link(match[1], target, match[3] or "", is_title)


def headings_of(page: Path) -> list[str]:
    return re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)


def slug(heading: str) -> str:
    """The anchor that GitHub and mkdocs give a heading."""
    return re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-")
