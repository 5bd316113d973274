"""The app Winnow as an installed package. The library is `plcore`; the command `winnow` starts in `__main__.py`."""

from typing import TYPE_CHECKING

__version__ = "0.1.0"
"""The only place with the version: both wheels and `winnow --version` read it."""

if TYPE_CHECKING:
    from winnow_labels.labelling import label as label
else:

    def __getattr__(name: str) -> object:
        """Import `label` when it is first used: short commands need no client."""
        if name == "label":
            from winnow_labels.labelling import label

            return label
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
