"""The answering loop: log entries, what they make of each row, the next question, when to stop. One folder a kind."""
