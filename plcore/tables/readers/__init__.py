"""Readers of the files of single tools. Each tool declares the names that it always writes next to its reader.

Readers are registered in `plcore.tables.readers.registry`; a file is recognised by names before any shape is guessed.
"""
