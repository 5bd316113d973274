"""Column roles: guessing them, reading label cells, and doubts about the reading."""
