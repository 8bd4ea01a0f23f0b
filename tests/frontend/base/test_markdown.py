import pytest

from frontend.base.help import render_markdown


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt&colon;alert(1))",
        "[x](data:text/html,<script>alert(1)</script>)",
        "![x](https://tracker.example/x.png)",
        '[x](/a "\\"><script>alert(1)</script>")',
        "<javascript:alert(1)>",
    ],
)
def test_nothing_harmful_comes_through(text: str) -> None:
    html = render_markdown(text)
    assert "<script" not in html
    assert "<img" not in html
    for scheme in ("javascript:", "data:"):
        assert f'href="{scheme}' not in html.lower()


def test_headings_start_at_two_and_links_are_marked() -> None:
    html = render_markdown("# One\n\n###### Six\n\n[there](https://example.org)\n\n| a | b |\n|---|---|\n| 1 | 2 |")
    assert "<h2>One</h2>" in html
    assert "<h6>Six</h6>" in html
    assert 'rel="nofollow noopener noreferrer"' in html
    assert '<table tabindex="0">' in html


def test_what_is_wider_than_the_window_can_be_scrolled_by_keyboard() -> None:
    html = render_markdown("```py\na < b\n```\n\n    indented\n\n| | b |\n|---|---|\n| 1 | 2 |\n")
    assert html.count('<pre tabindex="0"><code>') == 2
    assert "a &lt; b" in html
    assert "<td></td>\n<th>b</th>" in html
