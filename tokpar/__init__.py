"""Lossless parallel tokenization: exactly the ids of your tokenizer, many times faster.

A tokenizer is whatever you have: an object of transformers, tokenizers or tiktoken, a file, a
directory, a name such as "o200k_base"; without one the bundled tokenizer is used.

Encode a text, many texts, and ids back to a text:

>>> import tokpar
>>> tokpar.encode("Hello world").ids
array([6728, 5246], dtype=uint32)
>>> [len(encoding) for encoding in tokpar.encode_batch(["Hello world", "Hello"])]
[2, 1]
>>> [len(encoding) for encoding in tokpar.encode_iter(iter(["Hello world", "Hello"]))]
[2, 1]
>>> tokpar.count("Hello world")
2
>>> tokpar.decode([6728, 5246])
'Hello world'
>>> tokpar.fit(["A long text. ", "Another one."], 4).texts
('A long', ' one.')
>>> [ids.tolist() for ids in tokpar.stream(["Hello wor", "ld"])]
[[6728], [5246]]

Keep an `Encoder` where many calls are made; its pool of threads stays open:

>>> with tokpar.Encoder("default", workers=2) as encoder:
...     encoding = encoder.encode("The quick brown fox jumps over the lazy dog. " * 2000)
>>> encoding.lossless, len(encoding), encoding.seams[0].rule
(True, 28001, 'PAIR')

Text of users that may not spell control tokens (`<|im_end|>`), see docs/untrusted.md:

>>> tokpar.encode_segments([("Hello", True), (" world", False)]).ids
array([6728, 5246], dtype=uint32)

Check an encoding: every seam again, and with `full` the ids of the serial call, too:

>>> tokpar.check(encoding, "The quick brown fox jumps over the lazy dog. " * 2000).ok
True

Load a tokenizer with settings, and choose how a text is cut and joined:

>>> tokenizer = tokpar.load("default", add_special_tokens=False)
>>> tokpar.encode("Hello world", tokenizer, strategy="serial").report.plan
'serial'
>>> [record.name for record in tokpar.strategies() if record.lossless][:3]
['auto', 'blocks', 'cut']

Keep the library that you use, and make it faster: `tokpar.as_hf(tokenizer)` for transformers,
`tokpar.as_tiktoken(encoding)`, `tokpar.as_tokenizers(tokenizer)`, and `patch_transformers()`,
`patch_tiktoken()`, `patch_tokenizers()` for programs that load their own.

In a shell: `tokpar try TOKENIZER FILE`, `tokpar encode FILE`, `tokpar --help`."""

import typing
from importlib import import_module

from tokpar.calls import (
    check,
    count,
    decode,
    encode,
    encode_batch,
    encode_iter,
    encode_segments,
    fit,
    plugins,
    strategies,
    stream,
)
from tokpar.contract.interfaces import TokenizerAdapter
from tokpar.encoder import Encoder
from tokpar.errors import (
    ChangedError,
    ControlTokenError,
    EngineError,
    FileFormatError,
    IdRangeError,
    IdTypeError,
    LossyError,
    MismatchError,
    OptionError,
    PluginError,
    TokparError,
    UnknownNameError,
    WorkerError,
)
from tokpar.loading import load
from tokpar.results.encoding import Batch, Encoding
from tokpar.types import Piece, Report, Rows, Rule, Seam, Trust

