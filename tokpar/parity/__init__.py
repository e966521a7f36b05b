"""Checks that an engine returns the same ids as the library that its vocabulary was made for.

The check runs when an adapter is loaded. Its result is cached on disk, so it runs once for each
vocabulary, settings and versions.

    from tokpar.parity import release, require_agreement

    said = require_agreement(
        adapter,
        reference=lambda: tokpar.load(path),
        key=[path.read_bytes(), repr(settings)],
        engine=release("gigatoken"),
        library=release("tokenizers"),
    )

`require_agreement` raises EngineError with a small text whose ids differ. Otherwise it returns the
number of compared texts in words, for `Report.agreement`. This is a test on many texts, no proof.
"""

from tokpar.parity.comparison import Drawn, release, require_agreement

__all__ = ["Drawn", "release", "require_agreement"]
