"""Tests of the way from texts to a `Batch`: encoders, streams, batches."""
