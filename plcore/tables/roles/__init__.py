"""Roles: what each column is for, how cells name labels, what is guessed about them, and what is odd."""
