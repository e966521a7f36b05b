"""The tokenizer's own errors for texts that it refuses, with the number of the text in a batch."""

from collections.abc import Sequence

from tokpar.errors import EngineError
from tokpar.foreign_errors import is_foreign
from tokpar.plan import Plan


def check_texts(texts: Sequence[str], plan: Plan, long: Sequence[int]) -> None:
    """Raise the error that the tokenizer's own call raises for the first text that it refuses.

    `long`: the numbers of the texts that may be cut."""
    traits = plan.traits
    checked = long
    if traits.forbidden:
        from tokpar.cache.utf8_texts import to_check  # importing tokpar does without it

        checked = to_check(texts, traits.forbidden, long)
    if checked and traits.check_text is not None:
        row = 0
        try:
            for row in checked:
                traits.check_text(texts[row])
        except Exception as error:
            name_text(error, row, texts)
            raise


def name_text(error: Exception, row: int, texts: Sequence[str]) -> None:
    """Add the number of the text to the message of an engine's `error`, if there are several
    texts."""
    if len(texts) == 1 or is_foreign(error):
        return
    if isinstance(error, UnicodeError) and hasattr(error, "reason"):
        error.reason = f"{error.reason}, in text {row} of the batch"
    elif error.args and isinstance(error.args[0], str):
        error.args = (f"text {row} of the batch: {error.args[0]}", *error.args[1:])
    if isinstance(error, EngineError):
        error.row = row
