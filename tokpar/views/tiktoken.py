"""`Encoder.as_tiktoken()`: the methods of a tiktoken.Encoding, long texts encoded in parallel."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import tiktoken

from tokpar.adapters.tiktoken import Specials, TiktokenTokenizer
from tokpar.adapters.tiktoken_encodings import OwnEncoding
from tokpar.encoding import Encoding
from tokpar.errors import OptionError
from tokpar.interfaces import TokenizerAdapter
from tokpar.kernels import IdArray, has_surrogate
from tokpar.views import View

# Sets of special tokens for which an adapter, which takes some milliseconds to learn, is kept.
_MOST_SETTINGS = 32
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def _own(
    method: Callable[Concatenate[tiktoken.Encoding, Arguments], Result],
) -> Callable[Concatenate[TiktokenView, Arguments], Result]:
    """A method of the Encoding that the view passes on."""

    @wraps(method)
    def call(view: TiktokenView, /, *given: Arguments.args, **named: Arguments.kwargs) -> Result:
        result: Result = getattr(view._encoding, method.__name__)(*given, **named)
        return result

    return call


def _read(name: str) -> property:
    """A property of the Encoding."""
    return property(lambda self: getattr(self._encoding, name))


class TiktokenView(View):
    """See the module and docs/views.md: results and errors are those of the Encoding. Thread-safe.

    `allowed_special` and `disallowed_special` are those of each call; what the encoder's tokenizer
    was loaded with does not matter. `split(text, adapter)` encodes in parallel; texts below
    `smallest_split` code points are not worth that. Raises OptionError."""

    _original = "the tiktoken.Encoding"

    def __init__(
        self,
        tokenizer: TokenizerAdapter,
        split: Callable[[str, TokenizerAdapter], Encoding],
        smallest_split: int,
    ) -> None:
        if isinstance(tokenizer, OwnEncoding):
            raise OptionError(f"as_tiktoken cannot follow this encoding: {tokenizer.why}")
        if not isinstance(tokenizer, TiktokenTokenizer):
            raise OptionError(
                f"as_tiktoken needs a tiktoken.Encoding or a .tiktoken file, got {tokenizer.name}"
            )
        self._encoding = tokenizer.encoding
        self._split = split
        self._smallest_split = smallest_split
        self._adapter = lru_cache(_MOST_SETTINGS)(partial(TiktokenTokenizer, self._encoding))

    def encode(
        self,
        text: str,
        *,
        allowed_special: Specials = frozenset(),
        disallowed_special: Specials = "all",
    ) -> list[int]:
        """Ids of `text`. ValueError for a disallowed special token, as tiktoken words it."""
        allowed, disallowed = allowed_special, _reusable(disallowed_special)
        own = partial(self._encoding.encode, allowed_special=allowed, disallowed_special=disallowed)
        if self._is_short(text) or _refuses(own):
            return list(own(text))
        ids: list[int] = self._parallel(text, allowed, disallowed).tolist()
        return ids

    def encode_ordinary(self, text: str) -> list[int]:
        """Ids of `text`, in which special tokens are nothing special."""
        if self._is_short(text):
            return list(self._encoding.encode_ordinary(text))
        ids: list[int] = self._parallel(text, (), ()).tolist()
        return ids

    def encode_to_numpy(
        self,
        text: str,
        *,
        allowed_special: Specials = frozenset(),
        disallowed_special: Specials = "all",
    ) -> IdArray:
        """Ids of `text`, uint32, read-only; UnicodeEncodeError for surrogates, as tiktoken."""
        allowed, disallowed = allowed_special, _reusable(disallowed_special)
        own = partial(
            self._encoding.encode_to_numpy, allowed_special=allowed, disallowed_special=disallowed
        )
        if self._is_short(text) or _refuses(own):
            ids: IdArray = own(text)
            return ids
        return self._parallel(text, allowed, disallowed)

    def encode_batch(
        self,
        text: Iterable[str],
        *,
        num_threads: int = 8,
        allowed_special: Specials = frozenset(),
        disallowed_special: Specials = "all",
    ) -> list[list[int]]:
        """The ids of each text: short ones on `num_threads` threads, long ones in parallel."""
        allowed, disallowed = allowed_special, _reusable(disallowed_special)
        self._encoding.encode_batch(
            [], num_threads=num_threads, allowed_special=allowed, disallowed_special=disallowed
        )
        call = partial(self.encode, allowed_special=allowed, disallowed_special=disallowed)
        return self._each(call, text, num_threads)

    def encode_ordinary_batch(
        self, text: Iterable[str], *, num_threads: int = 8
    ) -> list[list[int]]:
        """As `encode_batch`, in which special tokens are nothing special."""
        return self._each(self.encode_ordinary, text, num_threads)

    encode_single_token = _own(tiktoken.Encoding.encode_single_token)
    decode = _own(tiktoken.Encoding.decode)
    decode_bytes = _own(tiktoken.Encoding.decode_bytes)
    decode_single_token_bytes = _own(tiktoken.Encoding.decode_single_token_bytes)
    decode_tokens_bytes = _own(tiktoken.Encoding.decode_tokens_bytes)
    decode_with_offsets = _own(tiktoken.Encoding.decode_with_offsets)
    decode_batch = _own(tiktoken.Encoding.decode_batch)
    decode_bytes_batch = _own(tiktoken.Encoding.decode_bytes_batch)
    token_byte_values = _own(tiktoken.Encoding.token_byte_values)
    is_special_token = _own(tiktoken.Encoding.is_special_token)
    name, n_vocab, max_token_value = _read("name"), _read("n_vocab"), _read("max_token_value")
    special_tokens_set, eot_token = _read("special_tokens_set"), _read("eot_token")

    def __repr__(self) -> str:
        return f"<TiktokenView {self.name!r}>"

    def viewed(self) -> tiktoken.Encoding:
        """What `tokpar.load` makes of a view: an adapter of the Encoding itself."""
        return self._encoding

    def _is_short(self, text: Any) -> bool:
        """True for what the Encoding itself answers: short texts, those with surrogates, which are
        never split, and what is no text, for its error."""
        return not isinstance(text, str) or len(text) < self._smallest_split or has_surrogate(text)

    def _parallel(self, text: str, allowed: Specials, disallowed: Specials) -> IdArray:
        everything = frozenset(self._encoding.special_tokens_set)
        some = everything if allowed == "all" else frozenset(allowed)
        refused = everything - some if disallowed == "all" else frozenset(disallowed or ())
        return self._split(text, self._adapter(some, refused)).ids

    def _each(
        self, encode: Callable[[str], list[int]], texts: Iterable[str], num_threads: int
    ) -> list[list[int]]:
        """In order, so that of several errors the first text's is raised."""
        with ThreadPoolExecutor(num_threads) as pool:
            running = [(t, pool.submit(encode, t) if self._is_short(t) else None) for t in texts]
            return [encode(t) if done is None else done.result() for t, done in running]


def _refuses(call: Callable[[str], object]) -> bool:
    """True if the arguments are not such as tiktoken takes: called on the text it says why."""
    try:
        call("")
    except Exception:
        return True
    return False


def _reusable(special: Any) -> Any:
    """A set, where it is no name and not empty: an iterator would be used up by one look."""
    return special if isinstance(special, str) or not special else frozenset(special)
