"""What is registered: hooks of pluggy, strategies, plugins, the parts of the core."""
