"""Figures 4b and 4c as `sensing_figure4bc`, at every size."""

from __future__ import annotations

from benchmarks.sensing_figure4bc import FULL, tables

READING = """
What holds (eight seeds, means of all looks against random): *4b, +6 points by entropy in 15 rounds*: no, entropy is
.006 to .022 below random, and nothing is ahead of random by two standard errors; the variance x' S_W x is level
(-.013 to +.010), the gains of two seeds in [sensing_figure4bc](sensing_figure4bc.md) were luck. *4c, +20 points after
20 rounds by uncertainty*: no, entropy is .09 to .23 below random, as it asks all rows the same few labels; information
in joint batches is level with random (-.06 to +.03 on unseen rows, -.05 to +.04 on the rows asked), information row by
row is level with K = 10 and one iteration alone, and .13 to .24 behind elsewhere. *Pairs*: no criterion is ahead of
random; the margin is level with it in three of four settings on unseen rows. Whatever asks where the model is unsure
finds few yes answers; random questions spread over the labels.
"""


def main() -> None:
    tables("sensing_figure4bc_full", READING, *FULL)


if __name__ == "__main__":
    main()
