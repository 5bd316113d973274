"""The answering loop: a person's turn, the question, the press, and what was answered."""
