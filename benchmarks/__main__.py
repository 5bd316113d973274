"""`python -m benchmarks` runs every benchmark; `python -m benchmarks NAME ...` runs those named.

Each writes its table to benchmarks/results/NAME.md, with the command, the machine and the versions.
"""

from __future__ import annotations

import importlib
import sys

NAMES = (
    "latency",
    "press",
    "load",
    "trust",
    "two_servers",
    "power_cuts",
    "restart",
    "opening",
    "growing",
    "put_away",
    "large_project",
    "wide_sets",
    "press_rows",
    "import_rows",
    "large_import",
    "commit_checks",
    "retraining",
    "first_start",
    "start",
    "pages",
    "first_load",
    "maps",
    "table8",
    "neighbors",
    "cluster",
    "ranking",
    "model_choice",
    "kernel_speed",
    "margin_objective",
    "margin_accuracy",
    "margin_speed",
    "many_classes",
    "margin_curves",
    "online_curves",
    "online_speed",
    "sensing_speed",
    "sensing_figure2",
    "sensing_figure4a",
    "sensing_figure4bc",
    "sensing_predict",
    "sensing_choice",
    "images",
    "sounds",
    "long_sound",
    "wide_tables",
    "hearing",
    "texts",
    "honest_curve",
    "stopping",
    "proof",
    "crowd",
    "imported_votes",
    "overlap",
    "shortlists",
    "outside",
    "cold_start",
)
LONG = (  # half an hour and more, so run only when named
    "ten_million",
    "large_project_full",
    "model_accuracy",
    "lmplane_tables",
    "active_models",
    "seconds",
    "margin_curves_full",
    "sensing_figure2_full",
    "sensing_figure4a_full",
    "sensing_figure4bc_full",
)


def main() -> None:
    chosen = sys.argv[1:] or list(NAMES)
    unknown = sorted(set(chosen) - {*NAMES, *LONG})
    if unknown:
        sys.exit(f"There is no benchmark {', '.join(unknown)}. There are: {', '.join((*NAMES, *LONG))}.")
    for name in chosen:
        importlib.import_module(f"benchmarks.{name}").main()


if __name__ == "__main__":
    main()
