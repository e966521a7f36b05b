"""lm-eval without torch: how its models behind an API tokenize the pairs of a task, patched by
`patch_transformers`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tests.programs.documents import documents
from tests.programs.tokenizer_files import directory
from tests.programs.turns import Row, compare

INSTALL = ("lm-eval[api]==0.4.13", "transformers==5.24.0", "setuptools<81")
VERSIONS = ("lm-eval", "transformers")


def rows() -> Iterator[Row]:
    import tokpar

    own = _model()
    with tokpar.patch_transformers():
        ours = _model()
    for share, size in enumerate((500, 10_000)):
        texts = documents(size, 120 if size < 1_000 else 12, share)
        yield compare(f"a pair, context of {size:,}", _pairs(own), _pairs(ours), texts)


def _model() -> Any:
    from lm_eval.models.openai_completions import LocalCompletionsAPI

    # nothing is sent to the address
    return LocalCompletionsAPI(
        model="none", base_url="http://127.0.0.1:9/v1/completions", tokenizer=directory()
    )


def _pairs(model: Any) -> Callable[[str], Any]:
    """Returns what encodes a context with four continuations, as a task of multiple choice has
    them."""
    answers = (" yes", " no", " all of them", " none of them")
    return lambda text: [model._encode_pair(text, answer) for answer in answers]
