"""The adapter for tokenizers below 1.0: `tokenizers.Tokenizer`, fast tokenizers of transformers,
`tokenizer.json`, and BERT's `vocab.txt`.

An adapter is a snapshot: a private copy of the caller's tokenizer, which shares the model and
nothing else, encodes and decodes. Where no copy has the ids of the caller's object, the object
itself does (`LiveTokenizer`)."""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import tokenizers
from tokenizers import Tokenizer

from tokpar.adapters.cached_rows import call_refused, later_call
from tokpar.adapters.engine_batches import call_batch, pad_batch
from tokpar.adapters.hf_copy import (
    bare_copy,
    encodes_bare,
    facts_of_copy,
    private_copy,
    private_wrapper,
    same_as,
    tokenizer_json_of,
    why_alike,
    why_copy_differs,
)
from tokpar.adapters.hf_kept import kept_of
from tokpar.adapters.hf_look import (
    MODEL_SETTINGS,
    EngineTokens,
    Look,
    ReadModel,
    look_at_model,
    skips_special_tokens,
)
from tokpar.adapters.hf_postprocess import (
    PostProcess,
    PostProcessingAdapter,
    postprocess_of,
)
from tokpar.adapters.hf_source import Caller, caller_of, id_array
from tokpar.adapters.hf_version import own_methods
from tokpar.adapters.settings import (
    Settings,
    call_engine,
    is_panic,
    unless_custom,
)
from tokpar.arrays import IdArray, IntArray, SpanArray, byte_starts, offsets_of
from tokpar.contract.adapter import (
    DecodingParts,
    EngineTraits,
    Loader,
    Origin,
    TrustParts,
    front_of,
    ids_for_own_call,
)
from tokpar.errors import ChangedError, IdTypeError, OptionError
from tokpar.process.cached_property import cached_property
from tokpar.process.interrupts import raise_foreign
from tokpar.types import Rows

if TYPE_CHECKING:
    from tokpar.adapters.hf_offsets import EngineOffsets
    from tokpar.adapters.hf_token_names import TokenNames
    from tokpar.adapters.hf_trimming import Trimming
    from tokpar.compiled.compiled_build import LaterCall
    from tokpar.compiled.compiled_call import TokenPlaces

# Above this many code points `encode` takes the batch call, which needs half the time and memory.
_LONG = 1 << 18
_OWN_ENDS = (
    "its truncation and padding are a part of its own call, which nothing can replace; call "
    "no_truncation() and no_padding() of the tokenizer first, or encode its texts one by one"
)
_ENCODING = ("encode", "_encode_plus", "_batch_encode_plus")
SPECIAL_TOKENS = tuple(
    f"{name}_token" for name in ["bos", "eos", "unk", "sep", "pad", "cls", "mask"]
)
"""The names that transformers has for special tokens."""


def load(source: object, settings: Settings) -> HuggingFaceTokenizer | None:
    """Returns an adapter for releases below 1.0, see `hf_version.load`."""
    caller = caller_of(source)
    return None if caller is None else adapter_of(caller, settings)


def adapter_of(caller: Caller, settings: Settings) -> HuggingFaceTokenizer:
    """Returns a snapshot of the caller's tokenizer: the kept one, if nothing was changed since."""
    if caller.is_fixed:
        return _live_or_copied(HuggingFaceTokenizer(caller, settings), caller)
    kept = kept_of(caller.own)
    cleans_up = getattr(caller.wrapper, "clean_up_tokenization_spaces", None)
    skips = skips_special_tokens(caller.own, caller.wrapper)
    key = type(caller.wrapper), cleans_up, skips, settings
    snapshot = kept.snapshots.get(key)
    if snapshot is None or not snapshot.look.is_same(caller.own, caller.wrapper):
        kept.look_for_training(caller.own)
        caller = replace(caller, was_trained=kept.was_trained)
        kept.snapshots[key] = snapshot = HuggingFaceTokenizer(caller, settings)
    return _live_or_copied(snapshot, caller)


def _live_or_copied(snapshot: HuggingFaceTokenizer, caller: Caller) -> HuggingFaceTokenizer:
    return snapshot if snapshot.why_live is None else LiveTokenizer(snapshot, caller)


