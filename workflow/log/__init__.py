"""The log of a project as programs and files read it, and its seals."""
