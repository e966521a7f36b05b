"""The pages of the site: few in the navigation, and a way from the first page to each of them."""

from __future__ import annotations

import posixpath
import re
from fnmatch import fnmatch

from tests.support.paths import ROOT

CONFIG = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
LINK = re.compile(r"\]\(([^)\s:#]+\.md)(?:#[^)\s]*)?\)")


def sources() -> dict[str, str]:
    """The pages by their paths in the repository."""
    paths = [*(ROOT / "docs").rglob("*.md"), *(ROOT / "proofs").rglob("*.md")]
    return {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in paths}


def navigation() -> list[str]:
    """The pages of the navigation, in order, by their paths in the repository."""
    part = CONFIG[CONFIG.index("\nnav:\n") : CONFIG.index("\nnot_in_nav:")]
    found = re.findall(r"(\S+\.md)$", part, re.MULTILINE)
    return [page if page.startswith("proofs/") else f"docs/{page}" for page in found]


def left_out() -> list[str]:
    """The patterns of pages that need not be in the navigation."""
    return re.findall(r"^  (/\S+)$", CONFIG[CONFIG.index("\nnot_in_nav:") :], re.MULTILINE)


def links(page: str, text: str) -> set[str]:
    folder = posixpath.dirname(page)
    return {posixpath.normpath(posixpath.join(folder, link)) for link in LINK.findall(text)}


def test_the_navigation_has_two_groups_and_at_most_25_pages() -> None:
    pages = navigation()
    assert 20 <= len(pages) == len(set(pages)) <= 25
    groups = re.findall(r"^  - (\w+):$", CONFIG[CONFIG.index("\nnav:\n") :], re.MULTILINE)
    assert groups == ["Users", "Theory"]


def test_each_page_is_in_the_navigation_or_said_not_to_be() -> None:
    pages, patterns = sources(), left_out()
    listed = set(navigation())
    assert listed <= set(pages)
    for page in set(pages) - listed:
        site = "/" + page.removeprefix("docs/")
        assert any(fnmatch(site, pattern) for pattern in patterns), page
    for pattern in patterns:
        assert any(fnmatch("/" + page.removeprefix("docs/"), pattern) for page in pages), pattern


def test_a_way_of_links_leads_from_the_first_page_to_each_other() -> None:
    pages = sources()
    seen, todo = {"docs/index.md"}, ["docs/index.md"]
    while todo:
        page = todo.pop()
        new = (links(page, pages[page]) & set(pages)) - seen
        seen |= new
        todo += new
    assert set(pages) - seen == set()


def slug(heading: str) -> str:
    """The anchor that GitHub and mkdocs give a heading."""
    return re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-")


def test_each_link_of_the_readme_leads_somewhere() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.findall(r"\]\(([^)\s:#]+)(?:#([^)\s]*))?\)", text)
    assert len(found) > 20
    for path, anchor in found:
        target = ROOT / path
        assert target.exists(), path
        if anchor:
            headings = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in map(slug, headings), f"{path}#{anchor}"
