"""Copies of transcripts that only grow: the truth that all else is derived from."""
