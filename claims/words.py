"""The claims that a unit marks in its prose."""

import re


def marked_claims(source: str) -> list[str]:
    """The claims in a cell of prose, without their marks.

    >>> marked_claims("Look. **Claim:** it is *so*.\\n\\nWhy?"), marked_claims("**Claim: it is so.** Since")
    (['It is so.'], ['It is so.'])
    """
    found = []
    for paragraph in re.split(r"\n\s*\n", source):
        for claim in re.split(r"(?=\*\*Claim\b)", paragraph)[1:]:
            bold = re.match(r"\*\*Claim:? (.+?)\*\*", claim, re.S)
            words = plain(bold[1] if bold else re.sub(r"^\*\*Claim:?\*\*[:,]?", "", claim))
            found.append(words[:1].upper() + words[1:])
    return found


def plain(markdown: str) -> str:
    """Prose on one line, without the marks of emphasis; formulas and code stay.

    >>> plain("a *very*\\n**good** `x*y` $a * b$")
    'a very good `x*y` $a * b$'
    """
    parts = re.split(r"(\$[^$]*\$|`[^`]*`)", markdown)
    parts[::2] = [re.sub(r"(?<![\w*])\*{1,2}(?=\S)|(?<=\S)\*{1,2}(?![\w*])", "", part) for part in parts[::2]]
    return " ".join("".join(parts).split())
