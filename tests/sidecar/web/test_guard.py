from __future__ import annotations

from pathlib import Path

import httpx2 as httpx
import pytest

from sidecar.web.guard import HEADERS, Guard

from .conftest import TOKEN, Site, serving

PAGES = ("/", "/records", "/record/decision-1", "/timeline", "/graph", "/graph?about=decision-1", "/candidates",
         "/contradictions", "/receipts", "/gate", "/health", "/no/such/page")  # fmt: skip


@pytest.fixture
def stranger() -> httpx.Client:
    """Return a client without the cookie."""
    return httpx.Client(timeout=30, trust_env=False)


def test_without_the_token_there_is_no_page(site: Site, stranger: httpx.Client) -> None:
    """Each address but the style sheet and the scripts needs the cookie; what is refused holds no record."""
    for page in PAGES:
        answer = stranger.get(site.base + page)
        assert (answer.status_code, "quartzcanary" in answer.text) == (401, False), page
        assert "open the whole address" in answer.text
    assert stranger.get(f"{site.base}/?token=wrong").status_code == 401
    assert stranger.get(site.base + "/static/style.css").status_code == 200


def test_the_token_is_exchanged_for_a_cookie_and_leaves_the_address(site: Site, stranger: httpx.Client) -> None:
    """The cookie is no copy of the token, is out of reach of scripts, and is never sent from another site."""
    answer = stranger.get(f"{site.base}/records?kind=fact&token={TOKEN}")
    assert (answer.status_code, answer.headers["location"]) == (303, "/records?kind=fact")
    cookie = answer.headers["set-cookie"]
    assert TOKEN not in cookie
    assert cookie.startswith(f"sidecar-{site.port}=")
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(cookie.split("; "))
    assert stranger.get(f"{site.base}/records").status_code == 200


def test_a_redirect_stays_on_this_server(site: Site, stranger: httpx.Client) -> None:
    """An address that begins with two slashes would name another host: the exchange never leads there."""
    answer = stranger.get(f"{site.base}//evil.example/x?token={TOKEN}")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/evil.example/x"


def test_another_host_is_refused(site: Site) -> None:
    """A name that was pointed at this machine (DNS rebinding) reaches no page, not even with the cookie."""
    for host in ("evil.example", f"evil.example:{site.port}", f"127.0.0.1:{site.port + 1}", "127.0.0.1", ""):
        assert site.get("/records", host=host).status_code in (400, 421), host
    for name in ("127.0.0.1", "localhost", "[::1]", "LOCALHOST"):
        assert site.get("/records", host=f"{name}:{site.port}").status_code == 200


def test_another_origin_is_refused(site: Site) -> None:
    """A page of another origin gets nothing, not even with the cookie; our own gets its pages."""
    for origin in ("http://evil.example", "null", f"http://127.0.0.1:{site.port + 1}", "file://"):
        assert site.get("/records", origin=origin).status_code == 403, origin
    assert site.get("/records", origin=site.base).status_code == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_nothing_can_be_sent(site: Site, method: str) -> None:
    """Only GET and HEAD are answered: no page takes a change."""
    assert site.browser.request(method, f"{site.base}/records").status_code == 405


def test_every_answer_has_the_headers(site: Site, stranger: httpx.Client) -> None:
    """Pages, errors, refusals and scripts forbid foreign content, frames, sniffing and telling where one comes from."""
    for answer in (
        site.get("/"), site.get("/record/none"), site.get("/records?kind=x"), site.get("/static/app.js"),
        stranger.get(site.base), site.get("/", host="evil.example"), stranger.get(f"{site.base}/?token={TOKEN}"),
    ):  # fmt: skip
        for name, value in HEADERS.items():
            assert answer.headers[name] == value, (answer.url, name)
        assert "server" not in answer.headers
    policy = HEADERS["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert site.get("/records").headers["cache-control"] == "no-store"


def test_static_files_end_at_their_folder(site: Site) -> None:
    """No path leads out of the folder of style sheet and scripts."""
    for path in ("/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/static/vendor/", "/static/"):
        answer = site.get(path)
        assert (answer.status_code, "Guard" in answer.text) == (404, False), path


def test_two_servers_do_not_share_a_cookie(shop: Path) -> None:
    """Cookies do not tell ports apart, so each server's has its own name and value."""
    with serving(shop) as one, serving(shop) as other:
        assert one.get("/records").status_code == 200
        other.browser.cookies.clear()
        assert other.get("/records", cookie=f"sidecar-{other.port}={TOKEN}").status_code == 401
        held = one.browser.cookies.get(f"sidecar-{one.port}")
        assert other.get("/records", cookie=f"sidecar-{other.port}={held}").status_code == 401


def test_a_guard_that_checks_nothing_is_seen(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control: without its checks a stranger reads the records, so the tests above prove the guard."""
    monkeypatch.setattr(Guard, "_refusal", lambda *_: None)
    monkeypatch.setattr(Guard, "_entrance", lambda *_: None)
    with serving(shop) as site:
        site.browser.cookies.clear()
        assert "quartzcanary" in site.get("/records", host="evil.example", origin="http://evil.example").text