def from_json(config: str, encode_special_tokens: bool, settings: Settings) -> HuggingFaceTokenizer:
    """Returns the adapter that `HuggingFaceTokenizer.spec` describes. Raises EngineError: see
    `same_as`."""
    own = same_as(config)
    own.encode_special_tokens = encode_special_tokens
    return adapter_of(Caller(own, is_fixed=True), settings)


class HuggingFaceTokenizer(PostProcessingAdapter):
    """A snapshot of one tokenizer; see `load`. It has no reference to the caller's objects."""

    def __init__(self, caller: Caller, settings: Settings) -> None:
        own, wrapper = caller.own, caller.wrapper
        self.settings = settings
        self.loader: Loader | None = caller.loader
        self._file_bytes = caller.file_bytes
        added = EngineTokens.of(own)
        self.look = Look.of(own, wrapper, added)
        self._model_look = None if caller.is_fixed else self.look.model
        self._was_trained = caller.was_trained
        is_shared = wrapper is None and added.is_large and encodes_bare(own)
        if is_shared and caller.is_fixed:  # nobody else holds the object: it is no copy
            self._whole, self.why_live = own, why_alike(own, added)
        else:
            self._whole, custom = private_copy(own, added=added)
            replaced = () if caller.is_fixed else own_methods(wrapper, _ENCODING).values()
            found = next(iter(replaced), None) or custom
            self.why_live = found or why_copy_differs(own, self._whole, added)
        if not settings.truncation or wrapper is not None:
            self._whole.no_truncation()
        if not settings.padding or wrapper is not None:
            self._whole.no_padding()
        self._whole.encode_special_tokens = skips_special_tokens(own, wrapper)
        self._is_fixed = caller.is_fixed
        self._wrapper: Any = None
        if wrapper is not None and self.why_live is None:
            self._wrapper = private_wrapper(wrapper, self._whole)
        self._chunks = self._whole if is_shared else bare_copy(self._whole, added)
        self._trims_offsets = is_shared
        if self.why_live is not None:  # a copy may give the tokens other ids
            added = EngineTokens.of(self._chunks)
        self._postprocess = PostProcess(unknown=self.why_live)
        if self.why_live is None:
            self._postprocess = postprocess_of(self._whole, settings.add_special_tokens)
        unknown = self._postprocess.unknown
        self.facts, self._lengths, read = facts_of_copy(
            self._chunks, added, caller.file_bytes, unknown
        )
        later = self._later_call(read)
        self.later_call = None if isinstance(later, str) else later
        self._why_no_call = later if isinstance(later, str) else ""

    def may_divide(self, text: str) -> bool:
        # with encode_special_tokens, tokens that the facts do not list may hide others
        return not self._whole.encode_special_tokens and super().may_divide(text)

    def _later_call(self, read: ReadModel | None) -> LaterCall | str:
        """Returns the compiled call, or why there is none."""
        settings = self.settings
        if self.why_live is not None:
            return self.why_live
        if self._was_trained:
            return "its model may have changed after it was first loaded, as by a training"
        refused = call_refused(settings.engine_check, settings.cache_bytes)
        if refused is not None:
            return refused
        from tokpar.adapters.hf_call import call_parts_of  # other models do without it

        engine, special = self._chunks, self._postprocess.final_special_tokens
        is_same_model = self._model_check(engine)
        parts = call_parts_of(engine, self.facts, read, special, is_same_model, self._file_bytes)
        return parts if isinstance(parts, str) else later_call(parts)

    def _model_check(self, engine: Any) -> Callable[[], bool]:
        """Returns a function that returns False once somebody changed the model of `engine`."""
        if self._model_look is None:  # nobody else holds the object
            return lambda: True
        from tokpar.adapters.hf_quick_look import QuickModelLook  # files do without it

        return partial(QuickModelLook(self._model_look, engine).is_same, engine)

    @property
    def postprocess_refused(self) -> str | None:
        """Why only the tokenizer's own call can post-process, or None."""
        return self._postprocess.unknown

    @cached_property
    def fingerprint(self) -> str | None:
        """The digest of everything that decides the ids: file, settings, added tokens,
        post-processor, version of the engine.

        It is equal in all processes. None for components written in Python."""
        self._require_unchanged()
        own, model = self._whole, self._whole.model
        written = unless_custom(own.to_str)
        if written is None:
            return None
        size, tokens = own.get_vocab_size(with_added_tokens=False), None
        if len(json.loads(written)["model"]["vocab"]) < size:  # a written model has each id once
            tokens = sorted(own.get_vocab(with_added_tokens=False).items())
        parts = {
            "file": written,
            "settings": {name: getattr(model, name, None) for name in MODEL_SETTINGS},
            "tokens": tokens,
            "encode_special_tokens": own.encode_special_tokens,
            "add_special_tokens": self.settings.add_special_tokens,
        }
        if self.loader is not None:
            parts["loader"] = asdict(self.loader)
        from tokpar.adapters.fingerprint import fingerprint_of  # few callers ask for it

        return fingerprint_of("tokenizers", tokenizers.__version__, parts)

    @cached_property
    def vocabulary_size(self) -> int:
        """The highest id plus one; at least the number of tokens."""
        tokens = self._whole.get_vocab(with_added_tokens=True)
        return max(len(tokens), 1 + max(tokens.values(), default=-1))

    def vocabulary(self) -> dict[str, Any] | None:
        """Returns the ``tokenizer.json`` of the private copy, parsed. None if the file would not be
        complete."""
        try:
            config: dict[str, Any] = json.loads(tokenizer_json_of(self._whole))
        except OptionError:
            return None
        return config

    @property
    def special_ids(self) -> Mapping[str, int]:
        """The ids of the special tokens of a tokenizer of transformers, by their names there."""
        found = {name: getattr(self._wrapper, f"{name}_id", None) for name in SPECIAL_TOKENS}
        return {name: id_ for name, id_ in found.items() if id_ is not None}

    @property
    def traits(self) -> EngineTraits:
        """The batch call of the engine returns an object for each token."""
        return EngineTraits(returns_objects=True, check_text=self.check_text)

    @property
    def origin(self) -> Origin:
        """The private copy, for a checker."""
        copied = self._whole if self._is_fixed else self._wrapper or self._whole
        return Origin(copied, self.settings.flags)

    @property
    def engine(self) -> Any:
        """The private copy, a `tokenizers.Tokenizer`, with its post-processor."""
        return self._whole

    def trust_parts(self) -> TrustParts:
        """See `TrustParts`. Raises OptionError where no copy has the ids of the tokenizer."""
        from tokpar.adapters.hf_trust import template_control, trust_parts_of  # see `encode`

        if self.why_live is not None:
            raise OptionError(f"untrusted text needs a copy of the tokenizer: {self.why_live}")
        self._require_unchanged()
        control = None if self._wrapper is None else template_control(self._wrapper)
        return trust_parts_of(self._whole, self._with_engine, control)

    def _with_engine(self, engine: Any) -> HuggingFaceTokenizer:
        """Returns an adapter of another engine that shares the model, with the same settings."""
        caller = Caller(
            engine,
            is_fixed=self._is_fixed,
            was_trained=self._was_trained,
            file_bytes=self._file_bytes,
        )
        return HuggingFaceTokenizer(caller, self.settings)

    def is_current(self, source: Any) -> bool:
        """True if `source`, the object that the adapter was loaded from, is what it was."""
        wrapper = None if isinstance(source, Tokenizer) else source
        own = source if wrapper is None else wrapper.backend_tokenizer
        return self.look.is_same(own, wrapper)

    def _require_unchanged(self) -> None:
        """Raises ChangedError if somebody changed the model. Called before each use of it."""
        if self._model_look is not None and self._model_look != look_at_model(self._chunks):
            raise ChangedError(
                "the tokenizer was changed after this Encoder was made: make a new one"
            )

    def encode(self, text: str) -> IdArray:
        self._require_unchanged()
        call: Any = self._chunks.encode
        given: str | list[str] = text
        if len(text) > _LONG:
            self.check_text(text)
            call, given = self._chunks.encode_batch_fast, [text]
        found = call_engine([text], call, given, add_special_tokens=False)
        encoding = found[0] if len(text) > _LONG else found
        return id_array(encoding.ids)

    def encode_many(self, texts: Sequence[str], spans: bool) -> Rows:
        """Returns one row per text, on all cores, GIL released. Raises EngineError on a panic."""
        self._require_unchanged()
        try:
            call = self._chunks.encode_batch_fast
            encodings = call_batch(call, texts, add_special_tokens=False)
        except BaseException as error:
            raise_foreign(error)
            if isinstance(error, Exception) or is_panic(error):
                for text in texts:
                    self.encode(text)
            raise
        flat, lengths = array("I"), []
        for i, encoding in enumerate(encodings):
            encodings[i] = None
            ids = encoding.ids
            flat.extend(ids)
            lengths.append(len(ids))
        rows = Rows(np.frombuffer(flat, dtype=np.uint32), offsets_of(lengths))
        return self._with_spans(rows, texts) if spans else rows

    def encode_whole(self, text: str) -> IdArray:
        """Returns the ids of the tokenizer's own call. Raises its errors, EngineError on a panic,
        ChangedError."""
        self._require_unchanged()
        add = self.settings.add_special_tokens
        return id_array(call_engine([text], self._whole.encode, text, add_special_tokens=add).ids)

    def whole_batch(self, texts: Sequence[str]) -> Rows:
        self._require_unchanged()
        add = self.settings.add_special_tokens
        call = partial(call_batch, self._whole.encode_batch)
        encodings = call_engine(texts, call, texts, add_special_tokens=add)
        pad_batch(self._whole, encodings)
        return Rows.of(id_array(encoding.ids) for encoding in encodings)

    def locate(self, ids: IdArray, text: str) -> SpanArray:
        """Returns the UTF-8 byte spans of the ids of `encode(text)`.

        If tokens do not tile the text, the spans are the engine's, in whole code points: tokens of
        one character share a span, and a normalizer may leave gaps. Raises LookupError for other
        ids, and where the engine's spans are wrong."""
        if self._lengths is not None:
            return self._lengths.spans(ids, text)
        spans: SpanArray = byte_starts(text)[self.char_offsets([text], Rows.of([ids]))]
        return spans

    def char_offsets(self, texts: Sequence[str], rows: Rows) -> SpanArray:
        """Returns [start, stop) of each token of `rows`: code points, int64 (n, 2), text by text,
        not trimmed.

        `rows`: the ids that `encode` returns for these texts. Raises LookupError as `locate`
        does."""
        self._require_unchanged()
        if self._lengths is None:
            from tokpar.facts.wrong_offsets import why_misplaced  # encoding does without it

            why = next(filter(None, (why_misplaced(self.facts, text) for text in texts)), None)
            if why is not None:
                raise LookupError(f"the engine may tell wrong places of tokens: {why}")
        return self._engine_offsets.spans_of(texts, rows, certain=True)

    def offset_mapping(
        self,
        texts: Sequence[str],
        rows: Rows,
        *,
        add_special_tokens: bool = True,
        cut: tuple[IntArray, IntArray] | None = None,
        char_spans: SpanArray | None = None,
    ) -> SpanArray:
        """Returns the offsets of `return_offsets_mapping` for the tokens of texts: code points,
        int64 (n, 2), text by text.

        The offsets are those of the engine's own `encode(text, add_special_tokens)`, trimmed as its
        post-processor trims them. The (0, 0) of special tokens and padding are left out.

        `rows`: the ids of each text before special tokens, truncation and padding. `cut`: how many
        ids truncation removes from the left and from the right of each text, two int64 arrays
        (texts,). The result lacks these ids, and trimming depends on them. `char_spans`: what
        `char_offsets` returns, if the caller knows it. Raises LookupError if `rows` are not the ids
        of the texts."""
        self._require_unchanged()
        spans = self._engine_offsets.spans_of(texts, rows) if char_spans is None else char_spans
        return self._trimming(add_special_tokens).trim(texts, rows, spans, cut)

    def token_names(self, ids: Sequence[int]) -> list[str]:
        """Returns the `tokens` of the engine's own encoding for ids of a text. Raises LookupError
        if the name of one of them depends on the text, and ChangedError."""
        names = [*map(self._token_names.get, ids)]
        if None not in names:
            return names  # type: ignore[return-value]
        self._require_unchanged()
        return self._token_names.names_of(ids)

    @cached_property
    def _token_names(self) -> TokenNames:
        from tokpar.adapters.hf_token_names import TokenNames  # encoding does without it

        return TokenNames(self._chunks)

    @cached_property
    def _engine_offsets(self) -> EngineOffsets:
        from tokpar.adapters.hf_offsets import EngineOffsets  # encoding does without it

        bare = bare_copy(self._whole) if self._trims_offsets else self._chunks
        return EngineOffsets(bare, self.facts, self._lengths, front_of(self), self.why_live)

    def word_numbers(self, text: str, ids: IdArray) -> IntArray:
        """Returns the number of the pre-token of each token of a text, as `word_ids` of the
        engine's own encoding; int64 (n,).

        `ids`: those of the text. Raises LookupError if only the engine knows, ChangedError."""
        self._require_unchanged()
        places = self.places(text, ids)
        if places is None:
            raise LookupError("only the engine knows the pre-tokens of this text")
        return places.words

    def places(self, text: str, ids: IdArray) -> TokenPlaces | None:
        """Returns the places of the tokens `ids` of a text; None if only the engine knows."""
        return self._engine_offsets.places_of(text, ids)

    def trimmed(self, ids: IdArray, spans: SpanArray, add_special_tokens: bool) -> SpanArray | None:
        """Returns what `offset_mapping` returns for the `spans` of one text that is not truncated;
        None if only `offset_mapping` knows it."""
        known = self._trimmings.get(add_special_tokens)
        return None if known is None else known.trim_one(ids, spans)

    def _trimming(self, add_special_tokens: bool) -> Trimming:
        from tokpar.adapters.hf_trimming import trimming_of  # encoding does without it

        known = self._trimmings.get(add_special_tokens)
        if known is None:
            post_processor = self._whole.post_processor
            known = trimming_of(post_processor, self._token_names, self.facts, add_special_tokens)
            self._trimmings[add_special_tokens] = known
        return known

    @cached_property
    def _trimmings(self) -> dict[bool, Trimming]:
        return {}

    def decode(self, ids: Sequence[int]) -> str:
        """Returns the text of the tokenizer's own decoder, special tokens kept
        (skip_special_tokens=False).

        Raises OptionError for a directory whose class decodes in Python, ChangedError."""
        self._require_unchanged()
        text = self._decoder.decode(ids_for_own_call(ids), skip_special_tokens=False)
        if not isinstance(text, str):  # transformers decodes rows of ids, too
            raise IdTypeError(f"decode takes one row of ids, decode_batch several; got {ids!r:.40}")
        return text

    def decode_batch(self, rows: Sequence[Sequence[int]]) -> list[str]:
        """Returns `decode` of each row. A wrapper of transformers decodes one row at a time."""
        if self._wrapper is not None:
            return [self.decode(row) for row in rows]
        self._require_unchanged()
        own_rows = [*map(ids_for_own_call, rows)]
        return call_batch(self._decoder.decode_batch, own_rows, skip_special_tokens=False)

    def decode_by_table(self, rows: Sequence[Sequence[int] | IdArray]) -> list[str | None]:
        """Returns `decode` of each row; None where only `decode` knows it. Raises: see `decode`."""
        self._require_unchanged()
        return self._later_table.texts(rows)

    @property
    def _decoder(self) -> Any:
        """The object whose `decode` decodes."""
        if self._wrapper is None:
            return self._whole
        from tokpar.adapters.decoding_parts import own_decoding  # encoding does without it

        why = own_decoding(self._wrapper) if self._is_fixed else None
        if why is not None:
            raise OptionError(
                f"decode cannot be used: {why}: pass the object that AutoTokenizer.from_pretrained "
                "returns"
            )
        return self._wrapper

    def decoding_parts(self, skip_special_tokens: bool) -> DecodingParts:
        """The parts of the tokenizer's own decoder. Raises what `decode` raises."""
        from tokpar.adapters.decoding_parts import parts_of_hf  # encoding does without it

        self._require_unchanged()
        own = self._whole if self._wrapper is None else self._decoder.backend_tokenizer
        return parts_of_hf(own, self._chunks, self._wrapper, skip_special_tokens)

    def _token(self, id_: int) -> str | None:
        self._require_unchanged()
        token: str | None = self._chunks.model.id_to_token(id_)
        return token

    def __reduce__(self) -> NoReturn:
        """Raises TypeError: a pickled Tokenizer need not give the same ids (see `same_as`)."""
        raise TypeError(
            f"{self.name} cannot be pickled: pass on its spec(), or load the tokenizer where it is "
            "to be used"
        )

    def spec(self) -> tuple[Callable[..., HuggingFaceTokenizer], Mapping[str, Any]]:
        """Returns `from_json`, and its arguments: a `tokenizer.json` of the private copy, and the
        settings.

        Raises OptionError for two tokens of one id, and where no copy has the ids of the caller's
        tokenizer; ChangedError."""
        if self.why_live is not None:
            raise OptionError(f"cannot be built in another process: {self.why_live}")
        self._require_unchanged()
        return from_json, {
            "config": tokenizer_json_of(self._whole),
            "encode_special_tokens": self._whole.encode_special_tokens,
            "settings": self.settings,
        }


