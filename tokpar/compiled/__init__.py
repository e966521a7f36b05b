"""The cache of segments between certified cuts, and what encodes new ones without the engine."""
