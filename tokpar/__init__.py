"""Lossless parallel tokenization: one long text on all cores, exactly the serial ids."""

import typing

from tokpar.calls import (
    check,
    count,
    decode,
    encode,
    encode_batch,
    plugins,
    strategies,
    stream,
)
from tokpar.certificate.findings import CheckReport, Finding
from tokpar.encoder import Encoder
from tokpar.encoding import Batch, Encoding
from tokpar.errors import (
    EngineError,
    FileFormatError,
    LossyError,
    MismatchError,
    OptionError,
    PluginError,
    TokparError,
    UnknownNameError,
    WorkerError,
)
from tokpar.integrations import as_hf, as_tiktoken
from tokpar.integrations.patch import Patch, patch_transformers
from tokpar.loading import load
from tokpar.types import Report, Rows, Seam

if typing.TYPE_CHECKING:
    from tokpar_train.trainer import train as train

__version__ = "0.1.0"

__all__ = [
    "Batch",
    "CheckReport",
    "Encoder",
    "Encoding",
    "EngineError",
    "FileFormatError",
    "Finding",
    "LossyError",
    "MismatchError",
    "OptionError",
    "Patch",
    "PluginError",
    "Report",
    "Rows",
    "Seam",
    "TokparError",
    "UnknownNameError",
    "WorkerError",
    "as_hf",
    "as_tiktoken",
    "check",
    "count",
    "decode",
    "encode",
    "encode_batch",
    "load",
    "patch_transformers",
    "plugins",
    "strategies",
    "stream",
]


def __getattr__(name: str) -> object:
    """The trainer is a package of its own, imported when it is asked for."""
    if name == "train":
        try:
            from tokpar_train.trainer import train
        except ModuleNotFoundError as error:
            if not (error.name or "").startswith("tokpar_train"):
                raise
            from tokpar.hooks import install

            how = install("tokpar-train")
            raise ImportError(f"tokpar.train needs the package tokpar-train: {how}") from error
        return train
    raise AttributeError(f"module 'tokpar' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
