"""The conformance kit: an author's whole test is ``check_tokenizer(MyTokenizer())``.

Each `check_*` runs all checks of a contract on hostile and drawn texts and raises one
ConformanceError that names each failed check with the smallest text that shows it. Needs
hypothesis.
"""

try:
    import hypothesis as _hypothesis  # noqa: F401
except ImportError as error:
    raise ImportError(
        "tokpar.testing draws its texts with hypothesis, which is not installed: "
        "pip install 'tokpar[testing]'"
    ) from error

from tokpar.errors import ConformanceError
from tokpar.testing.adapter import check_tokenizer
from tokpar.testing.checks import Watch
from tokpar.testing.differing import describe_ids, show_text, simplest
from tokpar.testing.executor import check_executor
from tokpar.testing.fixed_texts import added_contents, all_words, hostile_texts, texts_for
from tokpar.testing.merger import check_merger
from tokpar.testing.splitter import check_splitter
from tokpar.testing.strategy import check_strategy

__all__ = [
    "ConformanceError",
    "Watch",
    "added_contents",
    "all_words",
    "check_executor",
    "check_merger",
    "check_splitter",
    "check_strategy",
    "check_tokenizer",
    "describe_ids",
    "hostile_texts",
    "show_text",
    "simplest",
    "texts_for",
]
