"""The adapter for tokenizers below 1.0: `tokenizers.Tokenizer`, fast tokenizers of transformers,
`tokenizer.json`, and BERT's `vocab.txt`.

A private copy without truncation, padding and post-processor encodes the chunks. The copy shares
the model of the caller's object. The caller's object is called only to encode whole texts and to
decode."""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING, Any, NoReturn
from weakref import WeakValueDictionary

import numpy as np
import tokenizers
from numpy.typing import NDArray
from tokenizers import Tokenizer

from tokpar.adapters.directory import DirectoryTokenizer
from tokpar.adapters.hf_copy import (
    facts_of_copy,
    postprocess_like,
    private_copy,
    same_as,
    tokenizer_json_of,
)
from tokpar.adapters.hf_postprocess import OTHER_IDS, PostProcess, PostProcessingAdapter
from tokpar.adapters.hf_source import (
    AFFIXES,
    Caller,
    caller_of,
    id_array,
    may_be_stale,
    same_model,
    saw_training,
    training,
    training_is_seen,
)
from tokpar.adapters.settings import (
    POSTPROCESS_FLAGS,
    bert_file,
    flags,
    is_panic,
    path_of,
    raise_panic,
    take_cache_bytes,
    take_engine_check,
)
from tokpar.arrays import IdArray, IntArray, SpanArray, byte_starts, offsets_of
from tokpar.cache.build_cache import segment_cache_for
from tokpar.cache.generations import SolvesSegments
from tokpar.cache.merges import GateError, Merges, Source, merges_of, model_parts
from tokpar.errors import OptionError
from tokpar.facts.hf_facts import MISPLACED
from tokpar.facts.hf_vocabulary import bytes_of_token
from tokpar.foreign_errors import raise_foreign
from tokpar.pure.vocabulary import letters_of
from tokpar.types import DecodingParts, EngineTraits, Loader, Origin, Piece, Rows

if TYPE_CHECKING:
    from tokpar.adapters.hf_offsets import EngineOffsets
    from tokpar.adapters.hf_trimming import Trimming

# Above this many code points `encode` takes the batch call, which needs half the time and memory.
_LONG = 1 << 18
_OWN_SETTINGS = "cache_bytes", "engine_check"
MOST_ADDED = 64
"""With at most so many added tokens, checking for changes is faster than encoding a short text."""


def load(source: object, **settings: Any) -> HuggingFaceTokenizer | None:
    """Returns an adapter for releases below 1.0, see `hf_version.load`."""
    path = None if isinstance(source, DirectoryTokenizer) else path_of(source, ".txt")
    if path is not None:
        cache_bytes, settings = take_cache_bytes(settings, (*POSTPROCESS_FLAGS, "lowercase"))
        config, postprocess_flags = bert_file(path, settings)
        own = Tokenizer.from_str(json.dumps(config))
        caller = Caller(own, is_fixed=True, cache_bytes=cache_bytes, **postprocess_flags)
        return HuggingFaceTokenizer(caller)
    found = caller_of(source)
    if found is None:
        return None
    cache_bytes, settings = take_cache_bytes(settings, (*POSTPROCESS_FLAGS, "engine_check"))
    check = take_engine_check(settings)
    postprocess_flags = flags(settings, POSTPROCESS_FLAGS)
    return _adapter_for(
        replace(found, cache_bytes=cache_bytes, engine_check=check, **postprocess_flags)
    )


_alive: WeakValueDictionary[object, HuggingFaceTokenizer] = WeakValueDictionary()
"""Adapters by the part of their fingerprint that is cheap to compute."""


def _adapter_for(caller: Caller) -> HuggingFaceTokenizer:
    """Returns an adapter for `caller`. If another tokenizer with the same fingerprint has an
    adapter, such as the original of a copy, both share cache and facts."""
    kind = type(caller.wrapper)
    about = (
        kind.__module__,
        kind.__qualname__,
        caller.cache_bytes,
        caller.engine_check,
        caller.is_fixed,
        caller.loader,
    )
    key = repr(
        (about, caller.add_special_tokens, caller.truncation, caller.padding, caller.settings())
    )
    known = _alive.get(key)
    adapter = None if known is None else known.for_copy(caller)
    if adapter is None:
        _alive[key] = adapter = HuggingFaceTokenizer(caller)
    return adapter


