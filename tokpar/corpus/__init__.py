"""Corpora: documents in files become shards of ids, with a manifest that says how they were made.

Nothing here is imported by `import tokpar`."""
