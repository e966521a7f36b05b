"""Tests of tokpar by room, as `tokpar/` has them; `support` serves all of them.

The texts that hypothesis draws are those of the conformance kit, and tokenizers in plain Python are
what engines are compared with; the published strategies are tested as our own are, and forged ids
are shown to level `model`, too. Their sources are found here, behind the packages that are
installed, because the tests and their scripts also run where these are not."""

import sys
from pathlib import Path

for wing in ("tokpar-conformance", "tokpar-model", "tokpar-pure", "tokpar-strategies"):
    sys.path.append(str(Path(__file__).parents[1] / "plugins" / wing / "src"))
