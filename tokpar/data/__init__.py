"""The bundled default tokenizer and the script that trains it."""
