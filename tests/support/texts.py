"""The text strategies of the conformance kit, which the tests draw from too."""

from tokpar.testing.text_strategies import *  # noqa: F403
