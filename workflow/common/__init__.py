"""What the use cases of all kinds of project are made of: the log as learners read it, turns, lines of lists."""
