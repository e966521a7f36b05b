"""Documents of a corpus, and names of what an audit finds."""

from __future__ import annotations

from tokpar_corpus import AuditReport

TEXTS = [
    "Hello world, this is a document.",
    "def f(x):\n    return x + 1  # one more\n",
    "Größe und Maß: naïve café, 12345 + 67890 = ?",
    "中文文本和 English mixed, 日本語 too.",
    "   leading and trailing spaces   ",
    "a",
    "\n\n\tTabs and newlines\r\n",
    "Ünïcödé ſ Ⅷ ﬁ e\u0301 😀 👩\u200d👩",
    "The end. " * 40,
    "İstanbul THE QUICK Brown (fox)! [x] {y}",
]


def names_of(report: AuditReport) -> list[str]:
    """The checks that found something."""
    return [result.check for result in report.results if result.count]
