"""Candidate matrices and label vectors: one written convention for each, and the checks at the door."""
