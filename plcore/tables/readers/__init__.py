"""Readers of file formats and tools. Each tool declares, next to its reader, the names that it always writes.

Readers are registered in `plcore.tables.readers.registry`. A file is recognised by names before its shape is guessed.
"""