class LiveTokenizer(HuggingFaceTokenizer):
    """A tokenizer whose copies have other ids: the caller's object encodes and decodes.

    No text is cut, and nothing is cached. `snapshot`: what is known of the tokenizer."""

    def __init__(self, snapshot: HuggingFaceTokenizer, caller: Caller) -> None:
        self.__dict__ |= snapshot.__dict__
        self._caller, self._wrapper = caller, caller.wrapper
        own, settings = caller.own, self.settings
        truncates = not settings.truncation and own.truncation is not None
        if caller.wrapper is None and (truncates or (not settings.padding and own.padding)):
            raise OptionError(f"{_OWN_ENDS}: {self.why_live}")

    @property
    def origin(self) -> Origin:
        """The caller's object, for a checker."""
        settings = {**self.settings.flags, "no_file": self.why_live}
        return Origin(self._caller.native, settings)

    def encode(self, text: str) -> IdArray:
        """Returns ids without special tokens. Raises OptionError if the own call truncates or
        pads."""
        own = self._caller.own
        if self._caller.native is own and (own.truncation or own.padding):
            raise OptionError(f"{_OWN_ENDS}: {self.why_live}")
        return self._own_ids(text, False)

    def encode_many(self, texts: Sequence[str], spans: bool) -> Rows:
        """Returns one row per text. Raises LookupError where the private copy has other ids."""
        rows = Rows.of(map(self.encode, texts))
        return self._with_spans(rows, texts) if spans else rows

    def encode_whole(self, text: str) -> IdArray:
        return self._own_ids(text, self.settings.add_special_tokens)

    def _own_ids(self, text: str, add_special_tokens: bool) -> IdArray:
        return call_engine([text], self._caller.ids, text, add_special_tokens)

    def whole_batch(self, texts: Sequence[str]) -> Rows:
        add = self.settings.add_special_tokens
        return Rows.of(call_engine(texts, self._caller.batch, texts, add))

    def decode_by_table(self, rows: Sequence[Sequence[int] | IdArray]) -> list[str | None]:
        return [None] * len(rows)

    @property
    def _decoder(self) -> Any:
        return self._caller.wrapper or self._caller.own

    def decoding_parts(self, skip_special_tokens: bool) -> DecodingParts:
        """The parts of the caller's own decoder."""
        from tokpar.adapters.decoding_parts import parts_of_hf  # encoding does without it

        own = self._caller.own
        copied, _ = private_copy(own)
        bare = bare_copy(own) if why_copy_differs(own, copied) is None else None
        parts = parts_of_hf(own, bare, self._wrapper, skip_special_tokens)
        return replace(parts, state=object())  # the caller may change the object

    def is_current(self, source: Any) -> bool:
        """False: this is no snapshot."""
        return False

    def _require_unchanged(self) -> None:
        """Nothing: the caller's object answers as it is now."""
