"""Profiles of hypothesis; the optional corpora, *.jsonl files in TOKPAR_CORPORA."""

from __future__ import annotations

import os
import signal

from hypothesis import HealthCheck, settings

from tests.support.optional_data import corpus as corpus
from tests.support.profiles import EXAMPLES, chosen_profile

# a busy machine is no finding
settings.register_profile(
    "chosen",
    max_examples=EXAMPLES[chosen_profile()],
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("chosen")

# tiktoken keeps the first file that it reads at a path, and would not see that a test wrote another
os.environ["TIKTOKEN_CACHE_DIR"] = ""

# a shell that starts the tests in the background ignores Ctrl-C for them and all their children
signal.signal(signal.SIGINT, signal.default_int_handler)
