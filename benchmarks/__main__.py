"""`python -m benchmarks` runs every benchmark, `python -m benchmarks NAME ...` those named; see `--help`."""

from __future__ import annotations

import sys

from benchmarks import harness


def main() -> None:
    asked, known = harness.parse(sys.argv[1:]), harness.listed()
    full = [name for name, one in known.items() if "full" in one.marks]
    if unknown := sorted(set(asked) - set(known)):
        sys.exit(f"There is no benchmark {', '.join(unknown)}. There are: {', '.join(known)}.")
    if harness.mode() == "full" and (without := sorted(set(asked) - set(full))):
        sys.exit(f"These have no --full: {', '.join(without)}. Those that have: {', '.join(full)}.")
    short = [name for name, one in known.items() if harness.mode() == "try" or "long" not in one.marks]
    for name in asked or (full if harness.mode() == "full" else short):
        print(f"=== {name}", flush=True)
        harness.run(name)


if __name__ == "__main__":
    main()
