"""Building blocks of a page of HTML: text is escaped, what is already markup is not."""

import base64
import html
import io
from collections.abc import Iterable, Sequence
from typing import Union

from matplotlib.figure import Figure

VOID = {"img", "meta", "br"}
RASTER_DPI = 150


class Markup(str):
    """Text that is HTML already."""


Child = Union[str, Iterable["Child"]]  # noqa: UP007 (a string cannot be joined with |)


def tag(name: str, /, *children: Child, **attributes: str | int | bool | None) -> Markup:
    """An element.

    In the names of attributes a closing underscore is dropped (`class_`) and others become dashes (`aria_label`); True
    is an attribute without a value, False and None are none.
    """
    words = [name]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        key = key.rstrip("_").replace("_", "-")
        words.append(key if value is True else f'{key}="{html.escape(str(value))}"')
    opening = f"<{' '.join(words)}>"
    return Markup(opening if name in VOID else f"{opening}{join(children)}</{name}>")


def join(children: Child) -> Markup:
    """Children one after the other; plain text is escaped."""
    if isinstance(children, Markup):
        return children
    if isinstance(children, str):
        return Markup(html.escape(children, quote=False))
    return Markup("".join(map(join, children)))


def section(anchor: str, title: str, *children: Child) -> Markup:
    """A part of the page under a heading of its own."""
    heading = tag("h2", title, id=anchor)
    return tag("section", heading, *children, aria_labelledby=anchor)


def missing(sentence: str) -> Markup:
    """Says what is not there, and why."""
    return tag("p", sentence, class_="missing")


def table(
    caption: str, header: Sequence[str], rows: Iterable[Sequence[Child]], *, numbers: Iterable[int] = ()
) -> Markup:
    """A table whose first column names its rows; the columns of `numbers` are aligned to the right.

    Where it is wider than the page it scrolls by itself, with the keyboard too.
    """
    right = set(numbers)
    kind = lambda column: "number" if column in right else None  # noqa: E731
    head = tag("tr", *(tag("th", name, scope="col", class_=kind(i)) for i, name in enumerate(header)))
    body = [
        tag(
            "tr",
            tag("th", row[0], scope="row"),
            *(tag("td", cell, class_=kind(i)) for i, cell in enumerate(row[1:], 1)),
        )
        for row in rows
    ]
    whole = tag("table", tag("caption", caption), tag("thead", head), tag("tbody", *body))
    return tag("div", whole, class_="scroll", role="region", aria_label=caption, tabindex=0)


def picture(figure: Figure, alt: str, caption: Child, *, raster: bool = False, wide: bool = False) -> Markup:
    """A figure as part of the page: vectors, or pixels where it holds images or very many lines.

    A wide one keeps a readable size on a small screen and scrolls by itself.
    """
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png" if raster else "svg", dpi=RASTER_DPI)
    kind = "image/png" if raster else "image/svg+xml"
    width, height = figure.get_size_inches()
    image = tag(
        "img", src=data_uri(kind, drawn.getvalue()), alt=alt, width=round(96 * width), height=round(96 * height)
    )
    if wide:
        image = tag("div", image, class_="scroll", role="region", aria_label=alt, tabindex=0)
    return tag("figure", image, tag("figcaption", caption), class_="wide" if wide else None)


def film(content: bytes, label: str, caption: Child) -> Markup:
    """A silent video as part of the page."""
    video = tag(
        "video",
        src=data_uri("video/mp4", content),
        controls=True,
        loop=True,
        muted=True,
        playsinline=True,
        preload="auto",
        aria_label=label,
    )
    return tag("figure", video, tag("figcaption", caption))


def data_uri(kind: str, content: bytes) -> str:
    """Content as an address that loads nothing."""
    return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"


def page(
    title: str, style: str, introduction: Child, sections: Sequence[tuple[str, str, Markup]], footer: Child
) -> str:
    """A whole document; `sections` are (anchor, short title, content)."""
    links = [tag("li", tag("a", short, href=f"#{anchor}")) for anchor, short, _ in sections]
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        tag("style", Markup(style)),
    )
    body = tag(
        "body",
        tag("a", "Skip to the content", href="#content", class_="skip"),
        tag("header", tag("h1", title), introduction),
        tag("nav", tag("ul", *links), aria_label="Sections"),
        tag("main", *(content for _, _, content in sections), id="content", tabindex=-1),
        tag("footer", footer),
    )
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en')}\n"
