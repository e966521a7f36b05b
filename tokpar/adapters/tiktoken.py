"""The adapter for `tiktoken.Encoding` objects, ``.tiktoken`` files and ``tekken.json``.

Disallowed special tokens are searched once, in the whole text (`check_text`), and not in the
chunks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from copy import copy
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Any, Literal
from weakref import WeakKeyDictionary

import numpy as np
import tiktoken
from tiktoken.core import _special_token_regex, raise_disallowed_special_token

from tokpar.adapters.cached_rows import CachedAdapter, call_refused, later_call
from tokpar.adapters.fingerprint import fingerprint_of
from tokpar.adapters.settings import TEKKEN, check_names, is_always, is_panic, path_of
from tokpar.adapters.tekken import read_tekken
from tokpar.adapters.tiktoken_call import call_parts_of
from tokpar.adapters.tiktoken_encodings import (
    EncodingAdapter,
    OwnEncoding,
    add_advice,
    arguments_of,
    own_encode,
    twin_of,
)
from tokpar.arrays import IdArray, IntArray, SpanArray
from tokpar.compiled.compiled_build import LaterCall
from tokpar.compiled.merges import Source
from tokpar.contract.adapter import EngineTraits, Origin, TrustParts
from tokpar.errors import EngineError, OptionError
from tokpar.facts.token_lengths import TokenLengths
from tokpar.formats.formats import read_ranks
from tokpar.formats.openai import KNOWN_ENCODINGS
from tokpar.formats.vocabulary import Vocabulary, require_free_ids
from tokpar.patterns.known_pattern import shipped_pattern
from tokpar.process.cached_property import cached_property
from tokpar.process.interrupts import raise_foreign
from tokpar.process.limits import CACHE_BYTES, require_cache_bytes
from tokpar.types import AddedToken, Facts

ENGINE = "fancy-regex"
Specials = Literal["all"] | Collection[str]
_KNOWN_SETTINGS = (
    *("allowed_special", "disallowed_special", "cache_bytes", "engine_check"),
    *("pat_str", "special_tokens", "name"),
)


def load(
    source: object,
    *,
    allowed_special: Specials = frozenset(),
    disallowed_special: Specials | None = None,
    pat_str: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
    name: str | None = None,
    cache_bytes: int = CACHE_BYTES,
    engine_check: str = "sampled",
    **unknown: object,
) -> TiktokenTokenizer | OwnEncoding | None:
    """Returns an adapter of a `tiktoken.Encoding`, or of the path of a ``.tiktoken`` file or of a
    ``tekken.json``. None for other sources.

    An encoding with its own `encode` is never split. `allowed_special` and `disallowed_special`
    mean the same as in `Encoding.encode`; `disallowed_special` is "all" by default, and empty for a
    ``tekken.json``, as its Tekkenizer encodes. A ``.tiktoken`` file holds ranks only. Its regex and
    special tokens come from `pat_str` and `special_tokens`, or from the known encoding called
    `name` (default: the file's stem). Raises OptionError, FileFormatError, FileNotFoundError."""
    path, tekken = path_of(source, ".tiktoken"), path_of(source, TEKKEN)
    if path is None and tekken is None and not isinstance(source, tiktoken.Encoding):
        return None
    check_names(unknown, _KNOWN_SETTINGS)
    if path is not None:
        source = _from_file(path, name or path.stem, pat_str, special_tokens)
    elif pat_str is not None or special_tokens is not None or name is not None:
        raise OptionError("pat_str, special_tokens and name are for files that end in .tiktoken")
    if tekken is not None:
        source = read_tekken(tekken)
    if disallowed_special is None:
        disallowed_special = "all" if tekken is None else ()
    always = is_always(engine_check)
    given = allowed_special, disallowed_special
    why = own_encode(source)
    if why is not None:
        return _live(source, why, *given)
    known = _snapshots.setdefault(source, {})
    key = repr((*given, cache_bytes, always))
    if key not in known:
        own = twin_of(source)  # `source` itself would then live as long as its adapter
        known[key] = TiktokenTokenizer(own, *given, require_cache_bytes(cache_bytes), always)
    return known[key]


_snapshots: WeakKeyDictionary[tiktoken.Encoding, dict[str, TiktokenTokenizer]] = WeakKeyDictionary()
"""The snapshots of each encoding, by their settings."""


def _live(
    encoding: tiktoken.Encoding, why: str, allowed_specials: Specials, disallowed_specials: Specials
) -> OwnEncoding:
    settings: dict[str, Specials] = {}
    if allowed_specials == "all" or _names("allowed_special", allowed_specials, ()):
        settings["allowed_special"] = allowed_specials
    if disallowed_specials != "all":
        settings["disallowed_special"] = _names("disallowed_special", disallowed_specials, ())
    return OwnEncoding(encoding, why, settings)


def rebuild(
    encoding: Mapping[str, Any],
    allowed_special: Specials,
    disallowed_special: Specials,
    cache_bytes: int,
    engine_check: bool,
) -> TiktokenTokenizer:
    """Returns the adapter that `TiktokenTokenizer.spec` describes."""
    own = tiktoken.Encoding(**encoding)
    return TiktokenTokenizer(own, allowed_special, disallowed_special, cache_bytes, engine_check)


def _from_file(
    path: Path, name: str, pat_str: str | None, special_tokens: Mapping[str, int] | None
) -> tiktoken.Encoding:
    known = KNOWN_ENCODINGS.get(name)
    if known is None and (pat_str is None or special_tokens is None):
        raise OptionError(
            f"{path}: a .tiktoken file holds neither regex nor special tokens: pass pat_str and "
            f"special_tokens (which may be {{}}), or as name one of "
            f"{', '.join(sorted(KNOWN_ENCODINGS))}; got name {name!r}"
        )
    if known is not None:
        pat_str = known.pattern if pat_str is None else pat_str
        special_tokens = known.special_tokens if special_tokens is None else special_tokens
    ranks, specials = read_ranks(path), dict(special_tokens or {})
    require_free_ids(ranks, specials)
    try:
        return tiktoken.Encoding(
            name, pat_str=pat_str, mergeable_ranks=ranks, special_tokens=specials
        )
    except ValueError as error:
        raise OptionError(f"pat_str {pat_str!r} cannot be used: {error}") from error


@cache
def numpy_takes_settings() -> bool:
    """False where `encode_to_numpy` matches special tokens that are not allowed, as that of
    tiktoken 0.9 does."""
    ranks = {bytes([byte]): byte for byte in range(256)}
    small = tiktoken.Encoding(
        "small", pat_str=r"[\s\S]", mergeable_ranks=ranks, special_tokens={"ab": 256}
    )
    return len(small.encode_to_numpy("ab", allowed_special=set(), disallowed_special=())) == 2


class TiktokenTokenizer(EncodingAdapter, CachedAdapter):
    """The adapter of one encoding; see `load`."""

    def __init__(
        self,
        encoding: tiktoken.Encoding,
        allowed_special: Specials,
        disallowed_special: Specials,
        cache_bytes: int = CACHE_BYTES,
        engine_check: bool = False,
    ) -> None:
        everything = encoding.special_tokens_set
        allowed_specials = _names("allowed_special", allowed_special, everything)
        super().__init__(encoding)
        self.cache_bytes = cache_bytes
        self.engine_check = engine_check
        """True if the engine also encodes each new pre-token."""
        self._allowed_specials = allowed_specials
        self._disallowed_specials = _names(
            "disallowed_special", disallowed_special, everything - allowed_specials
        )
        self._asks_numpy = everything <= allowed_specials or numpy_takes_settings()

    @cached_property
    def facts(self) -> Facts:
        """The facts that proofs may use."""
        pattern = self.encoding._pat_str
        known = shipped_pattern(ENGINE, (pattern,))
        specials = self.encoding._special_tokens
        by_chance = shadowed_reason(specials, self._allowed_specials)
        tiles = known is not None and known.covers and not self._lengths.doubtful
        return Facts(
            engine=ENGINE,
            model="BPE",
            scheme="regex",
            patterns=(pattern,),
            added_tokens=tuple(
                AddedToken(content, id_)
                for content, id_ in specials.items()
                if content in self._allowed_specials
            ),
            byte_level=True,
            tiles=tiles,
            longest_token=int(self._ranks[1].max()),
            unprovable=by_chance,
            added_token_cuts_refused=by_chance,
            tokens=cache(partial(frozenset, self.encoding._mergeable_ranks)),
        )

    @property
    def traits(self) -> EngineTraits:
        """The calls release the GIL. Threads wait for each other if pre-tokens are short."""
        return EngineTraits(
            releases_gil=True,
            wants_one_thread=self.wants_one_thread,
            check_text=self.check_text,
            forbidden=self._disallowed_specials,
        )

    @property
    def origin(self) -> Origin:
        """The encoding, and which special tokens are matched, for a checker."""
        return Origin(self.encoding, {"allowed_special": self._allowed_specials})

    @cached_property
    def fingerprint(self) -> str:
        """The digest of everything that decides the ids: pattern, ranks, special tokens, settings,
        version of tiktoken.

        It is equal in all processes."""
        encoding = self.encoding
        ranks = sorted((rank, token.hex()) for token, rank in encoding._mergeable_ranks.items())
        parts = {
            "pattern": encoding._pat_str,
            "ranks": ranks,
            "special_tokens": encoding._special_tokens,
            "allowed_special": sorted(self._allowed_specials),
            "disallowed_special": sorted(self._disallowed_specials),
        }
        return fingerprint_of("tiktoken", tiktoken.__version__, parts)

    @property
    def vocabulary_size(self) -> int:
        """The highest id plus one."""
        return int(self.encoding.n_vocab)

    def vocabulary(self) -> Vocabulary:
        """Returns the ranks, the pattern and all special tokens of the encoding."""
        encoding = self.encoding
        special_tokens = encoding._special_tokens.items()
        return Vocabulary(
            name=encoding.name,
            tokens=encoding._mergeable_ranks,
            semantics="ranks",
            patterns=(encoding._pat_str,),
            merges={},
            keep_gaps=False,
            whole_piece=True,
            added=tuple(AddedToken(content, id_) for content, id_ in special_tokens),
        )

    @property
    def special_ids(self) -> Mapping[str, int]:
        """The id of "<|endoftext|>", or of Mistral's "</s>", as "eos_token", if it has one."""
        ids = self.encoding._special_tokens
        id_ = ids.get("<|endoftext|>", ids.get("</s>"))
        return {} if id_ is None else {"eos_token": id_}

    @cached_property
    def later_call(self) -> LaterCall | None:
        """The compiled call of the encoding, as soon as its tables are there; None if it has
        none."""
        refused = call_refused(self.engine_check, self.cache_bytes)
        parts = refused or call_parts_of(
            self.encoding, self.facts, self._source, self._disallowed_specials
        )
        if isinstance(parts, str):
            self._why_no_call = parts
            return None
        return later_call(parts)

    @property
    def _source(self) -> Source:
        """The digest of the ranks."""
        ranks = self.encoding._mergeable_ranks
        return Source.of(b"".join(ranks) + b"".join(array.tobytes() for array in self._ranks))

    def check_text(self, text: str) -> None:
        """Raises the ValueError that `Encoding.encode` raises for a disallowed special token, with
        one sentence more."""
        if self._disallowed_specials:
            # tiktoken's own search: which token the error names depends on its cached regex
            match = _special_token_regex(self._disallowed_specials).search(text)
            if match:
                try:
                    raise_disallowed_special_token(match.group())
                except ValueError as error:
                    add_advice(error)
                    raise

    def encode(self, text: str) -> IdArray:
        """Returns the ids with the allowed special tokens; uint32, (n,), read-only. Raises
        EngineError if the engine fails."""
        # encode_to_numpy is public and makes no list; other calls are no faster, and all release
        # the GIL
        try:
            return self._whole(text)
        except BaseException as error:
            _raise_failure(error, text)
            raise

    def encode_whole(self, text: str) -> IdArray:
        """Returns the ids of `Encoding.encode` with the caller's settings. Raises the errors of
        `Encoding.encode` and of `encode`."""
        self.check_text(text)
        return self.encode(text)

    def _whole(self, text: str) -> IdArray:
        allowed = self._allowed_specials
        with suppress(UnicodeEncodeError):  # encode() replaces lone surrogates, this does not
            if self._asks_numpy:
                ids: IdArray = self.encoding.encode_to_numpy(
                    text, allowed_special=allowed, disallowed_special=()
                )
                return ids
        plain = self.encoding.encode(text, allowed_special=allowed, disallowed_special=())
        return np.array(plain, dtype=np.uint32)

    def wants_one_thread(self, texts: Sequence[str]) -> bool:
        """True if these texts should run on one thread: the threads would contend for the regex
        cache.

        The regex is locked at each pre-token, and the pre-tokens of these texts are short: 300,000
        digits take 18 ms on one thread and 27 ms on two."""
        from tokpar.cuts.finder import finder_for  # needed only with threads

        pairs = finder_for(self.facts).pairs
        longest = max(texts, key=len, default="")
        return pairs is not None and pairs.table.parts_often(longest)

    def locate(self, ids: IdArray, text: str) -> SpanArray:
        """Returns the UTF-8 byte spans. Raises LookupError if these ids do not spell `text`.

        Ids do not spell a text with surrogate pairs, which tiktoken joins, nor a text that the
        regex leaves a part of out."""
        return self._lengths.spans(ids, text)

    def allowing(self, allowed_specials: frozenset[str]) -> TiktokenTokenizer:
        """Returns an adapter that encodes the special tokens `allowed_specials` and refuses none.

        It shares the cache of this adapter if both encode the same special tokens."""
        if allowed_specials != self._allowed_specials:
            return self._with_specials(self.encoding, allowed_specials)
        twin = copy(self)
        twin._disallowed_specials = frozenset()
        twin.__dict__.pop("later_call", None)  # it leaves forbidden tokens to the own call
        twin.facts = self.facts
        return twin

    def refusing_all(self) -> TiktokenTokenizer:
        """Returns the adapter, if it refuses all special tokens; else one that does."""
        everything = frozenset(self.encoding.special_tokens_set)
        if not self._allowed_specials and self._disallowed_specials == everything:
            return self
        own = self.encoding, frozenset[str](), everything, self.cache_bytes, self.engine_check
        return TiktokenTokenizer(*own)

    def trust_parts(self) -> TrustParts:
        """See `TrustParts`. Raises OptionError if it is chance which special token is matched."""
        from tokpar.adapters.tiktoken_trust import trust_parts_of  # other texts do without it

        refused = self.facts.added_token_cuts_refused
        if refused is not None:
            raise OptionError(f"no part of a text can be untrusted: {refused}")
        check = self.check_text
        load = partial(self._with_specials, allowed_specials="all")
        return trust_parts_of(self.encoding, self._allowed_specials, load, check)

    def _with_specials(
        self, encoding: tiktoken.Encoding, allowed_specials: Specials
    ) -> TiktokenTokenizer:
        """Returns an adapter of an encoding with the same ranks, which refuses no special token."""
        other = TiktokenTokenizer(
            encoding, allowed_specials, frozenset(), self.cache_bytes, self.engine_check
        )
        other._ranks = self._ranks
        return other

    def decode_by_table(self, rows: Sequence[Sequence[int] | IdArray]) -> list[str | None]:
        """Returns `decode` of each row; None where only `decode` knows it."""
        return self._later_table.texts(rows)

    def is_current(self, source: Any) -> bool:
        """True if tiktoken's own code still decides the ids of `source`."""
        return own_encode(source) is None

    def spec(self) -> tuple[Callable[..., TiktokenTokenizer], dict[str, Any]]:
        """Returns how to build the adapter in another process, where tiktoken might have to
        download the ranks."""
        return rebuild, {
            "encoding": arguments_of(self.encoding),
            # sorted, so that its pickle is the same in every process
            "allowed_special": tuple(sorted(self._allowed_specials)),
            "disallowed_special": tuple(sorted(self._disallowed_specials)),
            "cache_bytes": self.cache_bytes,
            "engine_check": self.engine_check,
        }

    @cached_property
    def _specials(self) -> dict[bytes, int]:
        specials = self.encoding._special_tokens
        return {
            t.encode("utf-8"): id_ for t, id_ in specials.items() if t in self._allowed_specials
        }

    @cached_property
    def _lengths(self) -> TokenLengths:
        lengths = self._lengths_with({})
        return self._lengths_with(self._tokens_of_shared_ids()) if lengths.doubtful else lengths

    def _tokens_of_shared_ids(self) -> dict[int, list[bytes]]:
        """Returns the tokens of each id that tokens of different lengths share, as 200018 of
        o200k_harmony.

        Special tokens come first, because the engine searches them first."""
        tokens: dict[int, list[bytes]] = {}
        for token, id_ in chain(self._specials.items(), self.encoding._mergeable_ranks.items()):
            tokens.setdefault(id_, []).append(token)
        return {id_: some for id_, some in tokens.items() if len({*map(len, some)}) > 1}

    def _lengths_with(self, shared_ids: Mapping[int, Sequence[bytes]]) -> TokenLengths:
        (ids, lengths), specials = self._ranks, self._specials
        return TokenLengths(
            np.append(ids, [*specials.values()]).astype(np.int64),
            np.append(lengths, [*map(len, specials)]).astype(np.int64),
            shared_ids,
        )

    @cached_property
    def _ranks(self) -> tuple[IntArray, IntArray]:
        """The ids of all tokens except special tokens, and the bytes of each. Computed once."""
        ranks = self.encoding._mergeable_ranks
        ids = np.fromiter(ranks.values(), np.int64, len(ranks))
        return ids, np.fromiter(map(len, ranks), np.int64, len(ranks))


def _names(setting: str, value: Specials, everything: Collection[str]) -> frozenset[str]:
    if isinstance(value, str) and value == "all":
        return frozenset(everything)
    if isinstance(value, str) or not all(isinstance(token, str) for token in value):
        raise OptionError(f'{setting} must be "all" or a collection of str, got {value!r}')
    return frozenset(value)


def shadowed_reason(specials: Mapping[str, int], allowed_specials: frozenset[str]) -> str | None:
    """Returns why it is not certain which special token is matched, or None.

    If two special tokens start at the same place, tiktoken takes the first one in a hash table. If
    that token is not allowed, tiktoken matches neither."""
    ordered = sorted(specials)
    for i, short in enumerate(ordered):
        for long in ordered[i + 1 :]:
            if not long.startswith(short):
                break
            if allowed_specials & {short, long}:
                return f"special token {short!r} is a prefix of {long!r}: which one wins is chance"
    return None


def _raise_failure(error: BaseException, text: str) -> None:
    """Raises EngineError for a regex that gives up (ValueError) and for a panic of the Rust
    code."""
    raise_foreign(error)
    gave_up = isinstance(error, ValueError) and not isinstance(error, UnicodeError)
    if gave_up or is_panic(error):
        raise EngineError(f"tiktoken failed: {error}", 0, len(text)) from error
