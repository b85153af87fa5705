"""The repository's own documents as pages: their links lead to the page of what they name, or to the file itself."""

import re
import shutil
from pathlib import Path

# Which page a file of the repository has become.
PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "benchmarks/README.md": "benchmarks.md",
    "docs/design/checks.md": "design-checks.md",
    "docs/design/desk.md": "design-desk.md",
    "docs/symbols.md": "symbols.md",
    "grading/README.md": "teaching.md",
    "lite/README.md": "lite.md",
    "website/README.md": "site.md",
}
LINK = re.compile(r"(!?\[[^\]]*\])\((?![a-z]+:|#)([^)\s#]+)(#[^)\s]*)?\)")


class MissingFileError(Exception):
    """A document links to a file that is not there."""


def page(root: Path, name: str, out: Path, *, section: str = "") -> str:
    """The document `name`, or one of its sections, as text; files that it links to or shows are copied into `out`."""

    def follow(found: re.Match[str]) -> str:
        label, target, anchor = found[1], found[2], found[3] or ""
        path = (root / name).parent.joinpath(target).resolve()
        if not path.is_relative_to(root) or not path.exists():
            raise MissingFileError(f"{name} links to {target}, which is not there: mend the link.")
        if page := PAGES.get(path.relative_to(root).as_posix()):
            return f"{label}({page}{anchor})"
        if path.is_dir():
            return label.strip("[]")
        copied = f"files/{path.relative_to(root).as_posix()}"
        if path.suffix == ".md":
            copied += ".txt"  # no page of the site: to be read as it is
        (out / copied).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, out / copied)
        return f"{label}({copied}{anchor})"

    text = (root / name).read_text(encoding="utf-8")
    if section:
        found = re.search(rf"^#+ {section}\n(.*?)(?=^#)", text, re.MULTILINE | re.DOTALL)
        if found is None:
            raise MissingFileError(f"{name} has no section {section!r}, which the site takes from there.")
        text = found[1]
    return LINK.sub(follow, text)


def table_of_units(root: Path) -> str:
    """The README's table of the units; each links to its page."""
    stems = {path.stem.partition("_")[0]: path.stem for path in sorted((root / "solutions").glob("[0-9][0-9]_*.py"))}
    rows = re.findall(r"^\| *(?:unit|---|\d\d) *.*\|$", (root / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    linked = [
        re.sub(r"^\| (\d\d) ([^|]*?) *\|", lambda m: f"| [{m[1]} {m[2]}](units/{stems[m[1]]}.ipynb) |", r) for r in rows
    ]
    return "\n".join(linked)
