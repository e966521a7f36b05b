"""`Encoder.as_hf()`: called like a transformers fast tokenizer, its result is that tokenizer's. Ids
come from the encoder, in parallel; what the call adds follows from the arguments, from the
tokenizer's attributes as they are, and from its post-processor. The tokenizer is only read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from tokpar.adapters.hf_lines import is_of_first_line, own_methods
from tokpar.encoding import Encoding
from tokpar.errors import OptionError
from tokpar.interfaces import TokenizerAdapter
from tokpar.kernels import code_point_spans
from tokpar.types import Piece, Rows
from tokpar.views import View, hf_call, hf_result, hf_rows
from tokpar.views.hf_call import Call
from tokpar.views.hf_file import FileTokenizer

if TYPE_CHECKING:
    from tokpar.adapters.huggingface import HuggingFaceTokenizer

_MIRRORED = (
    *("__call__", "encode", "_encode_plus", "_batch_encode_plus", "_convert_encoding"),
    *("_get_padding_truncation_strategies", "set_truncation_and_padding", "_switch_to_input_mode"),
)


class Source:
    """A tokenizer between two changes of it. OptionError for one that cannot be followed."""

    def __init__(self, adapter: TokenizerAdapter) -> None:
        if not is_of_first_line(adapter):
            raise OptionError(
                f"as_hf needs a tokenizer of transformers or of the package tokenizers below 1.0 "
                f"(an object, or a file read by engine='huggingface'), got {adapter.name}"
            )
        if adapter.unfinishable is not None:
            raise OptionError(f"as_hf cannot tell what this tokenizer does: {adapter.unfinishable}")
        self.adapter, self.caller = adapter, adapter.caller
        self.original: Any = self.caller.wrapper
        self.frame = cache(partial(hf_rows.frame_of, self.caller.own))
        if self.original is None:
            self.original = FileTokenizer(self.caller.own)
        elif own := own_methods(self.original, _MIRRORED):
            kind = type(self.original).__name__
            raise OptionError(f"as_hf cannot follow {kind}, which has its own {next(iter(own))}")


def _read(name: str) -> property:
    """An attribute of the tokenizer, to read."""
    return property(lambda self: getattr(self._now().original, name))


def _call(name: str) -> Callable[..., Any]:
    """A method of the tokenizer itself."""

    def call(view: HfView, *given: Any, **named: Any) -> Any:
        return getattr(view._now().original, name)(*given, **named)

    call.__name__ = name
    return call


class HfView(View):
    """See the module and docs/views.md. Thread-safe. Raises OptionError.

    `tokenizer` gives the encoder's adapter as it is now; `split(text, adapter)` encodes in parallel
    and adds no special tokens; texts below `smallest_split` code points are not worth that."""

    _original = "the transformers tokenizer"
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
        self._now()

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
        and what the tokenizer itself raises for a text (lone surrogates)."""
        known = self._now()
        splits_special_tokens = known.caller.encode_special_tokens
        hf_call.refuse({"text_pair": text_pair, **others}, splits_special_tokens)
        call = Call(
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
        data = self._data(known, text, call)
        if known.caller.wrapper is None:
            return hf_result.Batch(data)
        from tokpar.views.batch_encoding import ViewEncoding

        return ViewEncoding(data)

    def encode(
        self, text: str, text_pair: None = None, add_special_tokens: bool = True, **arguments: Any
    ) -> Any:
        """The ids of one text, a list of int; `arguments` as for a call. Raises as a call does."""
        if not isinstance(text, str):
            raise OptionError(f"encode takes one str, got {type(text).__name__}: call the view")
        columns = self(text, text_pair, add_special_tokens=add_special_tokens, **arguments)
        return columns["input_ids"]

    decode, batch_decode = _call("decode"), _call("batch_decode")
    convert_ids_to_tokens = _call("convert_ids_to_tokens")
    convert_tokens_to_ids = _call("convert_tokens_to_ids")
    get_vocab = _call("get_vocab")
    num_special_tokens_to_add = _call("num_special_tokens_to_add")

    def __len__(self) -> int:
        return len(self._now().original)

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<HfView of {self._now().adapter.name}>"

    def viewed(self) -> Any:
        """What `tokpar.load` makes of a view: an adapter of the tokenizer itself."""
        caller = self._now().caller
        return caller.own if caller.wrapper is None else caller.wrapper

    def _now(self) -> Source:
        adapter, known = self._tokenizer(), self._known
        if known is None or known.adapter is not adapter:
            known = self._known = Source(adapter)
        return known

    def _data(self, known: Source, text: str | Sequence[str], call: Call) -> dict[str, Any]:
        texts = [text] if isinstance(text, str) else _checked(text)
        frame = known.frame(call.add_special_tokens)
        encoded = self._encoded(known.adapter, texts, "offset_mapping" in call.columns)
        rows = hf_rows.kept(texts, encoded, frame, call)
        padding = (0, 0)
        if call.padding:
            padding = known.original.pad_token_id, known.original.pad_token_type_id
        data: dict[str, Any] = {}
        for name in call.columns:
            source = "input_ids" if name == "length" else name
            column = hf_rows.column(source, rows, frame, call, padding)
            data[name] = hf_result.shaped(name, column, call.tensors)
            if isinstance(text, str) and call.tensors is None and name != "length":
                data[name] = data[name][0]
        return data

    def _encoded(self, adapter: HuggingFaceTokenizer, texts: Sequence[str], spans: bool) -> Rows:
        """Ids, and spans in code points where wanted. Short texts go to the engine together, on all
        cores; long ones one after the other, each on all cores."""
        short = [i for i, text in enumerate(texts) if len(text) < self._smallest_split]
        rows = adapter.encode_many([texts[i] for i in short], spans)
        found = {i: rows.piece(k) for k, i in enumerate(short)}
        pieces = []
        for i, text in enumerate(texts):
            piece: Encoding | Piece = found[i] if i in found else self._split(text, adapter)
            places = piece.spans if spans else None
            located = None if places is None else code_point_spans(places, text)
            pieces.append(Piece(piece.ids, located))
        return Rows.of_pieces(pieces)


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