def from_json(
    config: str,
    encode_special_tokens: bool,
    postprocess: PostProcess,
    cache_bytes: int,
    engine_check: bool,
) -> HuggingFaceTokenizer:
    """Returns the adapter that `HuggingFaceTokenizer.spec` describes. Raises EngineError: see
    `same_as`."""
    own = same_as(config)
    own.encode_special_tokens = encode_special_tokens
    caller = Caller(own, is_fixed=True, cache_bytes=cache_bytes, engine_check=engine_check)
    return HuggingFaceTokenizer(caller, postprocess)


class HuggingFaceTokenizer(PostProcessingAdapter):
    """The adapter of one tokenizer; see `load`."""

    def __init__(self, caller: Caller, postprocess: PostProcess | None = None) -> None:
        self.caller = caller
        self._state = None if caller.is_fixed else caller.state()
        self._model = caller.own.model
        self._postprocess_given = postprocess is not None
        self._chunks = private_copy(caller.own)
        self._postprocess = (
            postprocess_like(caller, self._chunks) if postprocess is None else postprocess
        )
        if self._postprocess.unknown and not self._own_call_fits:
            raise OptionError(
                "its truncation and padding are a part of its own call, which nothing can replace: "
                f"{self._postprocess.unknown}"
            )
        self._chunks.encode_special_tokens = caller.encode_special_tokens
        unknown = self._postprocess.unknown
        self.facts, self._lengths, self._source = facts_of_copy(caller, self._chunks, unknown)
        lengths = self._lengths
        # with encode_special_tokens, tokens that the facts do not list may hide others
        if not caller.encode_special_tokens:
            self._segment_cache = segment_cache_for(self.facts, lambda: lengths, caller.cache_bytes)

    @property
    def postprocess_refused(self) -> str | None:
        """Why only the caller's own call can post-process, or None."""
        return self._postprocess.unknown

    @cached_property
    def fingerprint(self) -> str | None:
        """The digest of everything that decides the ids: file, settings, added tokens,
        post-processor, version of the engine.

        It is equal in all processes. None for components written in Python."""
        return self.caller.fingerprint()

    @property
    def loader(self) -> Loader | None:
        """What made the tokenizer of a directory, or None."""
        loader: Loader | None = self.caller.loader
        return loader

    @cached_property
    def vocabulary_size(self) -> int:
        """The highest id plus one; at least the number of tokens."""
        tokens = self.caller.own.get_vocab(with_added_tokens=True)
        return max(len(tokens), 1 + max(tokens.values(), default=-1))

    def for_copy(self, caller: Caller) -> HuggingFaceTokenizer | None:
        """Returns an adapter for a copy of this tokenizer, with the same cache.

        None if the copy has another fingerprint, or if its engine finds other added tokens."""
        if self.refresh() is not self:
            return None
        chunks = self._chunks
        if caller.own is not self.caller.own:
            digest = self.fingerprint
            if digest is None or caller.fingerprint() != digest:
                return None
            # the copy needs its own engine: this adapter's may be changed later, or trained in
            # place
            chunks = private_copy(caller.own)
            chunks.encode_special_tokens = caller.encode_special_tokens
            if self.facts.tokens is not None:
                self.facts.tokens()
        postprocess = postprocess_like(caller, chunks)
        if postprocess.unknown is not None:
            return None
        twin = self._twin_for(caller)
        twin._postprocess, twin._model, twin._chunks = postprocess, caller.own.model, chunks
        twin._state = None if caller.is_fixed else caller.state()
        if chunks is not self._chunks:  # these were made by this adapter's engine
            twin.__dict__.pop("_engine_offsets", None)
            twin._trimmings = {}
        return twin

    @property
    def traits(self) -> EngineTraits:
        """The batch call of the engine returns an object for each token."""
        return EngineTraits(returns_objects=True, check_text=self.check_text)

    @property
    def origin(self) -> Origin:
        """The caller's object, for a checker."""
        caller = self.caller
        settings = {name: getattr(caller, name) for name in POSTPROCESS_FLAGS}
        if self._postprocess_given:
            settings |= {"postprocess_given": True}
        return Origin(caller.native, settings)

    @property
    def engine(self) -> Any:
        """The private copy, a `tokenizers.Tokenizer`: all stages before post-processing."""
        return self._chunks

    def encode(self, text: str) -> IdArray:
        try:
            if len(text) > _LONG:
                self.check_text(text)
                [encoding] = self._chunks.encode_batch_fast([text], add_special_tokens=False)
            else:
                encoding = self._chunks.encode(text, add_special_tokens=False)
        except BaseException as error:
            raise_panic(error, "the tokenizer", [text])
            raise
        return id_array(encoding.ids)

    def encode_many(self, texts: Sequence[str], spans: bool) -> Rows:
        """Returns one row per text, on all cores, GIL released. Raises EngineError on a panic."""
        with_offsets = spans and self._lengths is None
        call = self._chunks.encode_batch if with_offsets else self._chunks.encode_batch_fast
        try:
            encodings = call(list(texts), add_special_tokens=False)
        except BaseException as error:
            raise_foreign(error)
            if isinstance(error, Exception) or is_panic(error):
                for text in texts:
                    self.encode(text)
            raise
        if spans:
            return self._locate_rows(texts, encodings)
        flat, lengths = array("I"), []
        for i, encoding in enumerate(encodings):
            encodings[i] = None
            ids = encoding.ids
            flat.extend(ids)
            lengths.append(len(ids))
        return Rows(np.frombuffer(flat, dtype=np.uint32), offsets_of(lengths))

    def _locate_rows(self, texts: Sequence[str], encodings: list[Any]) -> Rows:
        pieces = []
        for i, text in enumerate(texts):
            encoding, encodings[i] = encodings[i], None
            ids, known = id_array(encoding.ids), self._lengths
            spans = known.spans(ids, text) if known else self._places(encoding, text)
            pieces.append(Piece(ids, spans))
        return Rows.of_pieces(pieces)

    def encode_whole(self, text: str) -> IdArray:
        """Returns the ids of the caller's own call. If that call truncates or pads against the
        settings, returns the ids of `encode` after tokpar's post-processing."""
        if not self._own_call_fits:
            now = self.refresh()
            return now._postprocess.rows(Rows.of([now.encode(text)]))[0]
        try:
            return id_array(self.caller.ids(text))
        except BaseException as error:
            raise_panic(error, "the tokenizer", [text])
            raise

    @property
    def _own_call_fits(self) -> bool:
        """True if the caller's own call post-processes as the settings say, as the caller's object
        is now."""
        return not self._postprocess_given and self.caller.as_it_is

    def locate(self, ids: IdArray, text: str) -> SpanArray:
        """Returns the UTF-8 byte spans of the ids of `encode(text)`.

        If tokens do not tile the text, the spans are the engine's, in whole code points: tokens of
        one character share a span, and a normalizer may leave gaps. Raises LookupError for other
        ids, and where the engine's spans are wrong."""
        if self._lengths is not None:
            return self._lengths.spans(ids, text)
        encoding = self._chunks.encode(text, add_special_tokens=False)
        if not np.array_equal(id_array(encoding.ids), ids):
            raise LookupError(OTHER_IDS)
        return self._places(encoding, text)

    def _places(self, encoding: Any, text: str) -> SpanArray:
        """Returns the engine's offsets as UTF-8 byte spans. Raises LookupError where they may be
        wrong."""
        self._require_places(text)
        return _offsets(encoding, text, self._chunks.model)

    def _require_places(self, text: str) -> None:
        from tokpar.facts.wrong_offsets import why_misplaced  # encoding does without it

        why = why_misplaced(self.facts, text)
        if why is not None:
            raise LookupError(f"the engine may tell wrong places of tokens: {why}")

    def char_offsets(self, texts: Sequence[str], rows: Rows) -> SpanArray:
        """Returns [start, stop) of each token of `rows`: code points, int64 (n, 2), text by text,
        not trimmed.

        `rows`: the ids that `encode` returns for these texts. Raises LookupError as `locate`
        does."""
        if self._lengths is None:
            for text in texts:
                self._require_places(text)
        return self._engine_offsets.spans_of(texts, rows, certain=True)

    def offset_mapping(
        self,
        texts: Sequence[str],
        rows: Rows,
        *,
        add_special_tokens: bool = True,
        cut: tuple[IntArray, IntArray] | None = None,
    ) -> SpanArray:
        """Returns the offsets of `return_offsets_mapping` for the tokens of texts: code points,
        int64 (n, 2), text by text.

        The offsets are those of the engine's own `encode(text, add_special_tokens)`, trimmed as its
        post-processor trims them. The (0, 0) of special tokens and padding are left out.

        `rows`: the ids of each text before special tokens, truncation and padding. `cut`: how many
        ids truncation removes from the left and from the right of each text, two int64 arrays
        (texts,). The result lacks these ids, and trimming depends on them. Raises LookupError if
        `rows` are not the ids of the texts."""
        spans = self._engine_offsets.spans_of(texts, rows)
        return self._trimming(add_special_tokens).trim(texts, rows, spans, cut)

    @cached_property
    def _engine_offsets(self) -> EngineOffsets:
        from tokpar.adapters.hf_offsets import EngineOffsets  # encoding does without it

        # with encode_special_tokens, tokens that the facts do not list may hide others
        cache_bytes = 0 if self.caller.encode_special_tokens else self.caller.cache_bytes
        return EngineOffsets(self._chunks, self.facts, self._lengths, cache_bytes)

    def _trimming(self, add_special_tokens: bool) -> Trimming:
        from tokpar.adapters.hf_trimming import trimming_of  # encoding does without it

        known = self._trimmings.get(add_special_tokens)
        if known is None:
            post_processor = self.caller.own.post_processor
            known = trimming_of(post_processor, self._chunks, self.facts, add_special_tokens)
            self._trimmings[add_special_tokens] = known
        return known

    @cached_property
    def _trimmings(self) -> dict[bool, Trimming]:
        return {}

    def cached_ids(self, text: str) -> IdArray | None:
        """Returns the ids of a short text, or None if the cache does not know all of it.

        Also None if the caller has changed the tokenizer, or if checking for changes would take too
        long."""
        if not self.caller.is_fixed and (self._many_added or self.refresh() is not self):
            return None
        return super().cached_ids(text)

    @cached_property
    def _many_added(self) -> bool:
        return len(self.facts.added_tokens) > MOST_ADDED

    def made_pieces(self, seeds: NDArray[np.uint64]) -> SolvesSegments | None:
        """Returns the encoder of new segments, or None.

        None outside of the gate of theorem 52, if the engine has other ids, and if the model may
        return ids from before a training."""
        if self.facts.model != "BPE":
            from tokpar.cache.engine_pretokens import engine_pieces_for  # see below

            return engine_pieces_for(self.facts, seeds)
        from tokpar.cache.new_segments import pieces_for  # most processes do without tables

        model, file_bytes = self._chunks.model, self.caller.file_bytes
        if may_be_stale(model):
            return None
        size = self._chunks.get_vocab_size(with_added_tokens=False)
        source = self._source_of(model, size)
        engine = f"tokenizers {tokenizers.__version__}"
        make = partial(_merges, model, file_bytes, size, source)
        tokenize = partial(_while_unchanged, model, size, training(model, size))
        columns = make, tokenize, seeds, engine, self.caller.engine_check
        return pieces_for(self.facts, source, size, *columns)

    def _source_of(self, model: Any, size: int) -> Source:
        """Returns the digest of the file, or of the model in its present state.

        The digest from load is used if nobody has trained the model in place since then."""
        if self._source is not None:
            if self._state is None:
                return self._source
            if training_is_seen(model) and training(model, size) == self._state[-1]:
                return self._source
        return Source.of(model.__getstate__())

    def whole_batch(self, texts: Sequence[str]) -> Rows:
        try:
            return Rows.of(self.caller.batch(texts))
        except BaseException as error:
            raise_panic(error, "the tokenizer", texts)
            raise

    def decode(self, ids: Sequence[int]) -> str:
        """Returns the text of the caller's own decoder, special tokens kept
        (skip_special_tokens=False).

        Raises OptionError for a directory whose class decodes in Python."""
        from tokpar.adapters.decoding_parts import own_decoding  # encoding does without it

        native = self.caller.wrapper or self.caller.own
        why = own_decoding(native) if self.caller.native is not native else None
        if why is not None:
            raise OptionError(
                f"decode cannot be used: {why}: pass the object that AutoTokenizer.from_pretrained "
                "returns"
            )
        some = np.asarray(ids, dtype=np.int64).tolist()
        return str(native.decode(some, skip_special_tokens=False))

    def decode_batch(self, rows: Sequence[Sequence[int]]) -> list[str]:
        """Returns `decode` of each row. A wrapper of transformers decodes one row at a time."""
        if self.caller.wrapper is not None:
            return [self.decode(row) for row in rows]
        return list(self.caller.own.decode_batch(rows, skip_special_tokens=False))

    def decoding_parts(self, skip_special_tokens: bool) -> DecodingParts:
        """The parts of the caller's own decoder. OptionError: see `parts_of_hf`."""
        from tokpar.adapters.decoding_parts import parts_of_hf  # encoding does without it

        caller = self.caller
        own = caller.own if caller.wrapper is None else caller.wrapper.backend_tokenizer
        return parts_of_hf(own, caller.wrapper, skip_special_tokens)

    def token_bytes(self, id_: int) -> bytes | None:
        """The bytes of a token of byte-level BPE, or of an added token; None for other tokens."""
        content = self._contents.get(id_)
        if content is not None:
            return content.encode("utf-8")
        token = self._model.id_to_token(id_) if self.facts.byte_level else None
        return None if token is None else bytes_of_token(token)

    @cached_property
    def _contents(self) -> dict[int, str]:
        """The contents of the added tokens by id."""
        return {token.id: token.content for token in self.facts.added_tokens}

    def refresh(self) -> HuggingFaceTokenizer:
        """Returns this adapter, or a new adapter if the caller has changed the tokenizer."""
        caller = self.caller
        if caller.is_fixed:
            return self
        if caller.wrapper is not None:
            caller = replace(caller, own=caller.wrapper.backend_tokenizer)
        same = caller.own is self.caller.own and same_model(caller.own.model, self._model)
        state = caller.state()
        if same and state == self._state:
            return self
        if same and self._state is not None and state[-1] != self._state[-1]:
            saw_training(caller.own.model)
        return HuggingFaceTokenizer(caller)

    def detach(self) -> HuggingFaceTokenizer:
        """Returns this adapter without the caller's object. Only `attach` may be called on it."""
        return self._twin_for(replace(self.caller, own=None, wrapper=None))

    def attach(self, source: object) -> HuggingFaceTokenizer:
        """Returns the adapter again, for the tokenizer object that it was loaded from."""
        caller = caller_of(source)
        assert caller is not None
        settings = {
            name: getattr(self.caller, name) for name in (*POSTPROCESS_FLAGS, *_OWN_SETTINGS)
        }
        return self._twin_for(replace(caller, **settings))

    def _twin_for(self, caller: Caller) -> HuggingFaceTokenizer:
        twin = object.__new__(HuggingFaceTokenizer)
        twin.__dict__ |= self.__dict__ | {"caller": caller}
        return twin

    def __reduce__(self) -> NoReturn:
        """Raises TypeError: a pickled Tokenizer need not give the same ids (see `same_as`)."""
        raise TypeError(
            f"{self.name} cannot be pickled: pass on its spec(), or load the tokenizer where it is "
            "to be used"
        )

    def spec(self) -> tuple[Callable[..., HuggingFaceTokenizer], Mapping[str, Any]]:
        """Returns `from_json`, and its arguments: a `tokenizer.json` of the private copy, and the
        post-processing.

        Raises OptionError for components in Python, for two tokens of one id, and if
        post-processing is unknown."""
        if self._postprocess.unknown is not None:
            raise OptionError(f"cannot be built in another process: {self._postprocess.unknown}")
        return from_json, {
            "config": tokenizer_json_of(self._chunks),
            "encode_special_tokens": self.caller.encode_special_tokens,
            "postprocess": self._postprocess,
            "cache_bytes": self.caller.cache_bytes,
            "engine_check": self.caller.engine_check,
        }


