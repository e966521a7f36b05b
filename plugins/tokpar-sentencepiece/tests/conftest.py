"""Models are trained and facts read at the first example, which is then slow."""

from hypothesis import settings

settings.register_profile("plugin", max_examples=50, deadline=None)
settings.load_profile("plugin")
