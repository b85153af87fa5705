"""Run the experiments behind the units' claims, and write what the units quote.

    python -m claims [UNIT ...] [--jobs 2] [--again] [--same] [--develop [SEEDS]]

A unit is named by its stem or number, "05". Stopped, it goes on next time where it was. Then build the units again
(`make notebooks FORCE=1`): prose, figures and unit 14's table take the numbers from `rnncourse/data/claims/`. While a
claim is still looked for, `--develop` runs other seeds, prints what came and writes nothing. After a change of code
that changes no number, `--same` runs one seed of what has changed, and keeps what was counted where the numbers are
the same.
"""

import argparse
import sys

from claims.run import keep, run_all, units
from rnncourse.data.claims import unit_claims


def main() -> int:
    """The command; returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m claims", description="Run the experiments behind the claims.")
    parser.add_argument("units", nargs="*", metavar="UNIT", help="such as 05; all of them if none is named")
    parser.add_argument("--jobs", type=int, default=2, help="how many runs at once (default: 2)")
    parser.add_argument("--again", action="store_true", help="measure again what was measured before")
    parser.add_argument("--same", action="store_true", help="keep what was counted where one seed gives the same")
    parser.add_argument(
        "--develop",
        type=int,
        nargs="?",
        const=5,
        default=0,
        metavar="SEEDS",
        help="print what this many development seeds give (5)",
    )
    options = parser.parse_args()
    known = list(units())
    stems = [stem for stem in known if not options.units or {stem, stem[:2]} & set(options.units)]
    if unknown := [u for u in options.units if not any(u in (stem, stem[:2]) for stem in known)]:
        print(f"No claims of {', '.join(unknown)} rest on training; there are {', '.join(known)}.", file=sys.stderr)
        return 1
    if options.same:
        other = [f"{stem}: {setting}" for stem in stems for setting in keep(stem)]
        print("\n".join(["Other numbers came; run the claims of:", *other] if other else ["The same numbers came."]))
        return 1 if other else 0
    try:
        run_all(stems, options.jobs, options.again, options.develop)
    except KeyboardInterrupt:
        print("Stopped. What was measured is kept: run the same command to go on.", file=sys.stderr)
        return 130
    for stem in [] if options.develop else stems:
        file = unit_claims(stem)
        print(f"{stem}: {sum(e['seconds'] for e in file['experiments'].values())} s of processor time")
        for claim in file["claims"]:
            print(f"  {claim['held']} of {claim['of']}  {claim['words']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
