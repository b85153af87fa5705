"""Drawings as SVG: of one figure, and of many that differ in a few parts, in one.

Matplotlib writes for every reader of SVG that there is. A browser needs half of it: outlines from point to point, short
names, no groups without a purpose.
"""

import io
import re
from collections.abc import Iterator, Sequence
from itertools import count, groupby, zip_longest
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, tostring

from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

LAYER = re.compile(r"seen-(\d+)-(\d+)")  # the name of what a player shows from a moment on, until another
SPACE = "http://www.w3.org/2000/svg"
G, DEFS, STYLE, USE = (f"{{{SPACE}}}{name}" for name in ("g", "defs", "style", "use"))
LETTER = "scale(0.015625)"  # what matplotlib puts on the outline of a letter, whose numbers are whole
REFERENCE = re.compile(r"(?<=url\(#)[\w.-]+|(?<=href=\"#)[\w.-]+")  # a colour begins with # as well
NUMBER = re.compile(r"-?\d+\.\d+")
MOVED = re.compile(r"translate\((\S+) (\S+)\)")
STEP = re.compile(r"([A-Za-z])([^A-Za-z]*)")
ElementTree.register_namespace("", SPACE)


def drawn(figure: Figure) -> Element:
    """What matplotlib makes of `figure`, with all that is referred to at its beginning, and no other names."""
    page = io.StringIO()
    # (print_figure would lay it out and draw it twice, to the same effect)
    FigureCanvasSVG(figure).print_svg(page, metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))  # type: ignore[no-untyped-call]
    root = ElementTree.fromstring(page.getvalue().replace("xlink:href", "href"))
    referred_to, names = Element(DEFS), set(REFERENCE.findall(page.getvalue()))
    for node in list(root.iter()):
        if (name := node.get("id", "")) not in names and not LAYER.match(name):
            node.attrib.pop("id", None)
        node.text, node.tail = node.text if node.tag == STYLE else None, None
        for child in [child for child in node if child.tag == DEFS or child.tag.endswith("metadata")]:
            node.remove(child)
            if child.tag == DEFS:
                referred_to.extend(child)
    root.insert(0, referred_to)
    return root


def in_layers(drawings: Sequence[Element]) -> Element:
    """One drawing of several: what they share stands there once, what differs in layers that are seen at one moment."""
    whole = Element(drawings[0].tag, drawings[0].attrib)
    referred_to = {child.get("id"): child for drawing in drawings for child in drawing[0]}
    whole.append(Element(DEFS))
    whole[0].extend(referred_to.values())
    numbers = count()
    for versions in zip(*(drawing[1:] for drawing in drawings), strict=True):
        whole.extend(_shared(versions, numbers))
    return whole


def _shared(versions: Sequence[Element], numbers: Iterator[int]) -> list[Element]:
    """One node in its version of each moment: as it is, or with parts that differ, or in layers; what is shortest."""
    layers = []
    for _, run in groupby(enumerate(versions), lambda one: tostring(one[1])):
        moments, nodes = zip(*run, strict=True)
        layers.append(Element(G, {"id": f"seen-{moments[0]}-{moments[-1] + 1}-{next(numbers)}"}))
        layers[-1].append(nodes[0])
    if len(layers) == 1:
        return list(layers[0])
    if len({(node.tag, *node.items()) for node in versions}) == 1:
        whole = Element(versions[0].tag, versions[0].attrib)
        for parts in zip_longest(*versions, fillvalue=Element(G)):
            whole.extend(_shared(parts, numbers))
        if len(whole) and len(tostring(whole)) < sum(len(tostring(layer)) for layer in layers):
            return [whole]
    return layers


def written(root: Element) -> str:
    """The drawing as text, for a browser; the same drawing gives the same text. `root` is used up."""
    referred_to = dict.fromkeys(REFERENCE.findall(tostring(root, encoding="unicode")))
    names = {name: f"i{k:x}" for k, name in enumerate(referred_to)}
    looks: dict[str, str] = {}
    for node in reversed(list(root.iter())):
        letter = node.get("transform") == LETTER
        for key, value in node.items():
            node.set(key, _outline(value, letter) if key == "d" else _shorter(key, value, names))
        if letter:
            node.set("transform", "scale(.15625)")
        if node.tag == USE and (place := MOVED.fullmatch(node.get("transform", ""))):
            node.attrib.pop("transform")
            node.attrib |= {axis: by for axis, by in zip("xy", place.groups(), strict=True) if by != "0"}
        if look := node.attrib.pop("style", ""):
            node.set("class", looks.setdefault(look, f"c{len(looks):x}"))
        elif {child.tag for child in node} == {USE}:
            for look, name in looks.items():
                if "opacity" not in look and all(child.get("class") == name for child in node):  # marks of one look
                    node.set("class", name)
                    for child in node:
                        child.attrib.pop("class")
        parts = [list(child) if child.tag == G and not child.attrib else [child] for child in node]
        node[:] = [child for part in parts for child in part]
    sheet = next(root.iter(STYLE))
    sheet.text = f"{sheet.text}{''.join(f'.{name}{{{look}}}' for look, name in looks.items())}"
    return tostring(root, encoding="unicode").replace(" />", "/>")


def _shorter(key: str, value: str, names: dict[str, str]) -> str:
    """An attribute with the short name of what it refers to, and numbers of two or, where they scale, four digits."""
    if key == "href":
        return f"#{names[value[1:]]}" if value.startswith("#") else value  # an image
    if key == "id":
        return names.get(value, value)
    value = REFERENCE.sub(lambda name: names[name[0]], value)
    if key == "style":
        return re.sub(r"([:;]) ", r"\1", value)
    return NUMBER.sub(lambda number: f"{round(float(number[0]), 4 if key == 'transform' else 2):g}", value)


def _outline(path: str, letter: bool) -> str:
    """A path from point to point: in hundredths of a pixel, or of a letter in tenths of the font's whole numbers.

    >>> _outline("M 10 20.125 L 10.5 20 Q 11 19 12 20 z M 1 1 L 2 2 L 3 2 ", letter=False)
    'M10 20.12l0.5-.12q0.5-1 1.5 0zM1 1l1 1 1 0'
    """
    fine = 0.1 if letter else 100
    out, last, at, start = "", "", [0, 0], [0, 0]
    for command, numbers in STEP.findall(path):
        places = [round(fine * float(number)) for number in numbers.split()]
        if command == "M":
            moves = start = places
        else:
            moves = [place - at[axis % 2] for axis, place in enumerate(places)]
            command = command.lower()
        at = places[-2:] or start
        told = " ".join(f"{move / max(fine, 1):g}" for move in moves)
        out += f" {told}" if command == last != "M" else command + told
        last = command
    return re.sub(r"\b0\.", ".", out.replace(" -", "-"))
