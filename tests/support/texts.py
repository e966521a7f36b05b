"""The text strategies of the conformance kit, which the tests draw from too."""

from tokpar.testing.texts import *  # noqa: F403
