"""The adapter for tokenizers from 1.0 on, and for the files that these releases read.

Only truncation and padding of a tokenizer object can change, and each call can name both. So the
caller's own object encodes, with the truncation and padding of the time when it was loaded.
Everything else comes from the JSON of the object, which is read once per object."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import tokenizers
from tokenizers import Tokenizer

from tokpar.adapters.cached_rows import call_refused, later_call
from tokpar.adapters.decoding_parts import parts_of_hf_one
from tokpar.adapters.engine_batches import call_batch
from tokpar.adapters.fingerprint import fingerprint_of
from tokpar.adapters.hf_one_call import BARE, call_parts_of_one
from tokpar.adapters.hf_postprocess import (
    PostProcess,
    PostProcessingAdapter,
    around_of,
    postprocess_from,
)
from tokpar.adapters.settings import (
    Settings,
    call_engine,
    path_of,
    refusing,
)
from tokpar.arrays import IdArray, SpanArray, offsets_of
from tokpar.contract.adapter import DecodingParts, EngineTraits, Loader, Origin, ids_for_own_call
from tokpar.contract.interfaces import Locates
from tokpar.errors import EngineError, FileFormatError
from tokpar.facts.hf_facts import ENGINE, facts_from_json, token_lengths
from tokpar.facts.token_lengths import TokenLengths
from tokpar.formats.format_upgrade import as_format_one
from tokpar.formats.json_parts import InsertedIds
from tokpar.patterns.known_pattern import shipped_pattern
from tokpar.process.cached_property import cached_property
from tokpar.types import Facts, Rows

if TYPE_CHECKING:
    from tokpar.compiled.compiled_build import LaterCall

_DEFAULTS = Settings()

MOST_KEPT = 4
"""So many tokenizer objects are kept with their facts. Weak references to them are not possible."""


def load(source: object, settings: Settings = _DEFAULTS) -> HuggingFaceOneTokenizer | None:
    """Returns an adapter for releases from 1.0 on, see `hf_version.load`."""
    path = path_of(source, ".json")
    if isinstance(source, Mapping):
        return HuggingFaceOneTokenizer(_of_config(source), settings)
    if path is None and not isinstance(source, Tokenizer):
        return None
    return HuggingFaceOneTokenizer(source if path is None else _from_file(path), settings)


def rebuild(
    config: Mapping[str, Any],
    digest: str,
    settings: Settings,
    truncation: Any,
    padding: Any,
) -> HuggingFaceOneTokenizer:
    """Returns the adapter that `spec` describes. Raises EngineError if the result is another
    tokenizer."""
    own = _of_config(config)
    if json_facts_of(own).digest != digest:
        raise EngineError("this tokenizer is not the same when it is written and read again")
    own.truncation, own.padding = truncation, padding
    return HuggingFaceOneTokenizer(own, settings)


def _from_file(path: Path) -> Any:
    path.read_bytes()  # the library's error for a missing file does not name the path
    with refusing(path):
        return Tokenizer.from_file(str(path))


def _of_config(config: Mapping[str, Any]) -> Any:
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "tokenizer.json"
        file.write_text(json.dumps(config), encoding="utf-8")
        return _from_file(file)


class HuggingFaceOneTokenizer(PostProcessingAdapter):
    """The adapter of one tokenizer; see `load`."""

    loader: Loader | None = None
    """What made the tokenizer of a directory, or None."""

    def __init__(self, own: Any, settings: Settings) -> None:
        self._own, self.settings = own, settings
        # the caller may set others later
        truncation = own.truncation if settings.truncation else None
        padding = own.padding if settings.padding else None
        special = settings.add_special_tokens
        self._call = {"add_special_tokens": special, "truncation": truncation, "padding": padding}
        self._json_facts = json_facts_of(own)
        self.facts = self._json_facts.facts
        inserted_ids = self._json_facts.inserted_ids
        self._postprocess = _postprocess(inserted_ids, special, truncation, padding)
        later = self._later_call()
        self.later_call = None if isinstance(later, str) else later
        self._why_no_call = later if isinstance(later, str) else ""

    def _later_call(self) -> LaterCall | str:
        """Returns the compiled call, or why there is none."""
        refused = call_refused(self.settings.engine_check, self.settings.cache_bytes)
        if refused is not None:
            return refused
        special = self._postprocess.final_special_tokens
        return _call_of(self._own, None if special is None else tuple(map(tuple, special)))

    @property
    def traits(self) -> EngineTraits:
        """The calls release the GIL."""
        return EngineTraits(releases_gil=True, check_text=self.check_text)

    @property
    def origin(self) -> Origin:
        """The caller's object, for a checker."""
        return Origin(self._own, self.settings.flags)

    @property
    def fingerprint(self) -> str:
        """The digest of everything that decides the ids: file (in either format), added tokens,
        post-processor, settings, version of the engine.

        It is equal in all processes."""
        config = {**config_of(self._own), "version": None}
        postprocess = self._postprocess
        parts = {
            "config": config,
            "prefix": postprocess.prefix.tobytes(),
            "suffix": postprocess.suffix.tobytes(),
            "finish": repr((postprocess.truncation, postprocess.padding, postprocess.unknown)),
        }
        if self.loader is not None:
            parts["loader"] = asdict(self.loader)
        return fingerprint_of("tokenizers", tokenizers.__version__, parts)

    @cached_property
    def vocabulary_size(self) -> int:
        """The highest id plus one; at least the number of tokens."""
        config = config_of(self._own)
        vocabulary = config["model"]["vocab"]
        added = [token["id"] for token in config.get("added_tokens") or ()]
        ids = vocabulary.values() if isinstance(vocabulary, dict) else range(len(vocabulary))
        return max(len(vocabulary), 1 + max([*ids, *added], default=-1))

    def vocabulary(self) -> dict[str, Any]:
        """Returns the ``tokenizer.json`` of the caller's object, parsed, in format 1.0."""
        return config_of(self._own)

    def encode(self, text: str) -> IdArray:
        ids: IdArray = call_engine([text], self._own.encode, text, **BARE).ids_array
        return ids

    def encode_whole(self, text: str) -> IdArray:
        ids: IdArray = call_engine([text], self._own.encode, text, **self._call).ids_array
        return ids

    def encode_many(self, texts: Sequence[str], spans: bool) -> Rows:
        """Returns one row per text, on all cores, GIL released. Raises EngineError on a panic."""
        rows = self._batch(texts, BARE)
        return self._with_spans(rows, texts) if spans else rows

    def whole_batch(self, texts: Sequence[str]) -> Rows:
        return self._batch(texts, self._call)

    def _batch(self, texts: Sequence[str], settings: Mapping[str, Any]) -> Rows:
        encodings = call_engine(
            texts, partial(call_batch, self._own.encode_batch), texts, **settings
        )
        offsets = offsets_of(map(len, encodings))
        ids = np.empty(offsets[-1], dtype=np.uint32)
        # few new arrays at a time, so that they stay in the processor's cache
        for k in range(0, len(encodings), 64):
            part = b"".join([encoding.ids_array for encoding in encodings[k : k + 64]])
            own = slice(offsets[k], offsets[min(k + 64, len(encodings))])
            ids[own] = np.frombuffer(part, dtype=np.uint32)
        return Rows(ids, offsets)

    def locate(self, ids: IdArray, text: str) -> SpanArray:
        """Returns the UTF-8 byte spans of the ids of `encode(text)`.

        tokenizers 1.x returns no offsets. If tokens do not tile the text, the plugin pure
        encodes the text again to find the spans, which is slow. Raises LookupError for other ids,
        and if that plugin cannot load the tokenizer or gets other ids."""
        if self._json_facts.lengths is None:
            return self._pure.locate(ids, text)
        return self._json_facts.lengths.spans(ids, text)

    @cached_property
    def _pure(self) -> Locates:
        untold = "tokenizers 1.x does not tell where tokens lie, and"
        try:
            from tokpar_pure.adapter import twin_of_one  # few texts need it

            return twin_of_one(config_of(self._own), self.name)
        except FileFormatError as error:
            raise LookupError(f"{untold} neither does engine='pure': {error}") from error

    def decode(self, ids: Sequence[int]) -> str:
        """Returns the text of the caller's own decoder, special tokens kept
        (skip_special_tokens=False)."""
        return str(self._own.decode(ids_for_own_call(ids), skip_special_tokens=False))

    def decoding_parts(self, skip_special_tokens: bool) -> DecodingParts:
        """The parts of the caller's own decoder."""
        config = config_of(self._own)
        size = len(config["model"]["vocab"]) + len(config.get("added_tokens") or ())
        return parts_of_hf_one(self._own, config.get("decoder"), size, skip_special_tokens)

    def _token(self, id_: int) -> str | None:
        if not 0 <= id_ < self.vocabulary_size:
            return None
        found: list[str] = self._own.decode_tokens([id_], skip_special_tokens=False)
        return found[0] if found else None

    def spec(self) -> tuple[Callable[..., HuggingFaceOneTokenizer], Mapping[str, Any]]:
        """Returns `rebuild` and its arguments: the tokenizer in format 1.0, its digest, the
        settings of `load`, and truncation and padding.

        The object itself cannot be passed on: 1.0.0rc3 gives added tokens of DeepSeek-V3 other ids
        when it reads its own format 2.0."""
        return rebuild, {
            "config": config_of(self._own),
            "digest": self._json_facts.digest,
            "settings": self.settings,
            "truncation": self._call["truncation"],
            "padding": self._call["padding"],
        }


