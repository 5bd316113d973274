"""Readers of the files of other tools; each declares the fields or columns that identify its files."""
