"""An encoder behind the call interface of transformers or of tiktoken (docs/views.md)."""