def _postprocess(
    inserted_ids: InsertedIds | str, add_special_tokens: bool, truncation: Any, padding: Any
) -> PostProcess:
    """Returns the post-processing; it has no stride. If special tokens fill the whole length,
    nothing of the text is kept."""
    cut = pad = None
    if truncation is not None:
        cut = {name: getattr(truncation, name) for name in ("max_length", "strategy", "direction")}
        inserted = sum(map(len, inserted_ids)) if add_special_tokens else 0
        cut |= {"max_length": max(cut["max_length"], inserted), "stride": 0}
    if padding is not None:
        names = ("length", "pad_to_multiple_of", "direction", "pad_id")
        pad = {name: getattr(padding, name) for name in names}
    return postprocess_from(inserted_ids, add_special_tokens, cut, pad)


@dataclass(frozen=True, slots=True, eq=False)
class JsonFacts:
    """Everything that follows from the JSON of a tokenizer. `lengths`: the byte lengths of tokens,
    if tokens tile the text."""

    digest: str
    facts: Facts
    inserted_ids: InsertedIds | str
    lengths: TokenLengths | None


@lru_cache(maxsize=MOST_KEPT)
def json_facts_of(own: Any) -> JsonFacts:
    """Returns the `JsonFacts` of a tokenizer object. Objects are recognised by identity, and their
    JSON cannot change."""
    config = config_of(own)
    facts = facts_from_json(config)
    # the library has its own code for the shipped regexes. It is tested to cut as
    # Oniguruma does, code point by code point, where the tables go
    # (tests/adapters/test_adapter_hf_one.py)
    facts = replace(
        facts,
        unprovable=facts.unprovable or _stage_reason(facts) or _added_reason(facts),
        added_token_cuts_refused=facts.added_token_cuts_refused
        or _added_reason(facts)
        or _edge_reason(facts),
        sizes=None,
    )
    return JsonFacts(
        hashlib.sha256(_json_of(own).encode()).hexdigest(),
        facts,
        around_of(config["post_processor"]),
        token_lengths(config) if facts.tiles else None,
    )