if typing.TYPE_CHECKING:
    from tokpar_train.trainer import train as train

    from tokpar.certificate.findings import CheckReport as CheckReport
    from tokpar.certificate.findings import Finding as Finding
    from tokpar.certificate.findings import Level as Level
    from tokpar.chunks.budget import KeptTexts as KeptTexts
    from tokpar.chunks.text_chunk import TextChunk as TextChunk
    from tokpar.decoding.streams import DecodeStream as DecodeStream
    from tokpar.decoding.streams import DecodeStreams as DecodeStreams
    from tokpar.integrations import as_hf as as_hf
    from tokpar.integrations import as_tiktoken as as_tiktoken
    from tokpar.integrations.patch import TransformersPatch as TransformersPatch
    from tokpar.integrations.patch import patch_transformers as patch_transformers
    from tokpar.integrations.patch_tiktoken import TiktokenPatch as TiktokenPatch
    from tokpar.integrations.patch_tiktoken import patch_tiktoken as patch_tiktoken
    from tokpar.integrations.patch_tokenizers import TokenizersPatch as TokenizersPatch
    from tokpar.integrations.patch_tokenizers import patch_tokenizers as patch_tokenizers
    from tokpar.integrations.tokenizers_functions import as_tokenizers as as_tokenizers
    from tokpar.registry.tables import PluginRecord as PluginRecord
    from tokpar.registry.tables import StrategyRecord as StrategyRecord
    from tokpar.results.encoder_report import EncoderReport as EncoderReport
    from tokpar.results.seams import Seams as Seams
    from tokpar.sessions.pins import Region as Region
    from tokpar.sessions.session import Session as Session
    from tokpar.sessions.session import SessionPatch as SessionPatch
    from tokpar.untrusted.trusted_session import TrustedPatch as TrustedPatch
    from tokpar.untrusted.trusted_session import TrustedSession as TrustedSession

__version__ = "0.1.0"

__all__ = [
    "Batch",
    "ChangedError",
    "CheckReport",
    "ControlTokenError",
    "DecodeStream",
    "DecodeStreams",
    "Encoder",
    "EncoderReport",
    "Encoding",
    "EngineError",
    "FileFormatError",
    "Finding",
    "IdRangeError",
    "IdTypeError",
    "KeptTexts",
    "Level",
    "LossyError",
    "MismatchError",
    "OptionError",
    "Piece",
    "PluginError",
    "PluginRecord",
    "Region",
    "Report",
    "Rows",
    "Rule",
    "Seam",
    "Seams",
    "Session",
    "SessionPatch",
    "StrategyRecord",
    "TextChunk",
    "TiktokenPatch",
    "TokenizerAdapter",
    "TokenizersPatch",
    "TokparError",
    "TransformersPatch",
    "Trust",
    "TrustedPatch",
    "TrustedSession",
    "UnknownNameError",
    "WorkerError",
    "as_hf",
    "as_tiktoken",
    "as_tokenizers",
    "check",
    "count",
    "decode",
    "encode",
    "encode_batch",
    "encode_iter",
    "encode_segments",
    "fit",
    "load",
    "patch_tiktoken",
    "patch_tokenizers",
    "patch_transformers",
    "plugins",
    "strategies",
    "stream",
]

_LATER = {
    "CheckReport": "certificate.findings",
    "DecodeStream": "decoding.streams",
    "DecodeStreams": "decoding.streams",
    "EncoderReport": "results.encoder_report",
    "Finding": "certificate.findings",
    "KeptTexts": "chunks.budget",
    "Level": "certificate.findings",
    "PluginRecord": "registry.tables",
    "Region": "sessions.pins",
    "Seams": "results.seams",
    "Session": "sessions.session",
    "SessionPatch": "sessions.session",
    "StrategyRecord": "registry.tables",
    "TextChunk": "chunks.text_chunk",
    "TiktokenPatch": "integrations.patch_tiktoken",
    "TransformersPatch": "integrations.patch",
    "TokenizersPatch": "integrations.patch_tokenizers",
    "TrustedPatch": "untrusted.trusted_session",
    "TrustedSession": "untrusted.trusted_session",
    "as_hf": "integrations",
    "as_tiktoken": "integrations",
    "as_tokenizers": "integrations.tokenizers_functions",
    "patch_tiktoken": "integrations.patch_tiktoken",
    "patch_tokenizers": "integrations.patch_tokenizers",
    "patch_transformers": "integrations.patch",
}
"""What few programs need, and the modules that have it."""


def __getattr__(name: str) -> object:
    """What few programs need is imported when it is asked for. The trainer is a
    plugin."""
    if name in _LATER:
        return getattr(import_module(f"tokpar.{_LATER[name]}"), name)
    if name == "train":
        return import_module("tokpar_train.trainer").train
    raise AttributeError(f"module 'tokpar' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
