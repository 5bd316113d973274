"""Compiled loops, and nothing else. Why they are fast and the rules they keep: `plcore.kernels.compiled`."""
