"""The seams of one text as a page: one HTML file that needs no network."""

import base64
import hashlib
import html
import json
import re
from importlib import resources
from typing import Any

from tokpar_explain.rows import Row
from tokpar_explain.seam import Explained, explain_seam
from tokpar_explain.trace import Trace

MOST_DETAILED = 3000
"""For so many seams the page holds rows of tokens, about 4 kB each. Other seams are only listed."""


def page(trace: Trace, name: str, chars_around: int, proofs: str = "proofs") -> str:
    """The page for a text called `name`. Links to theorems begin with `proofs`."""
    style, script = _part("page.css"), _part("page.js")
    written = json.dumps(data(trace, chars_around, proofs), separators=(",", ":"))
    parts = {
        "policy": _policy(style, script),
        "title": html.escape(f"Seams of {name}"),
        "style": style,
        "script": script,
        "data": written.replace("<", "\\u003c"),  # so that no text of it can end the <script>
    }
    return re.sub(r"{(\w+)}", lambda match: parts[match[1]], _part("page.html"))


def data(trace: Trace, chars_around: int, proofs: str) -> dict[str, Any]:
    """The data that the page's script shows. Positions are code points."""
    ordered = trace.ordered()
    explained = [explain_seam(trace, n, chars_around) for n in ordered[:MOST_DETAILED]]
    meanings = sorted({each.meaning for each in explained})
    report = trace.encoding.report
    return {
        "summary": _summary(trace),
        "verdict": _verdict(trace),
        "ok": trace.ok,
        "equal": trace.equal,
        "code_points": len(trace.text),
        "ids": len(trace.encoding.ids),
        "serial": len(trace.serial),
        "plan": report.plan,
        "why": report.why,
        "proofs": proofs.rstrip("/"),
        "regions": report.serial_regions,
        "first": ordered[0] if ordered else -1,
        "seams": [
            (at := seam.position, *trace.place(at), seam.rule or "", seam.theorem, trace.rank(n))
            for n, seam in enumerate(trace.seams)
        ],
        "meanings": meanings,
        "details": {each.number: _detail(each, meanings.index(each.meaning)) for each in explained},
    }


def _summary(trace: Trace) -> str:
    options = ", ".join(f"{name}={value!r}" for name, value in trace.options.items())
    strategy = f"{trace.strategy} ({options})" if options else trace.strategy
    return (
        f"{len(trace.text):,} code points, tokenizer {trace.tokenizer.name}, strategy {strategy}: "
        f"{trace.encoding.report.plan}."
    )


def _verdict(trace: Trace) -> str:
    if not trace.equal:
        places = f"{len(trace.differences):,} places" if len(trace.differences) > 1 else "one place"
        return (
            f"≠ The {len(trace.encoding.ids):,} joined ids are not the {len(trace.serial):,} "
            f"serial ones: they differ in {places}."
        )
    same = f"The {len(trace.serial):,} joined ids are the serial ones"
    if not trace.ok:
        return f"{same}, but not every seam is certified."
    return f"{same}, and every seam is certified." if trace.seams else f"{same}: one call."


def _detail(seam: Explained, meaning: int) -> dict[str, Any]:
    rows = (seam.left_row, seam.right_row, seam.joined_row, seam.serial_row)
    return {
        "meaning": meaning,
        "says": seam.theorem_says,
        "page": seam.page,
        "witness": seam.witness,
        "words": seam.words,
        "before": [[each.text, int(each.shared)] for each in seam.before],
        "after": [[each.text, int(each.shared)] for each in seam.after],
        "left": seam.left,
        "right": seam.right,
        "rows": [_row(row) for row in rows],
        "differences": [
            [each.words, _row(each.joined), _row(each.serial)] for each in seam.differences
        ],
        "more": seam.more_differences,
    }


def _row(row: Row) -> list[Any]:
    tokens = []
    for each in row.tokens:
        flags = each.kept + 2 * each.matched + 4 * each.differs + 8 * each.shared
        tokens.append([each.number, each.id, each.text, each.start, each.stop, flags])
    return [tokens, row.total, row.seam]


def _part(name: str) -> str:
    return (resources.files("tokpar_explain") / name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    allowed = ["default-src 'none'"]
    for kind, content in (("style-src", style), ("script-src", script)):
        digest = hashlib.sha256(content.encode("utf-8")).digest()
        allowed.append(f"{kind} 'sha256-{base64.b64encode(digest).decode('ascii')}'")
    return "; ".join(allowed)
