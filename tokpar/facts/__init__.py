"""Derives the facts of a tokenizer from its configuration: the planner reads nothing else of it.

Imported by: `adapters`, `compiled`, `cuts`.
Read first: `hf_facts.py`.
"""
