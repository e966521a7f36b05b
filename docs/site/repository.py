"""The site beside the repository: proofs/ and the READMEs of plugins/ become pages, and links
between files work in both.

mkdocs reads docs/ only, and resolves links from there. A link to a file that is no part of the site
(source, tests) becomes its text; a link to no file at all is left, for `mkdocs build --strict` to
refuse.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the tests run without mkdocs
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
DOCS = "docs/"
PAGES = ("proofs/*.md", "proofs/coq/*.md", "proofs/coq/*.v", "plugins/*.md", "plugins/*/README.md")
OUTSIDE = ("proofs/", "plugins/")
"""Folders whose pages lie in the site where they lie in the repository."""
FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
ROW = re.compile(r"^\|.*\|$", re.MULTILINE)
CODE = re.compile(r"`[^`]+`")
LINK = re.compile(r"\[([^\]]+)\]\(([^)\s:#]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Proofs and READMEs lie where docs/ would have them if it contained them: site/proofs/."""
    from mkdocs.structure.files import File

    for pattern in PAGES:
        for path in sorted(ROOT.glob(pattern)):
            name = path.relative_to(ROOT).as_posix()
            files.append(File.generated(config, name, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Page, files: Files, **_: Any) -> str:
    return with_plain_pipes(with_site_links(markdown, page.file.src_uri, set(files.src_uris)))


def with_site_links(markdown: str, page: str, sources: set[str]) -> str:
    """The page with the links of the site, code blocks as they are. `page` and `sources` are paths
    in the site: in "streaming.md", "../proofs/stream.md" becomes "proofs/stream.md"."""

    def link(match: re.Match[str]) -> str:
        text, target, anchor = match[1], match[2], match[3] or ""
        inside = posixpath.normpath(posixpath.join(posixpath.dirname(in_repository(page)), target))
        if inside.removeprefix(DOCS) in sources:
            start = posixpath.dirname(page) or "."
            return f"[{text}]({posixpath.relpath(inside.removeprefix(DOCS), start)}{anchor})"
        return text if (ROOT / inside).exists() else match[0]

    code = FENCED.findall(markdown)
    prose = [LINK.sub(link, part) for part in FENCED.split(markdown)]
    return prose[0] + "".join(a + b for a, b in zip(code, prose[1:], strict=True))


def with_plain_pipes(markdown: str) -> str:
    """Code in tables, where GitHub needs a backslash before "|" and mkdocs shows it."""

    def code(match: re.Match[str]) -> str:
        return match[0].replace(r"\|", "|")

    return ROW.sub(lambda row: CODE.sub(code, row[0]), markdown)


def in_repository(page: str) -> str:
    """Where a page of the site lies in the repository: "sessions.md" -> "docs/sessions.md"."""
    return page if page.startswith(OUTSIDE) else DOCS + page
