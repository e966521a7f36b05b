"""Tests of tokpar by room, as `tokpar/` has them; `support` serves all of them.

The texts that hypothesis draws are those of the conformance kit. Its source is found here, behind
the packages that are installed, because the tests and their scripts also run where it is not."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "plugins" / "tokpar-conformance" / "src"))
