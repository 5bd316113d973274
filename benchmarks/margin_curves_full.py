"""The learning curves of `margin_curves` at every size the issue names, in about an hour of one core."""

from __future__ import annotations

from benchmarks.margin_curves import FULL, run


def main() -> None:
    run(FULL, "margin_curves_full")


if __name__ == "__main__":
    main()
