"""The HTML of records in small pure functions, for the pages of `sidecar explore` and for a site made of plain files.

Whatever a record says is escaped; `clean` is the one way out, so that no control, bidirectional or invisible
character leaves it raw, wherever it came from (an entity in a Markdown text among them). Pure, but for templates.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any
from urllib.parse import quote, urlsplit

from jinja2 import Environment, PackageLoader
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup, escape

from sidecar.quote import safe

Link = Callable[[str], str]
"""Returns the URL of the record with an id, or "" where there is none."""

OUTWARD = ("http", "https", "mailto")
"""What a link of a record may lead to; nothing is fetched before a person follows it."""
STATUS_WORDS: Mapping[str, str] = {
    "accepted": "decided, and in force",
    "verified": "checked, and in force",
    "unverified": "told, not checked yet",
    "rejected": "decided against",
    "proposed": "not decided yet",
    "candidate": "proposed by an agent, not reviewed",
    "deprecated": "still there, no longer advised",
    "superseded": "replaced by a later record",
    "refuted": "shown to be wrong",
    "historical": "no longer in force",
    "unknown": "its file names no status that is known",
}
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*[A-Za-z0-9]")
_FIRST_LEVEL = 3
"""A body stands below a page's title and the heading over it."""


def no_link(_ident: str) -> str:
    """Link nothing."""
    return ""


def clean(page: str) -> str:
    """Return a finished page as it may be sent: what could hide or turn text stands in it visibly."""
    return safe(page)


def status(name: str) -> Markup:
    """Return a status in its word, with the colour that goes with it."""
    word = name if name in STATUS_WORDS else "missing" if name == "missing" else "unknown"
    return Markup('<span class="status s-{}">{}</span>').format(word, name)


def record_path(ident: str) -> str:
    """Return the last part of a record's address."""
    return quote(ident, safe="")


def markdown(text: str, link: Link = no_link) -> Markup:
    """Return the HTML of a record's Markdown: no HTML of its own, no pictures, links only to the web and by mail.

    Its headings begin at level 3 and skip none. Words that are ids of records become links by ``link``.
    """
    tokens = _parser().parse(text)
    _level_headings(tokens)
    for token in tokens:
        if token.children:
            token.children = list(_inline(token.children, link))
    page = clean(str(_parser().renderer.render(tokens, _parser().options, {})))
    return Markup(page)  # noqa: S704 - the renderer escaped it


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable(["image"])


def _level_headings(tokens: Sequence[Token]) -> None:
    used = sorted({token.tag for token in tokens if token.type == "heading_open"})
    new = {tag: min(_FIRST_LEVEL + at, 6) for at, tag in enumerate(used)}
    level = _FIRST_LEVEL - 1
    for token in tokens:
        if token.type == "heading_open":
            level = min(new[token.tag], level + 1)
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{level}"


def _inline(tokens: Iterable[Token], link: Link) -> Iterable[Token]:
    """Yield the tokens of one paragraph with its links made safe, and ids of records as links."""
    beside, inside = "", False
    for token in tokens:
        if token.type == "link_open":
            beside, inside = _guard(token), True
        elif token.type == "link_close":
            token.tag = "span" if beside else "a"
            yield token
            yield from [Token("text", "", 0, content=f" ({beside})")] if beside else []
            beside, inside = "", False
            continue
        elif token.type in ("text", "code_inline") and not inside:
            yield from _linked(token, link)
            continue
        yield token


def _guard(token: Token) -> str:
    """Make a link safe; of one that leads nowhere from here return its target, to be shown as text."""
    href = str(token.attrs.get("href", ""))
    try:
        scheme = urlsplit(href).scheme.lower()
    except ValueError:
        scheme = ""
    if scheme in OUTWARD:
        token.attrs = {"href": href, "rel": "noopener noreferrer"}
        return ""
    token.tag, token.attrs = "span", {}
    return href or "no address"


def _linked(token: Token, link: Link) -> Iterable[Token]:
    """Yield a text with the ids in it as links; code only where it is an id and nothing else."""
    text = token.content
    if token.type == "code_inline":
        url = link(text) if _WORD.fullmatch(text) else ""
        yield from _anchor(url, token) if url else [token]
        return
    at = 0
    for found in _WORD.finditer(text):
        if url := link(found.group()):
            yield Token("text", "", 0, content=text[at : found.start()])
            yield from _anchor(url, Token("text", "", 0, content=found.group()))
            at = found.end()
    yield Token("text", "", 0, content=text[at:])


def _anchor(url: str, inner: Token) -> list[Token]:
    return [Token("link_open", "a", 1, attrs={"href": url}), inner, Token("link_close", "a", -1)]


def diff_lines(lines: Iterable[str]) -> Markup:
    """Return a unified diff as a list of lines, each told apart by a class and by its sign."""
    kinds = {"+": "add", "-": "del", "@": "at"}
    rows = [Markup('<span class="{}">{}</span>').format(kinds.get(line[:1], "same"), line) for line in lines]
    return Markup('<pre class="diff" tabindex="0">{}</pre>').format(Markup("\n").join(rows))


def words(name: str) -> str:
    """Return a key as words."""
    return name.replace("_", " ")


def sentence(text: str) -> str:
    """Return a text with its first letter large, and nothing else changed."""
    return text[:1].upper() + text[1:]


def plural(count: int, one: str, many: str = "") -> str:
    """Return a count with its noun."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


@cache
def environment() -> Environment:
    """Return the templates, which escape whatever they are given."""
    found = Environment(loader=PackageLoader("sidecar.web"), autoescape=True, trim_blocks=True, lstrip_blocks=True)
    found.filters |= {
        "status": status,
        "words": words,
        "record_path": record_path,
        "safe_url": _web_only,
        "sentence": sentence,
    }
    found.globals |= {"plural": plural, "status_words": STATUS_WORDS}
    return found


def _web_only(url: str) -> str:
    """Return a URL of a record's source if a link may lead to it, else ""."""
    return url if url.lower().startswith(("http://", "https://")) else ""


def render(template: str, values: Mapping[str, Any]) -> str:
    """Return a page, cleaned."""
    return clean(environment().get_template(template).render(values))


__all__ = ["Markup", "clean", "diff_lines", "environment", "escape", "markdown", "plural", "record_path", "render"]
