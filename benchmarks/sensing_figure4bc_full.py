"""Figures 4b and 4c as `sensing_figure4bc`, at every size."""

from __future__ import annotations

from benchmarks.sensing_figure4bc import FULL, tables

READING = "What holds is said in [sensing_figure4bc](sensing_figure4bc.md)."


def main() -> None:
    tables("sensing_figure4bc_full", READING, *FULL)


if __name__ == "__main__":
    main()
