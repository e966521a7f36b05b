"""The result for a transformers tokenizer; the only module that imports transformers."""

from typing import Any

from transformers import BatchEncoding

from tokpar.errors import OptionError
from tokpar.views.hf_result import BY_NUMBER


class ViewEncoding(BatchEncoding):  # type: ignore[misc]  # transformers carries no types
    """A BatchEncoding without the `tokenizers.Encoding` objects of its rows."""

    def __init__(self, data: dict[str, Any]) -> None:
        super().__init__(data, n_sequences=1)

    def __getitem__(self, item: Any) -> Any:
        if not isinstance(item, str):
            raise OptionError(f"{BY_NUMBER}[{item!r}]")
        return self.data[item]
