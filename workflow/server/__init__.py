"""The running server: its home, database, settings, learners in memory, and jobs."""
