"""Readers of the files of single tools; each names the fields or columns by which its files are known."""
