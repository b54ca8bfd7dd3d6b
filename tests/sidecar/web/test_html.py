from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.quote import safe
from sidecar.web import html
from sidecar.web.html import clean, diff_lines, environment, markdown, record_path, status

ATTACKS = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "</title><script>alert(1)</script>",
    '"><svg onload=alert(1)>',
    "' onfocus=alert(1) autofocus x='",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](java\tscript:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](data:text/html,<script>alert(1)</script>)",
    "[x](vbscript:msgbox(1))",
    "[x](file:///etc/passwd)",
    "[x](//evil.example/y)",
    "[x](/receipts?replay=1)",
    "[x](https://evil.example/%22onmouseover=alert(1))",
    "[x]: javascript:alert(1)\n\n[x]",
    "![x](https://evil.example/x.png)",
    "![x](javascript:alert(1))",
    "<https://evil.example/<script>>",
    "<javascript:alert(1)>",
    "`<script>alert(1)</script>`",
    "```html\n<script>alert(1)</script>\n```",
    "    <script>alert(1)</script>",
    "| <b>a</b> |\n|-|\n| <script>x</script> |",
    "<!-- --><iframe src=//evil.example></iframe>",
    "{{ 7 * 7 }}{% raw %}",
    "# <h1 onclick=alert(1)>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    '```" onmouseover="alert(1)\nx\n```',
    "<style>*{display:none}</style><link rel=stylesheet href=//evil.example>",
    "<form action=//evil.example><button>",
    "<meta http-equiv=refresh content=0;url=//evil.example>",
)  # fmt: skip
ALLOWED = {
    "p", "h3", "h4", "h5", "h6", "ul", "ol", "li", "a", "span", "code", "pre", "em", "strong", "s", "blockquote", "hr",
    "br", "table", "thead", "tbody", "tr", "th", "td",
}  # fmt: skip


class Tags(HTMLParser):
    """Collects what a browser would see as tags."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep one."""
        self.found.append((tag, dict(attrs)))


def check(text: str) -> None:
    """Fail where a text holds a tag, an attribute or an address that a record must not bring in."""
    for tag, attributes in Tags(text).found:
        assert tag in ALLOWED, (tag, text)
        assert set(attributes) <= {"href", "rel", "class", "start", "style"}, (attributes, text)
        if "href" in attributes:
            assert re.match(r"(https?:|mailto:|/record/)", str(attributes["href"]), re.IGNORECASE), text
        if "style" in attributes:  # the alignment of a table's cell; our policy lets no style attribute count
            assert attributes["style"] in {"text-align:left", "text-align:right", "text-align:center"}


@pytest.mark.parametrize("attack", ATTACKS)
def test_markdown_of_a_record_brings_nothing_in(attack: str) -> None:
    """No tag but those of plain text, no attribute that acts, no address but the web, mail, and our own records."""
    check(markdown(attack))
    check(markdown(f"# T\n\n> {attack}\n\n- {attack}\n"))


@given(st.text(alphabet=st.sampled_from(list("<>\"'&[]()!`*_#|:/\\\n \tahrefjvscipt=-x1;%{}")), max_size=80))
def test_no_text_at_all_brings_a_tag_in(text: str) -> None:
    """Whatever stands in a body, the rule above holds."""
    check(markdown(text))


def test_html_that_is_let_through_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control: with HTML switched on, the check above fails."""
    from markdown_it import MarkdownIt

    monkeypatch.setattr(html, "_parser", lambda: MarkdownIt("commonmark", {"html": True}))
    with pytest.raises(AssertionError):
        check(markdown(ATTACKS[0]))


def test_headings_begin_below_the_page_and_skip_none() -> None:
    """A body's headings start at level 3 and never jump down by two, for those who walk a page by its headings."""
    assert re.findall(r"<h(\d)", markdown("# A\n\n### B\n\n#### C\n\n# D")) == ["3", "4", "5", "3"]
    assert re.findall(r"<h(\d)", markdown("### B\n\n# A\n\n### C")) == ["3", "3", "4"]


def test_ids_of_records_become_links_and_nothing_else_does() -> None:
    """A word that is a record's id leads to it, in text and as code; inside a link or longer code it does not."""
    link = {"decision-1": "/record/decision-1"}.get
    made = markdown("See decision-1, `decision-1`, [decision-1](https://x.y), `a decision-1`.", lambda i: link(i) or "")
    assert made.count('href="/record/decision-1"') == 2
    assert '<a href="https://x.y" rel="noopener noreferrer">decision-1</a>' in made


def test_a_link_that_leads_nowhere_shows_where_it_would_have_led() -> None:
    """A relative link of a document has no page here: its text stays, and its target stands beside it."""
    assert markdown("[the ADR](../adr/1.md)") == "<p><span>the ADR</span> (../adr/1.md)</p>\n"


@pytest.mark.parametrize("text", ["a\u202eb", "a\x1b[31mb", "a\u200bb", "a&#x202e;b", "a\x00b", "\ufeffa"])
def test_what_turns_or_hides_text_stands_visibly(text: str) -> None:
    """Control, bidirectional and invisible characters come out as escapes, from an entity too."""
    made = markdown(text)
    assert safe(made) == made
    if "&" in text:
        assert "\\u202e" in made


def test_a_finished_page_is_cleaned_whatever_made_it() -> None:
    """The one way out escapes what a template let through."""
    assert clean("<p>\u2066x</p>") == "<p>\\u2066x</p>"


def test_templates_escape() -> None:
    """A value in a template is text, in an element and in an attribute."""
    made = environment().from_string('<a title="{{ x }}">{{ x }}</a>').render(x='"><script>')
    assert made == '<a title="&#34;&gt;&lt;script&gt;">&#34;&gt;&lt;script&gt;</a>'


def test_a_status_is_a_word_with_a_class_of_ours() -> None:
    """A status is told in words; one that is not known gets no class of its own making."""
    assert status("accepted") == '<span class="status s-accepted">accepted</span>'
    assert status('x" onclick="') == '<span class="status s-unknown">x&#34; onclick=&#34;</span>'


def test_a_diff_is_text() -> None:
    """Lines of a diff are escaped and told apart."""
    made = diff_lines(["@@ -0,0 +1 @@", "+<script>", "-a", " b"])
    assert '<span class="add">+&lt;script&gt;</span>' in made
    assert [tag for tag, _ in Tags(made).found] == ["pre", "span", "span", "span", "span"]


def test_an_address_holds_any_id() -> None:
    """Whatever an id holds, it stays one part of an address."""
    assert record_path("a/b?c#d e") == "a%2Fb%3Fc%23d%20e"
