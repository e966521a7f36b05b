"""A `tokenizers.Tokenizer` with the names of a transformers tokenizer: it answers as
`transformers.PreTrainedTokenizerFast(tokenizer_object=...)`, without transformers. No special
tokens but the stored padding token, no limit of length, sides as stored."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from tokpar.errors import OptionError

if TYPE_CHECKING:
    from tokenizers import Tokenizer


class FileTokenizer:
    """See above. Raises OptionError if the stored padding token is none of the added tokens:
    transformers would add it, and so encode other ids."""

    model_max_length = int(1e30)
    is_fast = True
    bos_token = eos_token = unk_token = sep_token = cls_token = mask_token = None
    bos_token_id = eos_token_id = unk_token_id = sep_token_id = cls_token_id = mask_token_id = None

    def __init__(self, own: Tokenizer) -> None:
        self._own = own
        self.model_input_names = ["input_ids", "attention_mask"]
        truncation, padding = own.truncation or {}, own.padding or {}
        self.truncation_side: str = truncation.get("direction", "right")
        self.padding_side: str = padding.get("direction", "right")
        self.pad_token: str | None = padding.get("pad_token")
        self.pad_token_type_id: int = padding.get("pad_type_id", 0)
        self.pad_token_id: int | None = None
        if self.pad_token is not None:
            self.pad_token_id = own.token_to_id(self.pad_token)
            added = own.get_added_tokens_decoder().values()
            if self.pad_token not in [token.content for token in added]:
                raise OptionError(
                    f"the stored padding token {self.pad_token!r} is none of the added tokens: add "
                    "it with add_special_tokens, or call no_padding, and load the tokenizer again"
                )

    @property
    def special_tokens_map(self) -> dict[str, str]:
        return {} if self.pad_token is None else {"pad_token": self.pad_token}

    @property
    def all_special_tokens(self) -> list[str]:
        return list(self.special_tokens_map.values())

    @property
    def all_special_ids(self) -> list[int]:
        return [] if self.pad_token_id is None else [self.pad_token_id]

    @property
    def vocab_size(self) -> int:
        return int(self._own.get_vocab_size(with_added_tokens=False))

    def __len__(self) -> int:
        return int(self._own.get_vocab_size(with_added_tokens=True))

    def get_vocab(self) -> dict[str, int]:
        return dict(self._own.get_vocab(with_added_tokens=True))

    def num_special_tokens_to_add(self, pair: bool = False) -> int:
        return int(self._own.num_special_tokens_to_add(pair))

    def convert_tokens_to_ids(self, tokens: Any) -> Any:
        if isinstance(tokens, str):
            return self._own.token_to_id(tokens)
        return [self._own.token_to_id(token) for token in tokens]

    def convert_ids_to_tokens(self, ids: Any, skip_special_tokens: bool = False) -> Any:
        if isinstance(ids, int):
            return self._own.id_to_token(ids)
        skipped = set(self.all_special_ids) if skip_special_tokens else set()
        return [self._own.id_to_token(int(id_)) for id_ in ids if int(id_) not in skipped]

    def decode(
        self,
        token_ids: Any,
        skip_special_tokens: bool = False,
        clean_up_tokenization_spaces: bool | None = None,
    ) -> Any:
        if clean_up_tokenization_spaces:
            raise OptionError("clean_up_tokenization_spaces needs a tokenizer of transformers")
        ids = token_ids.tolist() if hasattr(token_ids, "tolist") else token_ids
        if isinstance(ids, int):
            ids = [ids]
        decoded = partial(self._own.decode, skip_special_tokens=skip_special_tokens)
        if len(ids) and isinstance(ids[0], (list, tuple)):
            return [decoded(list(row)) for row in ids]
        return decoded(list(ids))

    def batch_decode(
        self,
        sequences: Any,
        skip_special_tokens: bool = False,
        clean_up_tokenization_spaces: bool | None = None,
    ) -> Any:
        decoded = self.decode(sequences, skip_special_tokens, clean_up_tokenization_spaces)
        return [decoded] if isinstance(decoded, str) else decoded
