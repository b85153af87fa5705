"""Jinja as all pages use it: what is put into a template is escaped, a name that is not there is an error, and points
and numbers with their nouns look the same everywhere.
"""

import base64
import hashlib
from pathlib import Path

import jinja2
from markupsafe import Markup

from rnngrade.core.words import count, number

BASE = Path(__file__).with_name("base.css")  # the style that all pages have in common


def templates(folder: Path, *inlined: str) -> jinja2.Environment:
    """The templates of a folder, with the files that stand in each page by their stem, `style`, and the hashes by which
    a content security policy allows these, `style_hash`.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters.update(number=number, count=count)
    for file in inlined:
        text, name = (folder / file).read_text(encoding="utf-8").strip(), Path(file).stem
        if file == "style.css":
            text = BASE.read_text(encoding="utf-8") + text
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        environment.globals.update({name: Markup(text), f"{name}_hash": f"sha256-{digest}"})
    return environment
