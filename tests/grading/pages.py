"""A page of HTML, read: its elements, what they hold, and whether each ends where it must."""

from html.parser import HTMLParser

VOID = {"meta", "link", "br", "hr", "line", "rect"}


class Page(HTMLParser):
    """`elements`: tags with their attributes; `words`: pieces of text, each with the section that it stands in; `open`:
    what never ends.
    """

    def __init__(self, html: str) -> None:
        super().__init__()
        self.source = html
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[tuple[str, str]] = []
        self.open: list[str] = []
        self.section = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag in ("section", "details", "header"):
            self.section = dict(attrs).get("aria-labelledby") or tag

    def handle_endtag(self, tag):
        assert tag in VOID or self.open.pop() == tag

    def handle_data(self, data):
        if not {"style", "script"} & set(self.open):
            self.words.append((self.section, data))

    @property
    def text(self) -> str:
        """All words, each piece by itself."""
        return " ".join(" ".join(data for _, data in self.words).split())

    def sections(self) -> dict[str, str]:
        """The words of each section."""
        parts = {part for part, _ in self.words}
        return {part: " ".join("".join(data for one, data in self.words if one == part).split()) for part in parts}

    def all(self, attribute: str) -> list[str | None]:
        """The values of an attribute, wherever it stands."""
        return [attrs[attribute] for _, attrs in self.elements if attribute in attrs]
