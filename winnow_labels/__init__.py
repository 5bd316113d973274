"""The app Winnow as an installed package. The library is `plcore`; the command `winnow` starts in `__main__.py`."""

__version__ = "0.1.0"
"""The only place with the version: both wheels and `winnow --version` read it."""