def _merges(model: Any, file_bytes: bytes | None, size: int, source: Source) -> Merges:
    """Returns the merges of a model with `size` tokens. Raises GateError if the model no longer has
    the digest `source`.

    `file_bytes`: the file that the model was read from, or None."""
    parts = None if file_bytes is None else model_parts(file_bytes)
    if file_bytes is not None and parts is not None:
        return merges_of(file_bytes, size, parts=parts)
    state = model.__getstate__()
    if file_bytes is None and Source.of(state) != source:
        raise GateError("its model was changed while it was read")
    return merges_of(state, size)


def _while_unchanged(model: Any, size: int, training_state: object, piece: bytes) -> IdArray | None:
    """Returns the model's ids of one pre-token, or None once the model was trained again in place.

    A copy of the tokenizer that was not trained may share the cache. `training_state`: what
    `training` returned before."""
    return _tokenize(model, piece) if training(model, size) == training_state else None


def _tokenize(model: Any, piece: bytes) -> IdArray:
    """Returns the model's ids of one pre-token, given as bytes."""
    return id_array([token.id for token in model.tokenize(letters_of(piece))])


def _offsets(encoding: Any, text: str, model: Any) -> SpanArray:
    """Returns the offsets of an encoding, which are code points, as UTF-8 byte spans."""
    if getattr(model, "byte_fallback", False) and any(getattr(model, a, None) for a in AFFIXES):
        raise LookupError(MISPLACED)
    pairs = encoding.offsets
    flat = np.fromiter(chain.from_iterable(pairs), dtype=np.int64, count=2 * len(pairs))
    if flat.max(initial=0) > len(text):
        raise LookupError("the engine places tokens behind the end of the text")
    spans: SpanArray = byte_starts(text)[flat].reshape(-1, 2)
    return spans
