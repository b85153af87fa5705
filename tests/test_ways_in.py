"""For those who click: a container for VS Code and GitHub Codespaces, and one for Binder, with the same commands."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from rnncourse.seat.cli import main as student_commands

# What of a devcontainer's settings is used here, and its type (containers.dev/implementors/json_reference).
TYPES = {
    "name": str,
    "image": str,
    "postCreateCommand": str,
    "postAttachCommand": str,
    "forwardPorts": list,
    "portsAttributes": dict,
}


@pytest.fixture(scope="module")
def settings(root) -> dict:
    return json.loads((root / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def built(root, tmp_path_factory) -> tuple[Path, list[str]]:
    """A folder in which postBuild has run, and what it asked pip for, which only writes that down."""
    folder = tmp_path_factory.mktemp("clone")
    for name in ("binder", ".devcontainer"):
        shutil.copytree(root / name, folder / name)
    commands, asked = folder / "commands", folder / "asked"
    commands.mkdir()
    (commands / "pip").write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {shlex.quote(str(asked))}\n')
    (commands / "rnncourse").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m rnncourse.seat.cli "$@"\n')
    for command in commands.iterdir():
        command.chmod(0o755)
    environment = {**os.environ, "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}"}
    for _ in range(2):  # a container may be built again, and keeps what has been written
        subprocess.run([folder / "binder" / "postBuild"], cwd=folder, env=environment, check=True, capture_output=True)
    return folder, asked.read_text().splitlines()


def test_the_devcontainer_has_settings_of_the_right_types_and_shows_the_port_of_jupyterlab(settings):
    assert {key: type(value) for key, value in settings.items()} == TYPES
    assert settings["forwardPorts"] == [8888]
    assert list(settings["portsAttributes"]) == ["8888"]


def test_all_containers_have_the_python_that_is_tested(root, settings):
    conda = yaml.safe_load((root / "environment.yml").read_text(encoding="utf-8"))["dependencies"][0]
    version = conda.removeprefix("python=")
    assert (root / "binder" / "runtime.txt").read_text() == f"python-{version}\n"
    assert settings["image"].rpartition(":")[2] == version


def test_they_install_what_a_student_needs_at_the_versions_that_are_tested(root, built):
    _, asked = built
    assert asked[0] == "install"
    assert asked[asked.index("-c") + 1] == "constraints.txt"
    assert (root / "constraints.txt").is_file()
    extra = re.fullmatch(r"\.\[(\w+)\]", asked[-1])
    assert extra
    assert extra[1] in tomllib.loads((root / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert asked[asked.index("--extra-index-url") + 1] in (root / "README.md").read_text(encoding="utf-8")


def test_they_make_notebooks_of_one_s_own_and_open_jupyterlab_on_them(settings, built):
    folder, _ = built
    change, unit = settings["postAttachCommand"].split(" && ")
    notebooks = folder / shlex.split(change)[1]
    assert (notebooks / "00_welcome" / "00_welcome.ipynb").is_file()
    program, command, *options = shlex.split(unit)
    assert (program, options) == ("rnncourse", ["--no-browser"])
    assert command in student_commands.commands
    address = re.search(r"urlpath=lab/tree/(\S+)", (folder / "binder" / "postBuild").read_text())
    assert address
    assert (folder / address[1]).is_file()
    assert settings["postCreateCommand"] == "bash binder/postBuild"


def test_no_container_opens_jupyterlab_to_everybody_or_holds_a_secret(root):
    for path in [*(root / "binder").iterdir(), *(root / ".devcontainer").iterdir()]:
        assert not re.search(r"token|passw|secret|0\.0\.0\.0", path.read_text(encoding="utf-8"), re.IGNORECASE), path
