"""Models are trained and facts read at the first example, which is then slow. TOKPAR_PROFILE=quick
draws fewer examples."""

import os

from hypothesis import settings

examples = 10 if os.environ.get("TOKPAR_PROFILE") == "quick" else 50
settings.register_profile("plugin", max_examples=examples, deadline=None)
settings.load_profile("plugin")
