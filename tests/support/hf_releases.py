"""What differs between the releases of transformers that the tests run with."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from tokpar.adapters.hf_version import numbers


def _release() -> tuple[int, ...]:
    try:
        return numbers(version("transformers"))
    except PackageNotFoundError:
        return ()


HF_RELEASE = _release()
"""The installed release, such as (5, 24, 0); empty without transformers."""
IS_VERSION_4 = (4,) <= HF_RELEASE < (5,)
"""Classes are given an engine; those of later releases are given a vocabulary and merges."""
EXTRA_TOKENS = "additional_special_tokens" if IS_VERSION_4 else "extra_special_tokens"
"""The argument for further special tokens."""
