"""The project's own files: one environment, a package that installs, commands that exist, nothing private."""

import importlib.metadata
import itertools
import re
import shlex
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from PIL import Image

from rnncourse import check, exercises
from rnncourse.seat.cli import main as student_commands
from rnngrade.cli import main as desk_commands


@pytest.fixture(scope="module")
def pyproject(root) -> dict:
    return tomllib.loads((root / "pyproject.toml").read_text())


@pytest.fixture(scope="module")
def pins(root) -> dict[str, str]:
    """The versions in constraints.txt, by normalised name."""
    lines = [line for line in (root / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
    return {canonicalize_name(name): version for name, _, version in (line.partition("==") for line in lines)}


def test_constraints_pin_every_package_of_the_environment_at_the_version_that_is_tested(pins):
    needed: dict[str, str] = {}
    todo = [Requirement("rnncourse[dev]")]
    while todo:
        requirement = todo.pop()
        for text in importlib.metadata.requires(requirement.name) or ():
            inner = Requirement(text)
            wanted = not inner.marker or any(
                inner.marker.evaluate({"extra": extra}) for extra in requirement.extras or {""}
            )
            name = canonicalize_name(inner.name)
            if wanted and (name not in needed or inner.extras):
                needed[name] = importlib.metadata.version(inner.name).partition("+")[0]
                todo.append(inner)
    needed.pop("rnncourse")
    assert pins == needed


def test_constraints_are_sorted_pins_and_nothing_else(root):
    first, *lines = (root / "constraints.txt").read_text().splitlines()
    assert first.startswith("#")
    assert lines == sorted(lines, key=str.lower)
    assert [line for line in lines if not re.fullmatch(r"[A-Za-z0-9._-]+==[0-9A-Za-z.]+", line)] == []


def test_every_pinned_package_runs_on_the_python_of_debian_12(pins):
    needs = {name: importlib.metadata.metadata(name).get("Requires-Python") or "" for name in pins}
    assert {name: python for name, python in needs.items() if not SpecifierSet(python).contains("3.11.2")} == {}


def test_pyproject_asks_for_nothing_that_the_pins_do_not_satisfy(pyproject, pins):
    project = pyproject["project"]
    requirements = itertools.chain(project["dependencies"], *project["optional-dependencies"].values())
    for requirement in map(Requirement, requirements):
        if requirement.name != "rnncourse":
            assert requirement.specifier.contains(pins[canonicalize_name(requirement.name)]), requirement


def test_conda_users_get_the_same_packages(root, pyproject):
    environment = yaml.safe_load((root / "environment.yml").read_text())
    python, pip, by_pip = environment["dependencies"]
    assert environment["name"] == pyproject["project"]["name"]
    assert f">={python.removeprefix('python=')}" == pyproject["project"]["requires-python"]
    assert pip == "pip"
    # the very arguments with which the Makefile calls pip
    assert by_pip == {"pip": ["-c constraints.txt", "-e .[dev]"]}
    command = r"pip install (--[\w-]+ )+-c constraints.txt -e '.\[dev\]'$"
    assert re.search(command, (root / "Makefile").read_text(), re.MULTILINE)


def test_each_command_of_the_documents_is_a_make_target(root):
    targets = set(re.findall(r"^([a-z]+):", (root / "Makefile").read_text(), re.MULTILINE))
    assert {"demo", "test", "lab", "notebooks", "bench", "lint", "clean"} <= targets
    for document in [*root.glob("*.md"), root / "grading" / "README.md"]:
        shown = re.findall(r"^\s*(?:\$ )?make ([a-z]+)|`make ([a-z]+)", document.read_text(), re.MULTILINE)
        assert {one or other for one, other in shown} <= targets, document.name


def test_ci_runs_the_test_command_of_the_readme(root):
    script = (root / ".ci" / "run").read_text()
    assert script.startswith("#!/usr/bin/env bash\n")
    assert "set -euo pipefail" in script
    assert script.rstrip().endswith('make "${@:-test}"')
    assert "make test" in (root / "README.md").read_text()


def test_the_version_is_the_same_wherever_it_stands(root, pyproject):
    import rnncourse

    version = pyproject["project"]["version"]
    assert rnncourse.__version__ == version
    assert yaml.safe_load((root / "CITATION.cff").read_text())["version"] == version


def test_no_tracked_file_holds_a_path_of_somebodys_machine_or_a_registry_s_address(root, tracked):
    private = re.compile(
        rb"/(?:root|work|home|Users)/[\w.]|C:\\Users|/tmp/(?:ipykernel|pytest)|ipykernel_\d"
        rb"|files[.]pythonhosted|(?:deb|security)[.]debian|pypi[.]org/simple|registry[.]npmjs|file:///"
    )
    found = {}
    for name in tracked:
        if name != Path("tests/test_project.py") and (hit := private.search((root / name).read_bytes())):
            found[str(name)] = hit.group()
    assert found == {}


def test_no_tracked_file_is_left_from_grading_or_an_editor(tracked):
    left = re.compile(
        r"gradebook\.db|(^|/)(submitted|autograded|(?<!rnngrade/pages/)feedback)/|\.ipynb_checkpoints|__pycache__|\.new$|~$"
    )
    assert [str(name) for name in tracked if left.search(str(name))] == []


def test_the_check_that_the_readme_shows_says_just_that(root):
    wrong = next(m for m in exercises.find("rnn_forward").misconceptions if m.name == "h0_replaced_by_zeros")
    shown = " ".join((root / "README.md").read_text(encoding="utf-8").split())
    assert str(check(wrong.answer, "rnn_forward")) in shown


def test_every_desk_s_and_student_s_command_of_the_documents_is_one(root):
    programs = {"rnngrade": desk_commands, "rnncourse": student_commands}
    shown = 0
    for document in [*root.glob("*.md"), root / "grading" / "README.md"]:
        text = document.read_text(encoding="utf-8")
        for line in re.findall(r"(?:^ {4}|`)((?:rnngrade|rnncourse) [^`\n]+)", text, re.MULTILINE):
            program, *words = shlex.split(line, comments=True)
            command, takes = programs[program], programs[program].params
            for word in words:
                if found := getattr(command, "commands", {}).get(word):
                    command, takes = found, takes + found.params
            if command is programs[program] and "COMMAND" not in words:
                pytest.fail(f"{document.name}: {line}")
            known = {"--help", *(option for taken in takes for option in taken.opts)}
            assert {word for word in words if word.startswith("--")} <= known, line
            shown += 1
    assert shown > 12


def test_the_readme_s_pictures_are_there_small_and_said_in_words(root):
    pictures = re.findall(r"<img ([^>]+)>", (root / "README.md").read_text(encoding="utf-8"))
    assert len(pictures) == 4
    for attributes in pictures:
        source, width, words = re.fullmatch(r'src="([^"]+)" width="(\d+)" alt="([^"]+)"', attributes).groups()
        assert (root / source).stat().st_size < 150_000
        with Image.open(root / source) as picture:
            assert picture.width >= 2 * int(width)  # sharp on a screen of twice the pixels
        assert len(words) > 80


def test_the_citation_has_what_its_format_asks_for(root):
    citation = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["cff-version"] == "1.2.0"
    assert all(isinstance(citation[key], str) and citation[key] for key in ("message", "title", "version"))
    assert citation["authors"]
    assert all(author.get("name") or author.get("family-names") for author in citation["authors"])
    assert citation["type"] in ("software", "dataset")
    assert citation["license"] == ["MIT", "CC-BY-4.0"]
    optional = {"abstract", "keywords", "license", "type", "version", "date-released", "url", "repository-code"}
    assert set(citation) <= {"cff-version", "message", "title", "authors", *optional}


def test_both_licences_are_named_wherever_one_looks_for_them(root, pyproject):
    assert (root / "LICENSE").read_text(encoding="utf-8").startswith("MIT License\n")
    assert "CC BY 4.0" in (root / "LICENSE-TEXT").read_text(encoding="utf-8")
    assert pyproject["project"]["license-files"] == ["LICENSE", "LICENSE-TEXT"]
    readme = (root / "README.md").read_text(encoding="utf-8")
    assert "(LICENSE)" in readme
    assert "(LICENSE-TEXT)" in readme
