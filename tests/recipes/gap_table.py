"""Write tests/data/gaps.json: how far certified cuts are apart, by tokenizer and kind of text.

    python -m tests.recipes.gap_table

tests/cuts/test_gap_table.py makes the table again and compares. The tokenizers are the part
vocabularies of tests/vocab, which have the stages of the full ones; the texts are those of
tests/vocab/samples.py, and records, logs and HTML drawn with words of the English one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import numpy as np

import tokpar
from tests.benchmarks.engines_texts import html_line, json_record, lines, log_line
from tests.support.paths import TESTS, VOCAB
from tests.support.seams import part
from tests.vocab.samples import ENGLISH, LANGUAGES, OTHER_CODE, PYTHON
from tokpar.contract.interfaces import TokenizerAdapter, facts_of
from tokpar.cuts.finder import finder_for

FILE = TESTS / "data" / "gaps.json"
FILES = ("bert_part", "deepseek_part", "llama_style", "metaspace_unigram")
ENCODINGS = ("cl100k_part", "o200k_part", "tekken_part")
BYTES = 20_000
"""Of each drawn text."""
Table = Mapping[str, Mapping[str, Mapping[str, int]]]


def texts() -> dict[str, str]:
    """One text of each kind."""
    words = ENGLISH.split()
    drawn = {"JSON lines": json_record, "access logs": log_line, "HTML": html_line}
    return {
        "English": ENGLISH,
        "Python": PYTHON,
        "other code": OTHER_CODE,
        "Chinese": "\n".join(LANGUAGES[:2]),
        "other languages": "\n".join(LANGUAGES[2:]),
        **{kind: lines(line, words, BYTES) for kind, line in drawn.items()},
    }


def tokenizers() -> dict[str, TokenizerAdapter]:
    """The bundled tokenizer and the part vocabularies."""
    sources = {name: VOCAB / f"{name}.json" for name in FILES}
    return {
        "default": tokpar.load("default"),
        **{name: tokpar.load(source) for name, source in sources.items()},
        **{name: tokpar.load(part(name)) for name in ENCODINGS},
    }


def gaps(tokenizer: TokenizerAdapter, text: str) -> dict[str, int]:
    """The number of certified cuts, and the greatest distance between two of them, or one and an
    end of the text, in code points."""
    places = finder_for(facts_of(tokenizer)).places(text)
    distances = np.diff(places, prepend=0, append=len(text))
    return {"code_points": len(text), "cuts": len(places), "greatest_gap": int(distances.max())}


def gap_table() -> Table:
    """Tokenizer -> kind of text -> gaps."""
    kinds = texts()
    return {
        name: {kind: gaps(adapter, text) for kind, text in kinds.items()}
        for name, adapter in tokenizers().items()
    }


def written(table: Table) -> str:
    """The table as the file has it: one line for each text."""
    rows = (
        f'"{name}": {{\n'
        + ",\n".join(f'  "{kind}": {json.dumps(found)}' for kind, found in kinds.items())
        + "\n}"
        for name, kinds in table.items()
    )
    return "{" + ",\n".join(rows) + "}\n"


if __name__ == "__main__":
    FILE.write_text(written(gap_table()), encoding="utf-8")
