"""What pyproject.toml cannot say: the students' notebooks lie beside the package, and in a wheel within it. With GRADED
set, the wheel is one for a graded class: it shows no solutions, and has no answer in clear text, nor the desk.
"""

import os
import shutil
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithNotebooks(build_py):
    """Copies `notebooks/` to `rnncourse/notebooks/`, but where the package is used as it lies."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            for notebook in sorted(Path("notebooks").glob("*/*.ipynb")):
                target = Path(self.build_lib, "rnncourse", notebook)
                self.mkpath(str(target.parent))
                self.copy_file(str(notebook), str(target))
            if os.environ.get("GRADED"):
                for_a_graded_class(Path(self.build_lib))


def for_a_graded_class(built: Path) -> None:
    """Leave out the desk, and pack the answers (rnncourse/checks/packed.py)."""
    sys.path.insert(0, str(Path(__file__).parent / "rnncourse" / "checks"))
    from packed import pack

    package = built / "rnncourse"
    shutil.rmtree(built / "rnngrade")
    desk = built / "rnngrade" / "cli.py"
    desk.parent.mkdir()
    desk.write_text('def main():\n    raise SystemExit("The desk is not in a release for students.")\n')
    catalogue = [path for path in (package / "exercises").glob("*.py") if path.name != "__init__.py"]
    chapters = [path for path in package.glob("*.py") if path.name != "__init__.py"]
    for path in (*catalogue, *chapters, *(package / "exercises").glob("*/*.txt")):
        pack(path)


setup(cmdclass={"build_py": BuildWithNotebooks})
