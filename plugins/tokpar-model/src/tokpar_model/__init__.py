"""Level `model` of a check: ids proved from the tokenizer's file (`model_proof`), no engine."""
