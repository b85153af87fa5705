"""What pyproject.toml cannot say: the students' notebooks lie beside the package, and in a wheel within it."""

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


setup(cmdclass={"build_py": BuildWithNotebooks})
