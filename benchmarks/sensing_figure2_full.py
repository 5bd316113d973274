"""Figures 2 and 3 as `sensing_figure2`, at every size."""

from __future__ import annotations

from benchmarks.sensing_figure2 import FULL, tables

READING = "What holds is said in [sensing_figure2](sensing_figure2.md)."


def main() -> None:
    tables("sensing_figure2_full", READING, *FULL)


if __name__ == "__main__":
    main()
