"""The tests of plugins have the profiles of hypothesis, the caches and the fixtures of tokpar's."""

from tests.support.plugin_fixtures import *  # noqa: F403
