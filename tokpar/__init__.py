"""Lossless parallel tokenization: one long text on all cores, exactly the serial ids."""

from tokpar.certificate.report import CheckReport, Finding
from tokpar.encoder import Encoder, check, encode, plugins, strategies, stream
from tokpar.encoding import Batch, Encoding
from tokpar.errors import (
    EngineError,
    FileFormatError,
    LossyError,
    OptionError,
    PluginError,
    TokparError,
    UnknownNameError,
    WorkerError,
)
from tokpar.loading import load
from tokpar.training import train
from tokpar.types import Report, Rows, Seam

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
    "OptionError",
    "PluginError",
    "Report",
    "Rows",
    "Seam",
    "TokparError",
    "UnknownNameError",
    "WorkerError",
    "check",
    "encode",
    "load",
    "plugins",
    "strategies",
    "stream",
    "train",
]
