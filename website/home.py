"""The first screen of the site: a film that runs, a check's card on a wrong answer, and what one will have made.

Nothing of it is typed in. The film, the pictures and the tune are what the units have stored; the card is what `check`
says, while the page is made, about the wrong answer that unit 00 asks everybody to try.
"""

import base64
import re
from html import escape
from pathlib import Path

import units
from sphinx.highlighting import PygmentsBridge

from rnncourse import check, exercises

TRIED, MISTAKE = "leaky_average", "shares_swapped"  # it stands in the notebook of unit 00, so it gives nothing away
PICTURE = re.compile(r"<style>.*?</style><img [^>]*>", re.DOTALL)
SOUND = re.compile(r'src="data:audio/wav;base64,([^"]+)"')
FILM = re.compile(r"<div>.*</iframe></div>", re.DOTALL)
CODE = re.compile(r"<figcaption>both ways[^<]*</figcaption>(<pre .*?</pre>)", re.DOTALL)
RIGHT = re.compile(r"<figcaption>both ways, (\d+%) right</figcaption>")
TUNE = "static/korobeiniki.wav"
AUDIO = f'<audio controls preload="none" aria-label="Korobeiniki, played by a network" src="_{TUNE}"></audio>'


class NotStoredError(Exception):
    """A unit no longer shows what the first screen takes from it."""


def first_screen(root: Path, source: Path, lite: str) -> str:
    """The first screen as MyST; what can be heard becomes a file in the folder `source`."""
    film = _stored(root, "13_attention", "attention_film(", FILM)
    code = _stored(root, "09_bidirectional", '"too long:"', CODE)
    right = _stored(root, "09_bidirectional", '"too long:"', RIGHT)
    tunes = _stored(root, "11_heads", "ReadThenWrite, after_two", PICTURE)
    tune = _stored(root, "11_heads", 'Audio(data=wav(as_heard(sung["alone", "alone"], 2)', SOUND)
    (source / TUNE).parent.mkdir(parents=True, exist_ok=True)
    (source / TUNE).write_bytes(base64.b64decode(tune))
    captions = _stored(root, "12_encoder_decoder", "captioned_images(", PICTURE)
    wrong = next(one for one in exercises.find(TRIED).misconceptions if one.name == MISTAKE)
    verdict = check(wrong.answer, TRIED)
    tried = PygmentsBridge("html").highlight_block(wrong.source_for(TRIED).strip(), "python")
    buttons = '<a class="btn btn-outline-primary" href="install.html">Install</a> three commands'
    if lite:
        start = units.in_browser(exercises.STEMS[0], lite)
        buttons = f'<a class="btn btn-primary" href="{start}">Start in the browser</a> nothing to install · {buttons}'
    html = f"""
<p class="home-start">{buttons}</p>
<div class="home">
<section class="home-film" aria-label="A film">
{film}
<p>A network that you wrote, at work: it reads a date in any of eleven languages, and looks where it needs to while it
writes. <a href="units/13_attention.html">Unit 13</a></p>
</section>
<section class="home-card" aria-label="A wrong answer and what its check says">
{tried}
{verdict.card()}
<p>Every exercise has a check, which knows the mistakes that students make.
<a href="units/00_welcome.html">Unit 00</a></p>
</section>
<section class="home-made" aria-labelledby="home-made">
<h2 id="home-made">What you will have made</h2>
<ul>
{_made("09_bidirectional", "A syntax highlighter", code, f"{right} right; what is wrong is framed.")}
{_made("11_heads", "Tunes", tunes + AUDIO, "Each played on from its first two notes. To hear: Korobeiniki.")}
{_made("12_encoder_decoder", "Words for a picture", captions, "Captions by a network; what is wrong is marked.")}
</ul>
</section>
</div>
"""
    return f"`````{{raw}} html\n{html}\n`````"


def get_it(lite: str, repository: str) -> str:
    """What the page on installing begins with, as MyST: where the course is to be had, and how to do without."""
    lines = ["You need Python 3.11 or later and 1.3 GB on your disk; no GPU, and once it is installed no network."]
    if repository:
        address = f"https://github.com/{repository}"
        lines.append(f"Get the course, `git clone {address}` or [as an archive]({address}/archive/HEAD.zip).")
    else:
        lines.append("Whoever gave you this page has the course for you: a folder, which is a clone, or a wheel.")
    lines.append("Open a terminal in that folder.")
    if lite:
        start = f'<a href="{units.in_browser(exercises.STEMS[0], lite)}">start in the browser</a>'
        lines.insert(0, f"To install nothing, {start}: units 00 to 06, and the NumPy parts of six more.")
    return "\n".join(lines)


def _made(stem: str, title: str, shown: str, words: str) -> str:
    link = f'<a href="units/{stem}.html">{escape(title)}</a>'
    return f"<li><h3>{link}</h3>{shown}<p>{escape(words)}</p></li>"


def _stored(root: Path, stem: str, call: str, part: re.Pattern[str]) -> str:
    """What the one cell of a unit in which `call` stands has stored: the part of its HTML that the pattern matches."""
    cells = [cell for cell in units.stored(root, "solutions", stem).cells if call in cell.source]
    for cell in cells:
        for output in cell.get("outputs", []):
            if found := part.search(output.get("data", {}).get("text/html", "")):
                return found[found.lastindex or 0]
    raise NotStoredError(f"website/home.py shows what comes of {call!r} in unit {stem}: no cell there has it any more.")
