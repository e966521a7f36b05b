"""Results as one HTML page that needs nothing else: pictures inline, no script, no network."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

from tokpar.bench.plots import Picture, in_xml
from tokpar.bench.records import BenchResults
from tokpar.bench.tables import Table, of_words

LEFT = ' class="w"'
SECTIONS = {
    "methods": "Accuracy and latency",
    "stages": "Stages and Amdahl's law",
    "projection": "Projection to more workers",
    "retries": "Repetitive texts",
    "length": "Text length",
    "chunk": "Chunk length",
    "workers": "Pool size",
    "batch": "Batch size",
}
STYLE = """
:root { color-scheme: light dark; --ground: #fff; --ink: #1f2328; --soft: #59636e;
  --line: #d1d9e0; --row: #f6f8fa; --bad: #b35900; }
@media (prefers-color-scheme: dark) { :root { --ground: #0d1117; --ink: #e6edf3; --soft: #9198a1;
  --line: #30363d; --row: #151b23; --bad: #ff9d4d; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 70rem; padding: 1rem; background: var(--ground);
  color: var(--ink); font: 15px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; } h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); }
h3 { font-size: 1rem; margin-bottom: .4rem; }
.wide { overflow-x: auto; }
table { border-collapse: separate; border-spacing: 0; font-variant-numeric: tabular-nums;
  font-size: .87rem; }
th, td { padding: .25rem .6rem; text-align: right; white-space: nowrap;
  border-bottom: 1px solid var(--line); }
.w { text-align: left; }
th:first-child, td:first-child { position: sticky; left: 0; background: var(--ground); }
tbody tr:nth-child(even) td { background: var(--row); }
p.note, figcaption { color: var(--soft); font-size: .87rem; max-width: 45rem; }
.pictures { display: flex; flex-wrap: wrap; gap: 1rem; }
figure { margin: 0; flex: 1 1 26rem; max-width: 32rem; min-width: 0; }
figure svg { width: 100%; height: auto; }
dl { display: grid; grid-template-columns: minmax(6rem, auto) 1fr; gap: .2rem 1rem; }
dt { color: var(--soft); } dd { margin: 0; }
.stopped { color: var(--bad); font-weight: 600; }
nav a { color: inherit; margin-right: 1rem; }
"""


def page(results: BenchResults, tables: Sequence[Table], pictures: Sequence[Picture]) -> str:
    """The page; it is XML, too, so that a strict reader can check it."""
    parts = [part for part in SECTIONS if any(table.part == part for table in tables)]
    body = [
        "<h1>tokpar bench</h1>",
        *_state(results),
        "<nav>" + "".join(f'<a href="#{part}">{SECTIONS[part]}</a>' for part in parts) + "</nav>",
        *(line for part in parts for line in _section(part, tables, pictures)),
        '<h2 id="provenance">How it was measured</h2>',
        *_definitions(results.provenance, one_by_one=True),
        "<h3>Settings</h3>",
        *_definitions(results.settings),
    ]
    return (
        "<!DOCTYPE html>\n"
        '<html xmlns="http://www.w3.org/1999/xhtml" lang="en"><head><meta charset="utf-8"/>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>\n'
        f"<title>tokpar bench</title><style>{STYLE}</style></head><body>\n"
        + "\n".join(body)
        + "\n</body></html>\n"
    )


def _state(results: BenchResults) -> Iterator[str]:
    date, processor = (results.provenance.get(name, "") for name in ("date", "processor"))
    yield f"<p>{_text(date)}, {_text(processor)}. The tokenizer's own call is the truth.</p>"
    if not results.complete:
        yield '<p class="stopped">Interrupted: what follows was measured by then.</p>'
    if results.notes:
        yield "<ul>" + "".join(f"<li>{_text(note)}</li>" for note in results.notes) + "</ul>"


def _section(part: str, tables: Iterable[Table], pictures: Iterable[Picture]) -> Iterator[str]:
    yield f'<h2 id="{part}">{SECTIONS[part]}</h2>'
    drawn = [picture for picture in pictures if picture.part == part]
    if drawn:
        yield '<div class="pictures">'
        for picture in drawn:
            svg = picture.inline.replace(
                "<svg ", f'<svg role="img" aria-label="{_text(picture.about)}" ', 1
            )
            yield f"<figure>{svg}</figure>"
        yield "</div>"
    for table in tables:
        if table.part == part:
            yield from _table(table)


def _table(table: Table) -> Iterator[str]:
    yield f'<h3>{_text(table.title)}</h3><div class="wide" tabindex="0"><table>'
    words = of_words(table)
    yield f"<thead>{_row('th', table.header, words)}</thead><tbody>"
    yield from (_row("td", row, words) for row in table.rows)
    yield f'</tbody></table></div><p class="note">{_text(table.note)}</p>'


def _row(kind: str, cells: Iterable[str], words: Iterable[bool]) -> str:
    written = (
        f"<{kind}{LEFT if left else ''}>{_text(cell)}</{kind}>"
        for cell, left in zip(cells, words, strict=True)
    )
    return f"<tr>{''.join(written)}</tr>"


def _definitions(values: Mapping[str, Any], one_by_one: bool = False) -> Iterator[str]:
    """Names and values; `one_by_one`: each value of a list by itself."""
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
