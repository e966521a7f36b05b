"""`Encoder.as_hf()`: called like a transformers fast tokenizer, its result is that tokenizer's.

The ids of a text come from the encoder, in parallel. What the call adds to them, special tokens,
truncation, padding, masks, offsets, follows from the arguments, from attributes of the tokenizer as
they are at the call, and from its post-processor. The tokenizer itself is only read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from tokpar.encoding import Encoding
from tokpar.errors import OptionError
from tokpar.interfaces import TokenizerAdapter
from tokpar.kernels import IdArray, SpanArray, code_point_spans
from tokpar.views import hf_call, hf_result, hf_rows
from tokpar.views.hf_call import Call
from tokpar.views.hf_source import Source
from tokpar.views.refusals import missing, unpicklable

if TYPE_CHECKING:
    from tokpar.adapters.huggingface import HuggingFaceTokenizer

_ORIGINAL = "the transformers tokenizer"


def view(
    tokenizer: Callable[[], TokenizerAdapter],
    split: Callable[[str, TokenizerAdapter], Encoding],
    smallest_split: int,
) -> HfView:
    """The view of an encoder. `tokenizer` gives its adapter as it is now; `split(text, adapter)`
    encodes in parallel and adds no special tokens; texts below `smallest_split` code points are not
    worth that. Raises OptionError."""
    made = HfView(tokenizer, split, smallest_split)
    made._now()
    return made


def _read(name: str) -> property:
    """An attribute of the tokenizer, to read."""
    return property(lambda self: getattr(self._now().original, name))


class HfView:
    """See the module and docs/views.md. Thread-safe."""

    is_fast = True
    bos_token, bos_token_id = _read("bos_token"), _read("bos_token_id")
    eos_token, eos_token_id = _read("eos_token"), _read("eos_token_id")
    unk_token, unk_token_id = _read("unk_token"), _read("unk_token_id")
    sep_token, sep_token_id = _read("sep_token"), _read("sep_token_id")
    pad_token, pad_token_id = _read("pad_token"), _read("pad_token_id")
    cls_token, cls_token_id = _read("cls_token"), _read("cls_token_id")
    mask_token, mask_token_id = _read("mask_token"), _read("mask_token_id")
    pad_token_type_id = _read("pad_token_type_id")
    special_tokens_map = _read("special_tokens_map")
    all_special_tokens, all_special_ids = _read("all_special_tokens"), _read("all_special_ids")
    model_input_names, model_max_length = _read("model_input_names"), _read("model_max_length")
    padding_side, truncation_side = _read("padding_side"), _read("truncation_side")
    vocab_size = _read("vocab_size")

    def __init__(
        self,
        tokenizer: Callable[[], TokenizerAdapter],
        split: Callable[[str, TokenizerAdapter], Encoding],
        smallest_split: int,
    ) -> None:
        self._tokenizer = tokenizer
        self._split = split
        self._smallest_split = smallest_split
        self._known: Source | None = None

    def __call__(
        self,
        text: str | Sequence[str],
        text_pair: None = None,
        *,
        add_special_tokens: bool = True,
        padding: bool | str = False,
        truncation: bool | str | None = None,
        max_length: int | None = None,
        stride: int = 0,
        pad_to_multiple_of: int | None = None,
        padding_side: str | None = None,
        return_tensors: str | None = None,
        return_token_type_ids: bool | None = None,
        return_attention_mask: bool | None = None,
        return_special_tokens_mask: bool = False,
        return_offsets_mapping: bool = False,
        return_length: bool = False,
        verbose: bool = True,
        **others: Any,
    ) -> Any:
        """The columns of one text or of a list of texts; the arguments are those of transformers.

        Raises OptionError for what a view does not offer and for what transformers refuses,
        ImportError where torch is asked for and missing, LookupError where offsets are not known,
        and what the tokenizer itself raises for a text (lone surrogates).
        """
        known = self._now()
        hf_call.refuse({"text_pair": text_pair, **others}, known.splits_special_tokens)
        call = hf_call.settled(
            known.original,
            add_special_tokens=add_special_tokens,
            padding=padding,
            truncation=truncation,
            max_length=max_length,
            stride=stride,
            pad_to_multiple_of=pad_to_multiple_of,
            padding_side=padding_side,
            return_tensors=return_tensors,
            returned={
                "token_type_ids": return_token_type_ids,
                "attention_mask": return_attention_mask,
                "special_tokens_mask": return_special_tokens_mask,
                "offset_mapping": return_offsets_mapping,
                "length": return_length,
            },
            verbose=verbose,
        )
        hf_result.check_tensors(call.tensors)
        return known.result(self._data(known, text, call))

    def encode(
        self, text: str, text_pair: None = None, add_special_tokens: bool = True, **arguments: Any
    ) -> Any:
        """The ids of one text, a list of int; `arguments` as for a call. Raises as a call does."""
        if not isinstance(text, str):
            raise OptionError(f"encode takes one str, got {type(text).__name__}: call the view")
        columns = self(text, text_pair, add_special_tokens=add_special_tokens, **arguments)
        return columns["input_ids"]

    def decode(
        self,
        token_ids: Any,
        skip_special_tokens: bool = False,
        clean_up_tokenization_spaces: bool | None = None,
    ) -> Any:
        """The tokenizer's own decoding."""
        return self._now().original.decode(
            token_ids,
            skip_special_tokens=skip_special_tokens,
            clean_up_tokenization_spaces=clean_up_tokenization_spaces,
        )

    def batch_decode(
        self,
        sequences: Any,
        skip_special_tokens: bool = False,
        clean_up_tokenization_spaces: bool | None = None,
    ) -> Any:
        """The tokenizer's own decoding of several rows."""
        return self._now().original.batch_decode(
            sequences,
            skip_special_tokens=skip_special_tokens,
            clean_up_tokenization_spaces=clean_up_tokenization_spaces,
        )

    def convert_ids_to_tokens(self, ids: Any, skip_special_tokens: bool = False) -> Any:
        """The tokens of one id or of several."""
        return self._now().original.convert_ids_to_tokens(ids, skip_special_tokens)

    def convert_tokens_to_ids(self, tokens: Any) -> Any:
        """The id of one token or of several."""
        return self._now().original.convert_tokens_to_ids(tokens)

    def get_vocab(self) -> dict[str, int]:
        """Tokens and their ids, added tokens too."""
        vocab: dict[str, int] = self._now().original.get_vocab()
        return vocab

    def num_special_tokens_to_add(self, pair: bool = False) -> int:
        """How many special tokens a call puts around a text, or a pair."""
        count: int = self._now().original.num_special_tokens_to_add(pair)
        return count

    def __len__(self) -> int:
        return len(self._now().original)

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<HfView of {self._now().adapter.name}>"

    def __getattr__(self, name: str) -> NoReturn:
        missing(self, name, _ORIGINAL)

    def __reduce__(self) -> NoReturn:
        unpicklable(self, _ORIGINAL)

    def viewed(self) -> Any:
        """What `tokpar.load` makes of a view: an adapter of the tokenizer itself."""
        caller = self._now().adapter.caller
        return caller.own if caller.wrapper is None else caller.wrapper

    def _now(self) -> Source:
        """What is known of the tokenizer as it is now."""
        adapter, known = self._tokenizer(), self._known
        if known is None or known.adapter is not adapter:
            known = self._known = Source(adapter)
        return known

    def _data(self, known: Source, text: str | Sequence[str], call: Call) -> dict[str, Any]:
        texts = [text] if isinstance(text, str) else _checked(text)
        wants_spans = "offset_mapping" in call.columns
        ids, spans = self._encoded(known.adapter, texts, wants_spans)
        own, frame = known.adapter.caller.own, known.frame(call.add_special_tokens)
        rows = hf_rows.rows_of(texts, ids, spans, frame, call, own)
        padding = known.padding if call.padding else (0, 0)
        data: dict[str, Any] = {}
        for name in call.columns:
            source = "input_ids" if name == "length" else name
            column = [hf_rows.column(source, row, frame, *padding) for row in rows]
            if name == "length":
                data[name] = hf_result.lengths(column, call.tensors)
            elif call.tensors is not None:
                data[name] = hf_result.tensor(name, column, call.tensors)
            else:
                values = hf_result.lists(column)
                data[name] = values[0] if isinstance(text, str) else values
        return data

    def _encoded(
        self, adapter: HuggingFaceTokenizer, texts: Sequence[str], spans: bool
    ) -> tuple[list[IdArray], list[SpanArray | None]]:
        """Ids, and spans in code points where wanted. Short texts go to the engine together, on all
        cores; long ones one after the other, each on all cores."""
        short = [i for i, text in enumerate(texts) if len(text) < self._smallest_split]
        rows = adapter.encode_many([texts[i] for i in short], spans)
        pieces = [rows.piece(k) for k in range(len(rows))]
        found = {i: (piece.ids, piece.spans) for i, piece in zip(short, pieces, strict=True)}
        for i, text in enumerate(texts):
            if i not in found:
                encoding = self._split(text, adapter)
                found[i] = encoding.ids, encoding.spans if spans else None
        ids = [found[i][0] for i in range(len(texts))]
        located = [_in_code_points(found[i][1], text) for i, text in enumerate(texts)]
        return ids, located


def _in_code_points(spans: SpanArray | None, text: str) -> SpanArray | None:
    return None if spans is None else code_point_spans(spans, text)


def _checked(texts: Any) -> list[str]:
    if not isinstance(texts, (list, tuple)) or not texts:
        what = "an empty one" if isinstance(texts, (list, tuple)) else type(texts).__name__
        raise OptionError(f"text must be a str or a list of one or more str, got {what}")
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            raise OptionError(
                f"text must be a str or a list of str; text {i} is a {type(text).__name__} (pairs "
                "and texts in words are not offered by a view: call the tokenizer itself)"
            )
    return list(texts)
