"""Reads a page's markup as a browser would, for tests that need no browser."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser

VOID = {"meta", "line", "rect", "input", "br", "circle", "path"}


class Node:
    """An element with its attributes and what is in it."""

    def __init__(self, tag: str, attributes: dict[str, str]) -> None:
        self.tag = tag
        self.attributes = attributes
        self.children: list[Node | str] = []

    @property
    def text(self) -> str:
        """Like `textContent`."""
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    @property
    def words(self) -> str:
        """The text with single blanks."""
        return " ".join(self.text.split())

    def all(self, name: str) -> list[Node]:
        """The elements under this one with that tag, or with that class when it begins with a dot."""
        return [node for node in self._under() if name in (node.tag, *_dotted(node))]

    def only(self, name: str) -> Node:
        """The only such element."""
        [node] = self.all(name)
        return node

    def at(self, name: str) -> float:
        """The number in an attribute, in whatever unit."""
        return float(self.attributes[name].rstrip("%"))

    @property
    def points(self) -> list[tuple[float, float]]:
        """The corners of a polygon or a polyline."""
        pairs = (pair.split(",") for pair in self.attributes["points"].split())
        return [(float(x), float(y)) for x, y in pairs]

    def _under(self) -> Iterator[Node]:
        for child in self.children:
            if isinstance(child, Node):
                yield child
                yield from child._under()


def _dotted(node: Node) -> list[str]:
    return [f".{name}" for name in node.attributes.get("class", "").split()]


class _Builder(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open = [Node("", {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node = Node(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(node)
        if tag not in VOID:
            self.open.append(node)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open[-1].children.append(Node(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
            self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


def read_markup(html: str) -> Node:
    """The tree of a page; an end tag that closes another element is an error."""
    builder = _Builder()
    builder.feed(html)
    builder.close()
    return builder.open[0]