@lru_cache(maxsize=MOST_KEPT)
def _call_of(own: Any, special: tuple[tuple[int, ...], ...] | None) -> LaterCall | str:
    """Returns the compiled call of a tokenizer object, or why there is none. Adapters of one object
    share it, since nothing of the model can change. `special`: the ids around a text."""
    found = json_facts_of(own)
    around = None if special is None else (special[0], special[1])
    parts = call_parts_of_one(own, config_of(own), found.digest, found.facts, around)
    return parts if isinstance(parts, str) else later_call(parts)


def _json_of(own: Any) -> str:
    """Returns the tokenizer as JSON, format 2.0: the first item that it gives to be pickled."""
    return str(own.__reduce__()[1][0])


def config_of(own: Any) -> dict[str, Any]:
    """Returns the tokenizer as a parsed file in format 1.0."""
    return as_format_one(json.loads(_json_of(own)))


def _edge_reason(facts: Facts) -> str | None:
    """Returns why the edges of added tokens are not certified cuts, or None.

    It is asked about tokens whose matches are certain; see `_added_reason`."""
    moved = next((t.content for t in facts.added_tokens if t.normalized), None)
    if moved is not None and facts.scheme not in ("regex", "whole"):
        return f"nothing is proved about tokenizers 1.x and where it looks for {moved!r}"
    return None


def _stage_reason(facts: Facts) -> str | None:
    """Returns why cuts that rest on the stages alone (theorem 50) are not certain, or None.

    1.0.0rc3 has the stages of 0.2x, except for regexes. For a list of known regexes it runs its own
    code. For a sequence of stages that begins with three of these regexes, it runs nothing else
    (docs/findings.md)."""
    for stage in facts.pre_tokenizers:
        pattern = dict(stage.settings).get("pattern")
        source = pattern.get("Regex") if isinstance(pattern, dict) else None
        if source is not None and shipped_pattern(ENGINE, (str(source),)) is None:
            return f"nothing is proved about tokenizers 1.x and a Split on {source!r}"
    for stage in facts.normalizers:
        pattern = dict(stage.settings).get("pattern")
        if isinstance(pattern, dict) and pattern != {"Regex": " {2,}"}:
            return f"nothing is proved about tokenizers 1.x and Replace of {pattern}"
    return None


def _added_reason(facts: Facts) -> str | None:
    """Returns why the matches of added tokens are not certain, or None.

    1.0.0rc3 finds added tokens with flags in other places than 0.23 does (docs/findings.md), and no
    proof covers its rule."""
    for token in facts.added_tokens:
        if token.lstrip or token.rstrip or token.single_word:
            return f"nothing is proved about tokenizers 1.x and the flags of {token.content!r}"
        if token.normalized and (facts.normalizers or _marks(facts)):
            return (
                f"nothing is proved about tokenizers 1.x and {token.content!r}, which it looks for "
                "in normalized text"
            )
    return None


def _marks(facts: Facts) -> bool:
    """True if a Metaspace, or a stage that replaces it, changes a text before added tokens are
    matched."""
    staged = any(stage.kind == "Metaspace" for stage in facts.pre_tokenizers)
    return staged or facts.scheme in ("metaspace", "dummy")
