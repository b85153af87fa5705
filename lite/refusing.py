"""Where there is no PyTorch: import statements are read as JSON, and those that fail are written."""

import importlib.abc
import json
import sys

REFUSED = ("torch", "scipy", "sklearn")


class Refusing(importlib.abc.MetaPathFinder):
    """Has no module of these packages, whatever is installed."""

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:
        if fullname.partition(".")[0] in REFUSED:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)


def refuse() -> None:
    """From here on this process is without them."""
    sys.meta_path.insert(0, Refusing())


def main() -> None:
    refuse()
    failing = []
    for statement in json.load(sys.stdin):
        try:
            exec(statement, {"__name__": "__main__"})
        except ImportError:
            failing.append(statement)
    json.dump(failing, sys.stdout)


if __name__ == "__main__":
    main()
