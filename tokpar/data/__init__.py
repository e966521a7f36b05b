"""The bundled default tokenizer."""
