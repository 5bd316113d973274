"""`python -m benchmarks` runs every benchmark, `python -m benchmarks NAME ...` those named; see `--help`."""

from __future__ import annotations

import sys

from benchmarks import harness

NAMES = {
    "answering": "latency press press_rows load overlap growing retraining commit_checks restart opening put_away",
    "trust": "trust power_cuts two_servers",
    "pages": "start first_start pages first_load hearing maps",
    "files": "import_rows large_import large_project cluster wide_sets wide_tables images sounds long_sound texts",
    "questions": "table8 neighbors ranking honest_curve proof stopping crowd "
    "imported_votes shortlists outside bags calibration cold_start meaning",
    "models": "kernel_speed model_choice margin_objective margin_accuracy margin_speed margin_curves many_classes "
    "online_curves online_speed",
    "sensing": "sensing_speed sensing_figure2 sensing_figure4a sensing_figure4bc sensing_predict sensing_choice",
}
"""The benchmarks of each folder, but for those that take half an hour and more: these run only when named."""
LONG = {
    "files": "ten_million",
    "questions": "active_models seconds",
    "models": "model_accuracy lmplane_tables",
}
FULL = (
    "large_project",
    "meaning",
    "margin_curves",
    "sensing_figure2",
    "sensing_figure4a",
    "sensing_figure4bc",
)
"""Those with a `--full` of their own."""


def names(rooms: dict[str, str]) -> list[str]:
    return " ".join(rooms.values()).split()


def main() -> None:
    chosen = harness.parse(sys.argv[1:]) or (
        list(FULL) if harness.mode() == "full" else names(NAMES) + names(LONG) * (harness.mode() == "try")
    )
    known = names(NAMES) + names(LONG)
    if unknown := sorted(set(chosen) - set(known)):
        sys.exit(f"There is no benchmark {', '.join(unknown)}. There are: {', '.join(known)}.")
    if harness.mode() == "full" and (without := sorted(set(chosen) - set(FULL))):
        sys.exit(f"These have no --full: {', '.join(without)}. Those that have: {', '.join(FULL)}.")
    for name in chosen:
        print(f"=== {name}", flush=True)
        harness.run(name)


if __name__ == "__main__":
    main()
