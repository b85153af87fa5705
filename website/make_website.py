"""Build the course site: `python website/make_website.py` writes it to build/site, to be opened or served from there.

    the stored notebooks, the catalogue, the documents  ->  build/site-source  ->  build/site
                                                     (this file)          (Sphinx)

No notebook is executed. A second build does only what changed. A warning of Sphinx's is an error here, and so is a link
that leads nowhere.

    python website/make_website.py [--out FOLDER] [--without-solutions] [--lite ADDRESS] [--repository NAME]
"""

import argparse
import importlib.metadata
import itertools
import os
import shutil
import sys
from pathlib import Path

import checks
import concepts
import documents
import home
import links
import nbformat
import reference
import units
from sphinx.cmd.build import build_main

from rnncourse import exercises

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent


def main() -> int:
    """The command line; returns its exit code."""
    parser = argparse.ArgumentParser(prog="python website/make_website.py", description="Build the course site.")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "site", help="where to (default: build/site)")
    parser.add_argument("--without-solutions", action="store_true", help="for a class that is graded on the exercises")
    parser.add_argument("--lite", default="", help="where the course in a browser lies: an address, or a folder beside")
    parser.add_argument("--repository", default="", help="the course's on GitHub, university/rnncourse: for Colab")
    options = parser.parse_args()
    out: Path = options.out.resolve()
    source = out.with_name(f"{out.name}-source")
    try:
        ways = {"lite": options.lite, "repository": options.repository}
        pages = make_pages(source, solutions=not options.without_solutions, **ways)
    except (concepts.OutOfStepError, documents.MissingFileError, home.NotStoredError) as error:
        print(error, file=sys.stderr)
        return 1
    _write_all(source, pages)
    _copy_mathjax(source)
    shutil.rmtree(out, ignore_errors=True)  # a page that is no more must not stay; Sphinx keeps what it has read
    os.environ["RNNCOURSE_SITE_SOURCE"] = str(source)
    doctrees = out.with_name(f"{out.name}-doctrees")
    if build_main(
        ["-b", "html", "-W", "--keep-going", "-q", "-c", str(HERE), "-d", str(doctrees), str(source), str(out)]
    ):
        return 1
    report = links.check(out, beside=out / options.lite if options.lite else None)
    if report.broken:
        print("\n".join(report.broken), file=sys.stderr)
        return 1
    print(f"{out / 'index.html'}: {report.inside} links inside lead somewhere, {len(report.outside)} lead outside.")
    return 0


def make_pages(source: Path, *, solutions: bool, lite: str = "", repository: str = "") -> dict[str, str]:
    """All pages as text, by path in Sphinx's source folder. The rest is as in `units.page`."""
    pages = {
        path.relative_to(HERE / "pages").as_posix(): path.read_text(encoding="utf-8")
        for path in (HERE / "pages").rglob("*.md")
    }
    marks = {
        "first screen": home.first_screen(ROOT, source, lite),
        "solutions": "A solution lies folded below it: try first." if solutions else "",
        "units": documents.table_of_units(ROOT),
        "get it": home.get_it(lite, repository),
        "you want to learn": documents.page(ROOT, "README.md", source, section="You want to learn"),
    }
    for name, (mark, made) in itertools.product(("index.md", "install.md"), marks.items()):
        pages[name] = pages[name].replace(f"<!-- {mark} -->", made)
    for name, page in documents.PAGES.items():
        if page != "index.md":
            pages[page] = documents.page(ROOT, name, source)
    for unit in exercises.units():
        notebook = units.page(ROOT, unit.stem, solutions=solutions, lite=lite, repository=repository)
        pages[f"units/{unit.stem}.ipynb"] = nbformat.writes(notebook, version=nbformat.NO_CONVERT)
        pages[f"notebooks/{unit.stem}.ipynb"] = units.path(ROOT, "notebooks", unit.stem).read_text(encoding="utf-8")
        pages[f"checks/{unit.stem}.md"] = checks.page(unit)
    known = set()
    for name, path in reference.modules(ROOT).items():
        pages[f"reference/{name}.md"] = reference.page(name, path, source=solutions)
        known |= reference.definitions(name, path)
    table = concepts.read(HERE / "concepts.toml")
    if found := list(concepts.problems(table, ROOT, known)):
        raise concepts.OutOfStepError("website/concepts.toml is out of step with the course.\n" + "\n".join(found))
    pages["concepts.md"] = concepts.page(table)
    return pages


def _write_all(source: Path, pages: dict[str, str]) -> None:
    """Write what changed, so that Sphinx reads only that again; take away what is no page any more."""
    for old in source.rglob("*"):
        name = old.relative_to(source).as_posix()
        if old.is_file() and name not in pages and not name.startswith(("files/", "static/")):
            old.unlink()
    for name, text in pages.items():
        path = source / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


def _copy_mathjax(source: Path) -> None:
    """The one file of MathJax that the pages need: TeX in, SVG out."""
    name = "static/mathjax/tex-svg-full.js"
    found = importlib.metadata.distribution("sphinx-mathjax-offline").locate_file(f"sphinx-mathjax-offline/{name}")
    (source / name).parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(str(found), source / name)


if __name__ == "__main__":
    sys.exit(main())
