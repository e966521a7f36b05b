"""The pages of the site: twenty and two that are generated, all reached from the first."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from tests.support.named_things import links_in
from tests.support.paths import ROOT

CONFIG = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
GROUPS = ["Replace", "Do", "Trust", "Extend", "Look up"]
GENERATED = {"commands.md", "api/index.md"}
MOST_WORDS, MOST_OF_ALL = 2300, 21_000
"""Of the pages that somebody writes."""
CODE = re.compile(r"^```(?:.*\n)*?```$|^    .*$|`[^`\n]+`", re.MULTILINE)
SITE = sorted(
    path
    for folder in ("docs/**/*.md", "proofs/**/*.md", "plugins/*.md", "plugins/*/README.md")
    for path in ROOT.glob(folder)
)


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def navigation() -> list[str]:
    part = CONFIG[CONFIG.index("\nnav:\n") : CONFIG.index("\nnot_in_nav:")]
    return re.findall(r"(\S+\.md)$", part, re.MULTILINE)


def test_the_navigation_has_twenty_pages_and_two_that_are_generated() -> None:
    pages = navigation()
    assert len(pages) == len(set(pages)) == 20 + len(GENERATED)
    assert set(pages) >= GENERATED
    part = CONFIG[CONFIG.index("\nnav:\n") :]
    assert re.findall(r"^  - ([^:]+):$", part, re.MULTILINE) == GROUPS


def words_in(page: str) -> int:
    lines = (ROOT / "docs" / page).read_text(encoding="utf-8").splitlines()
    return sum(len(line.split()) for line in lines)


def test_the_pages_are_short() -> None:
    words = {page: words_in(page) for page in navigation() if page not in GENERATED}
    assert {page: count for page, count in words.items() if count > MOST_WORDS} == {}
    assert sum(words.values()) <= MOST_OF_ALL


def test_a_way_of_links_leads_from_the_first_page_to_each_other() -> None:
    seen, todo = {ROOT / "docs" / "index.md"}, [ROOT / "docs" / "index.md"]
    while todo:
        page = todo.pop()
        links = links_in(page, page.read_text(encoding="utf-8"))
        new = ({link.target for link in links} & set(SITE)) - seen
        seen |= new
        todo += new
    assert sorted(set(SITE) - seen) == []


@pytest.mark.parametrize("page", SITE, ids=name_of)
def test_no_text_of_a_page_is_taken_for_a_tag(page: Path) -> None:
    """Of "<s>" a reader would see nothing but crossed out text; it belongs in code."""
    prose = CODE.sub("", page.read_text(encoding="utf-8"))
    assert re.findall(r"<[A-Za-z/!?][^>]*>?", prose) == []


# -------------------------------------------------------------------------------- links of the site


@pytest.fixture(scope="module")
def site() -> ModuleType:
    """docs/site/repository.py, which mkdocs loads by its path, too."""
    path = ROOT / "docs" / "site" / "repository.py"
    spec = importlib.util.spec_from_file_location("repository", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SOURCES = {"sessions.md", "streaming.md", "api/hooks.md", "proofs/stream.md", "proofs/coq/Seams.v"}
SOURCES |= {"plugins/tokpar-diff/README.md"}


@pytest.mark.parametrize(
    ("page", "link", "in_site"),
    [
        ("streaming.md", "[a](../proofs/stream.md#words)", "[a](proofs/stream.md#words)"),
        ("api/hooks.md", "[a](../../proofs/stream.md)", "[a](../proofs/stream.md)"),
        ("proofs/stream.md", "[a](../docs/sessions.md)", "[a](../sessions.md)"),
        ("proofs/stream.md", "[a](coq/Seams.v)", "[a](coq/Seams.v)"),
        ("plugins/tokpar-diff/README.md", "[a](../../docs/sessions.md)", "[a](../../sessions.md)"),
        (
            "sessions.md",
            "[a](../plugins/tokpar-diff/README.md)",
            "[a](plugins/tokpar-diff/README.md)",
        ),
        ("sessions.md", "[a](streaming.md#x)", "[a](streaming.md#x)"),
        ("sessions.md", "[`a`](../LICENSE), [b](../tests/support/toy.py)", "`a`, b"),
        ("sessions.md", "[a](no/such/file.md)", "[a](no/such/file.md)"),
        ("sessions.md", "[a](https://example.org/a)", "[a](https://example.org/a)"),
        ("sessions.md", "```\n[a](../LICENSE)\n```\n", "```\n[a](../LICENSE)\n```\n"),
    ],
)
def test_a_link_leads_to_the_same_page_in_the_site(
    site: ModuleType, page: str, link: str, in_site: str
) -> None:
    assert site.with_site_links(link, page, SOURCES) == in_site


def test_code_in_tables_has_its_own_pipes(site: ModuleType) -> None:
    assert site.with_plain_pipes(r"| `a\|b` | c\|d |") == r"| `a|b` | c\|d |"
    assert site.with_plain_pipes(r"`a\|b`") == r"`a\|b`"
