"""Roles: the purpose of each column, how cells name labels, guesses of both, and doubts about the reading."""
