"""`python -m benchmarks.faults [--quick] [--kind TEXT] [--name TEXT]`: print losses as they come.

For development: nothing is stored. Quick: one try of each kind, on one estimator.
"""

from __future__ import annotations

import argparse
import sys

from benchmarks.faults.kinds import KINDS
from benchmarks.faults.trials import trials


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.faults", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one try of each kind")
    parser.add_argument("--kind", default="", help="only kinds whose name contains one of these")
    parser.add_argument("--name", default="", help="only estimators whose name contains this")
    parser.add_argument("--except", dest="without", default="-", help="no name that contains this")
    parser.add_argument("--tries", type=int, help="instead of the usual number")
    parser.add_argument("--all", action="store_true", help="print the words of every verdict")
    options = parser.parse_args()
    losses = tried = 0
    for kind_name, kind in KINDS.items():
        names = [
            name for name in kind.subjects() if options.name in name and options.without not in name
        ]
        if not any(word in kind_name for word in options.kind.split(",")):
            continue
        for name in names[:1] if options.quick else names:
            row = trials(kind_name, name, 1 if options.quick else options.tries or kind.tries)
            losses, tried = losses + row["loss"], tried + row["tries"]
            counts = f"{row['model']} {row['sentence']} {row['loss']}"
            print(f"{kind_name:<34} {name:<38} {counts}  wait {row['wait']:.2f}", flush=True)
            for verdict, words in row["words"].items():
                if options.all or verdict == "loss":
                    print("".join(f"    {verdict}: {text}\n" for text in words), end="")
    print(f"{tried} tries, {losses} losses")
    return 1 if losses else 0


if __name__ == "__main__":
    sys.exit(main())
