"""The link check: every link inside the site leads somewhere, and no page needs another computer to be shown.

    python website/links.py build/site

Links to other sites are looked at for their form only: whether they answer today is no property of this course.
"""

import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

FOLLOWED = {"a", "area"}  # what a reader clicks on; every other src or href is loaded with the page


@dataclass
class Report:
    """What is wrong, in sentences; how many links were followed inside; the addresses outside."""

    broken: list[str] = field(default_factory=list)
    inside: int = 0
    outside: set[str] = field(default_factory=set)


class _Page(HTMLParser):
    """The ids of a page, and its addresses: (tag, address)."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.addresses: list[tuple[str, str]] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.ids.update(values[key] or "" for key in ("id", "name") if key in values and (key == "id" or tag == "a"))
        if (address := values.get("href") or values.get("src")) and values.get("rel") != "canonical":
            self.addresses.append((tag, address))

    handle_startendtag = handle_starttag


def check(site: Path, beside: Path | None = None) -> Report:
    """Follow all addresses of all pages in the folder `site`; not those into the folder `beside`, which comes later."""
    site = site.resolve()
    # what lies in _static is no page, but what the theme makes pages of
    pages = {path: _Page(path) for path in sorted(site.rglob("*.html")) if "_static" not in path.parts}
    report = Report()
    for path, page in pages.items():
        for tag, address in page.addresses:
            if beside and (path.parent / unquote(urlsplit(address).path)).resolve().is_relative_to(beside):
                continue
            if problem := _problem(path, tag, address, pages, report):
                report.broken.append(f"{path.relative_to(site)}: {address[:120]} {problem}")
    return report


def _problem(path: Path, tag: str, address: str, pages: dict[Path, _Page], report: Report) -> str | None:
    parts = urlsplit(address)
    if parts.scheme in ("data", "mailto", "javascript"):
        return None
    if parts.scheme or parts.netloc:
        if tag not in FOLLOWED:
            return "is loaded from another computer"
        report.outside.add(address)
        host = parts.hostname or ""
        well_formed = parts.scheme in ("http", "https") and (host == "localhost" or "." in host) and " " not in address
        return None if well_formed else "is no address"
    report.inside += 1
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not target.is_file():
        return "leads nowhere"
    if parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].ids:
        return "names a place that is not on that page"
    return None


def main() -> int:
    """Check the site that the command line names; the exit code says whether all is well."""
    report = check(Path(sys.argv[1]))
    print(
        "\n".join(report.broken) or f"{report.inside} links inside lead somewhere; {len(report.outside)} lead outside."
    )
    return bool(report.broken)


if __name__ == "__main__":
    sys.exit(main())
