"""The text strategies of the conformance kit, which the tests draw from too."""

from tokpar_conformance.text_strategies import *  # noqa: F403
