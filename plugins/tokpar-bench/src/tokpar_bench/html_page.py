"""Results as one self-contained HTML page: pictures inline, no script, no network."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from importlib import resources
from typing import Any

from tokpar_bench.differences import DifferenceNote, placed_differences
from tokpar_bench.plots import Picture, in_xml
from tokpar_bench.records import BenchResults
from tokpar_bench.tables import Table, of_words

LEFT = ' class="w"'
SECTIONS = {
    "methods": "Accuracy and latency",
    "conditions": "Cache off, cold, warm, seen",
    "stages": "Stages and Amdahl's law",
    "projection": "Projection to more workers",
    "scaling": "One chunk per worker",
    "retries": "Repetitive texts",
    "length": "Text length",
    "chunk": "Chunk length",
    "workers": "Pool size",
    "batch": "Batch size",
    "others": "Other published methods",
}
PROVENANCE, MEASURED = "provenance", "How it was measured"


def page(results: BenchResults, tables: Sequence[Table], pictures: Sequence[Picture]) -> str:
    """The page. It is also well-formed XML, so that a strict parser can check it."""
    style = (resources.files("tokpar_bench") / "page.css").read_text(encoding="utf-8")
    parts = [part for part in SECTIONS if any(table.part == part for table in tables)]
    differing = placed_differences(tables) if results.settings.get("paper") else {}
    body = [
        "<h1>tokpar bench</h1>",
        *_state(results),
        *_contents(parts, tables),
        *(line for part in parts for line in _section(part, tables, pictures, differing)),
        f'<h2 id="{PROVENANCE}">{MEASURED}</h2>',
        *_definitions(results.provenance, one_by_one=True),
        '<h2 id="settings">Settings</h2>',
        *_definitions(results.settings),
    ]
    return (
        "<!DOCTYPE html>\n"
        '<html xmlns="http://www.w3.org/1999/xhtml" lang="en"><head><meta charset="utf-8"/>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>\n'
        f"<title>tokpar bench</title><style>\n{style}</style></head><body>\n"
        + "\n".join(body)
        + "\n</body></html>\n"
    )


def _state(results: BenchResults) -> Iterator[str]:
    date, processor, commit = (
        results.provenance.get(name) or "-" for name in ("date", "processor", "commit")
    )
    yield (
        f"<p>{_text(date)}, {_text(processor)}, commit {_text(commit)}. The own call is the "
        "reference.</p>"
    )
    busy, cores = results.provenance.get("load"), results.provenance.get("cores", {})
    if busy and busy > cores.get("usable", busy):
        yield (
            f'<p class="stopped">The machine was busy (load {_text(busy)} on '
            f"{_text(cores['usable'])} cores): compare ratios of this run, not milliseconds.</p>"
        )
    if not results.complete:
        yield '<p class="stopped">Interrupted: what follows was measured by then.</p>'
    if results.notes:
        yield "<ul>" + "".join(f"<li>{_text(note)}</li>" for note in results.notes) + "</ul>"


def _contents(parts: Iterable[str], tables: Sequence[Table]) -> Iterator[str]:
    """Links to the sections, and to the tables of each section."""
    yield '<nav aria-labelledby="contents"><h2 id="contents">Contents</h2><ul>'
    for part in parts:
        links = [
            f'<li><a href="#{_mark(place)}">{_text(table.title)}</a></li>'
            for place, table in enumerate(tables)
            if table.part == part
        ]
        count = f"{len(links)} table{'s' * (len(links) != 1)}"
        yield (
            f'<li><a href="#{part}">{SECTIONS[part]}</a><details><summary>{count}</summary>'
            f"<ul>{''.join(links)}</ul></details></li>"
        )
    yield f'<li><a href="#{PROVENANCE}">{MEASURED}</a></li>'
    yield '<li><a href="#settings">Settings</a></li></ul></nav>'


def _mark(place: int) -> str:
    return f"table-{place + 1}"


def _section(
    part: str,
    tables: Iterable[Table],
    pictures: Iterable[Picture],
    differing: Mapping[Table, Sequence[DifferenceNote]],
) -> Iterator[str]:
    """One section. Each picture stands before the first table that has its names, or before the
    first table."""
    yield f'<h2 id="{part}">{SECTIONS[part]}</h2>'
    shown = [(place, table) for place, table in enumerate(tables) if table.part == part]
    drawn: dict[int, list[Picture]] = {}
    for picture in pictures:
        if picture.part == part:
            fitting = (place for place, table in shown if set(picture.names) <= set(table.names))
            drawn.setdefault(next(fitting, shown[0][0]), []).append(picture)
    for place, table in shown:
        yield f'<h3 id="{_mark(place)}">{_text(table.title)}</h3>'
        yield from _figures(drawn.get(place, []))
        yield from _table(table)
        yield from _differences(differing.get(table, []))


def _figures(pictures: Sequence[Picture]) -> Iterator[str]:
    if pictures:
        yield '<div class="pictures">'
        for picture in pictures:
            svg = picture.inline.replace(
                "<svg ", f'<svg role="img" aria-label="{_text(picture.description)}" ', 1
            )
            yield f"<figure>{svg}</figure>"
        yield "</div>"


def _table(table: Table) -> Iterator[str]:
    words = of_words(table)
    yield f'<div class="wide" tabindex="0" role="region" aria-label="{_text(table.title)}"><table>'
    yield f"<thead>{_row(table.header, words, heads=True)}</thead><tbody>"
    yield from (_row(row, words) for row in table.rows)
    yield f'</tbody></table></div><p class="note">{_text(table.note)}</p>'


def _differences(paragraphs: Sequence[DifferenceNote]) -> Iterator[str]:
    if paragraphs:
        yield '<div class="difference" role="note" aria-label="Differences from the published">'
        yield from (
            f"<h4>{_text(each.title)}</h4><p>{_with_code(each.text)}</p>" for each in paragraphs
        )
        yield "</div>"


def _with_code(text: str) -> str:
    return re.sub("`([^`]+)`", r"<code>\1</code>", _text(text))


def _row(cells: Iterable[str], words: Iterable[bool], heads: bool = False) -> str:
    """A row of the table. The first cell is a heading; with `heads` each cell is."""

    def cell(place: int, text: str, is_word: bool) -> str:
        kind, scope = "td", ""
        if heads or not place:
            kind, scope = "th", f' scope="{"col" if heads else "row"}"'
        return f"<{kind}{scope}{LEFT if is_word else ''}>{_text(text)}</{kind}>"

    made = (cell(i, *each) for i, each in enumerate(zip(cells, words, strict=True)))
    return f"<tr>{''.join(made)}</tr>"


def _definitions(values: Mapping[str, Any], one_by_one: bool = False) -> Iterator[str]:
    """A list of names and values. `one_by_one`: each item of a list gets a line of its own."""
    yield "<dl>"
    for name, value in values.items():
        for each in value if one_by_one and isinstance(value, list) else [value]:
            yield f"<dt>{_text(name)}</dt><dd>{_text(_words(each))}</dd>"
    yield "</dl>"


def _words(value: object) -> str:
    """{"logical": 2, "usable": 2} -> "logical 2, usable 2"."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_words(each)}" for name, each in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_words, value)) or "none"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _text(value: object) -> str:
    return escape(in_xml(str(value)))
