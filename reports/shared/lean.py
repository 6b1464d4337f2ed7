"""Lean pictures: an SVG element with everything taken out of it that nobody sees."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from itertools import count

SVG = "http://www.w3.org/2000/svg"
XLINK = "{http://www.w3.org/1999/xlink}href"
INVISIBLE = "fill: none"
"""Style of the patches behind figure and axes, which have no edge."""


def lean(text: str) -> str:
    """Make an SVG element of `dpassay.reports.shared.figures.as_svg` small: it looks the same.

    Coordinates have one decimal (shapes that are used many times two), groups without
    attributes and patches without paint go, ids are short, and styles stand once, as classes.
    Its id has letters, digits and dashes only.
    """
    root = ET.fromstring(text)  # noqa: S314 (our own text)
    name = root.attrib["id"]
    _unwrap(root)
    _rename(root, name)
    styles: dict[str, str] = {}
    for element in root.iter():
        _shorten(element)
        if (looks := element.attrib.pop("style", None)) is not None:
            looks = re.sub(r" font-family: [^;]+;", "", _rounded(looks, 2))
            looks = re.sub(r"([:;]) ", r"\1", looks)
            element.set("class", styles.setdefault(looks, f"s{len(styles)}"))
    style = ET.Element("style")
    rules = "".join(f"#{name} .{short}{{{looks}}}" for looks, short in styles.items())
    style.text = f"#{name} *{{stroke-linejoin:round}}{rules}"
    root.insert(2, style)
    for element in root.iter():
        element.tag = element.tag.removeprefix(f"{{{SVG}}}")
        element.tail = None
        if not element.text or not element.text.strip():
            element.text = None
    root.set("xmlns", SVG)
    return ET.tostring(root, encoding="unicode").replace(" />", "/>") + "\n"


def _unwrap(parent: ET.Element) -> None:
    """Put the children of groups without attributes in their place; drop what has no paint."""
    for child in list(parent):
        _unwrap(child)
    found: list[ET.Element] = []
    for child in parent:
        tag = child.tag.removeprefix(f"{{{SVG}}}")
        if tag == "g" and not child.attrib:
            found += list(child)
        elif not _idle(tag, child):
            found.append(child)
    parent[:] = found


def _idle(tag: str, element: ET.Element) -> bool:
    """Return whether an element shows nothing: a path without paint, or of one point only."""
    if tag == "path":
        return element.get("style") == INVISIBLE or not set("LCQHVz") & set(element.get("d", ""))
    return tag == "style" or (tag == "defs" and not len(element))


def _rename(root: ET.Element, name: str) -> None:
    """Give what is referred to short ids."""
    keep = {name, f"{name}-title", f"{name}-desc"}
    numbers = count()
    short = {
        element.attrib["id"]: f"{name}-{next(numbers)}"
        for element in root.iter()
        if element.get("id", name) not in keep
    }
    for element in root.iter():
        if element.get("id") in short:
            element.set("id", short[element.attrib["id"]])
        target = element.attrib.pop(XLINK, None)
        if target is not None:
            element.set("href", f"#{short.get(target[1:], target[1:])}")
        clip = element.get("clip-path")
        if clip is not None:
            element.set("clip-path", f"url(#{short.get(clip[5:-1], clip[5:-1])})")


def _shorten(element: ET.Element) -> None:
    digits = 2 if "id" in element.attrib else 1
    if "d" in element.attrib:
        path = re.sub(r"\s+", " ", _rounded(element.attrib["d"], digits)).strip()
        element.set("d", re.sub(r" ?([A-Za-z]) ?", r"\1", path))
    for key in ("x", "y", "width", "height"):
        if key in element.attrib:
            element.set(key, _rounded(element.attrib[key], digits))
    turn = element.get("transform", "")
    if turn.startswith("rotate(-0 "):
        del element.attrib["transform"]
    elif turn:
        element.set("transform", _rounded(turn, digits))


def _rounded(text: str, digits: int) -> str:
    def short(match: re.Match[str]) -> str:
        number = f"{float(match[0]):.{digits}f}".rstrip("0").rstrip(".")
        return "0" if number == "-0" else number

    return re.sub(r"-?\d+\.\d+(?:e-?\d+)?", short, text)
