"""The tokenizer behind a view, as far as its calls depend on it."""

from __future__ import annotations

from typing import Any

from tokpar.adapters.hf_lines import is_of_first_line
from tokpar.errors import OptionError
from tokpar.interfaces import TokenizerAdapter
from tokpar.views import hf_result, hf_rows
from tokpar.views.hf_file import FileTokenizer
from tokpar.views.refusals import own_methods

_MIRRORED = (
    "__call__",
    "encode",
    "_encode_plus",
    "_batch_encode_plus",
    "_get_padding_truncation_strategies",
    "set_truncation_and_padding",
    "_convert_encoding",
    "_switch_to_input_mode",
)


class Source:
    """A tokenizer between two changes of it. Raises OptionError for one that cannot be followed."""

    def __init__(self, adapter: TokenizerAdapter) -> None:
        if not is_of_first_line(adapter):
            raise OptionError(
                f"as_hf needs a tokenizer of transformers or of the package tokenizers below 1.0 "
                f"(an object, or a file read by engine='huggingface'), got {adapter.name}"
            )
        if adapter.unfinishable is not None:
            raise OptionError(f"as_hf cannot tell what this tokenizer does: {adapter.unfinishable}")
        caller = adapter.caller
        if caller.wrapper is not None:
            own = own_methods(type(caller.wrapper), _MIRRORED, "transformers.tokenization_")
            own += [name for name in _MIRRORED if name in vars(caller.wrapper)]
            if own:
                kind = type(caller.wrapper).__name__
                raise OptionError(f"as_hf cannot follow {kind}, which has its own {own[0]}")
        self.adapter = adapter
        self.original: Any = FileTokenizer(caller.own) if caller.wrapper is None else caller.wrapper
        self._frames: dict[bool, hf_rows.Frame] = {}

    @property
    def splits_special_tokens(self) -> bool:
        return self.adapter.caller.encode_special_tokens

    @property
    def padding(self) -> tuple[int, int]:
        """Id and type id of a padding token."""
        return self.original.pad_token_id, self.original.pad_token_type_id

    def frame(self, add_special_tokens: bool) -> hf_rows.Frame:
        if add_special_tokens not in self._frames:
            own = self.adapter.caller.own
            self._frames[add_special_tokens] = hf_rows.frame_of(own, add_special_tokens)
        return self._frames[add_special_tokens]

    def result(self, data: dict[str, Any]) -> Any:
        if self.adapter.caller.wrapper is None:
            return hf_result.Batch(data)
        from tokpar.views.batch_encoding import ViewEncoding

        return ViewEncoding(data)
