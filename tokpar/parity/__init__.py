"""Does an engine give the ids of the library that its vocabulary was made for? Asked when it is
loaded, answered from a cache when it was asked before.

    from tokpar.parity import release, require_agreement

    said = require_agreement(
        adapter,
        reference=lambda: tokpar.load(path),
        key=[path.read_bytes(), repr(settings)],
        engine=release("gigatoken"),
        library=release("tokenizers"),
    )

It raises EngineError with the smallest text that has other ids, or says on how many texts the ids
were the same, for `Report.agreement`. That is a test on many texts, no proof.
"""

from tokpar.parity.comparison import Drawn, release, require_agreement

__all__ = ["Drawn", "release", "require_agreement"]
