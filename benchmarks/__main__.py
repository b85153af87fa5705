"""What is fast, against what. All parts run in turn, or those that are named."""

import argparse

from benchmarks import checks, desk, gates, rnn

PARTS = {"rnn": rnn, "gates": gates, "checks": checks, "desk": desk}


def main() -> None:
    """Run the parts that were named, or all."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="part", help=f"one of {', '.join(PARTS)}")
    names = parser.parse_args().parts or list(PARTS)
    for unknown in set(names) - set(PARTS):
        parser.error(f"there is no part {unknown!r}; there are {', '.join(PARTS)}.")
    for name in names:
        PARTS[name].run()


if __name__ == "__main__":
    main()
