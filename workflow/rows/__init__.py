"""Rows of a project as lists, as a map, and under review."""
