"""What is known of a tokenizer, and how it was decided."""
