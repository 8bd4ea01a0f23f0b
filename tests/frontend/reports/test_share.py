"""A report for readers without an account: who makes and revokes its links, and that nothing of one person or of one
unit is told."""

from __future__ import annotations

import copy
import re
from datetime import timedelta
from io import BytesIO

import pytest
from django.test import Client
from django.utils import timezone
from pypdf import PdfReader

from annotate.models import AuditEntry, Label, Rater, Sample, User
from annotate.projects.write import set_member
from judges.models import ReportLink, Score
from judges.reports.links import create_link, shared_report
from judges.reports.read import one_report
from tests.clients import as_user
from tests.config.hidden_world import SLUG, Hidden, hidden_world

KEYS = ("grade", "support")


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> Hidden:
    return hidden_world()


@pytest.fixture
def world(_world: Hidden, db: None) -> Hidden:
    return copy.deepcopy(_world)


def made_link(world: Hidden, key: str = "grade", days: int = 30) -> tuple[ReportLink, str]:
    """By a browser: the link, and its address."""
    page = as_user(world.users["alice"]).post(f"/p/{SLUG}/reports/{key}/share/", {"days": days})
    assert page.status_code == 201
    (address,) = re.findall(r'value="http://testserver(/shared/[^"]+)"', page.content.decode())
    return ReportLink.objects.latest("pk"), address


def test_an_admin_makes_a_link_that_is_shown_once(world: Hidden) -> None:
    url = f"/p/{SLUG}/reports/grade/share/"
    alice = as_user(world.users["alice"])
    assert url in alice.get(f"/p/{SLUG}/reports/grade/").content.decode()
    link, address = made_link(world, days=7)
    token = address.split("/")[2]
    assert token not in (link.token_digest, alice.get(url).content.decode())
    assert timedelta(days=6, hours=23) < link.expires_at - timezone.now() < timedelta(days=7)
    again = alice.get(url).content.decode()
    assert token not in again
    assert f"{url}{link.pk}/revoke/" in again
    entry = AuditEntry.objects.latest("pk")
    assert (entry.action, entry.subject, entry.actor) == ("report.shared", str(link.pk), world.users["alice"])
    assert token not in str(entry.details)
    assert alice.post(url, {"days": 365}).status_code == 422


def test_only_admins_share(world: Hidden) -> None:
    link, _address = made_link(world)
    for name in ("rita", "zann"):
        client = as_user(world.users[name])
        for url in (f"/p/{SLUG}/reports/grade/share/", f"/p/{SLUG}/reports/grade/share/{link.pk}/revoke/"):
            assert client.post(url, {"days": 7}).status_code == 403
    assert "share/" not in as_user(world.users["rita"]).get(f"/p/{SLUG}/reports/grade/").content.decode()
    stranger = User.objects.create_user("stranger")
    assert as_user(stranger).post(f"/p/{SLUG}/reports/grade/share/", {"days": 7}).status_code == 404


def test_the_link_works_without_an_account_and_is_kept_nowhere(world: Hidden) -> None:
    _link, address = made_link(world)
    page = Client().get(address)
    assert page.status_code == 200
    assert "noindex" in page["X-Robots-Tag"]
    assert '<meta name="robots" content="noindex, nofollow">' in page.content.decode()
    assert "no-store" in page["Cache-Control"]
    assert page["Referrer-Policy"] == "no-referrer"
    assert 'class="plot"' in page.content.decode()
    pdf = Client().get(f"{address}summary.pdf")
    assert pdf["Content-Type"] == "application/pdf"
    assert "no-store" in pdf["Cache-Control"]
    assert Client().post(address).status_code == 405


def test_a_link_that_does_not_work_is_like_any_other(world: Hidden) -> None:
    client, replies = Client(), []
    revoked, of_revoked = made_link(world)
    url = f"/p/{SLUG}/reports/grade/share/{revoked.pk}/revoke/"
    as_user(world.users["alice"]).post(url)
    assert AuditEntry.objects.latest("pk").action == "report.unshared"
    expired, of_expired = made_link(world)
    ReportLink.objects.filter(pk=expired.pk).update(expires_at=timezone.now())
    _orphan, of_orphan = made_link(world)
    set_member(project=world.project, user=world.users["alice"], role="reviewer", actor=world.users["aldo"])
    for address in (of_revoked, of_expired, of_orphan, "/shared/no-such-link/"):
        for one in (address, f"{address}summary.pdf"):
            reply = client.get(one)
            assert reply.status_code == 404
            replies.append(
                re.sub(r'(?:name="(?:csrfmiddlewaretoken|next)" value|nonce)="[^"]*"', "", reply.content.decode())
            )
    assert len(set(replies)) == 1
    assert "This link doesn’t work" in replies[0]


def test_guesses_are_limited(world: Hidden) -> None:
    client = Client()
    statuses = [client.get(f"/shared/guess-{place}/").status_code for place in range(40)]
    assert statuses[0] == 404
    assert statuses[-1] == 429


@pytest.mark.parametrize("key", KEYS)
def test_nothing_of_one_person_or_one_unit_is_told(world: Hidden, key: str) -> None:
    _link, address = made_link(world, key)
    client = Client()
    pdf = PdfReader(BytesIO(client.get(f"{address}summary.pdf").content))
    told = client.get(address).content.decode() + "".join(page.extract_text() for page in pdf.pages)
    people = {*Rater.objects.values_list("name", flat=True), *User.objects.values_list("username", flat=True)}
    samples = {*Sample.objects.values_list("external_id", flat=True), "Claim one", "Claim two", "v7"}
    said = {*Label.objects.values_list("comment", flat=True), *Score.objects.values_list("rationale", flat=True)}
    assert {"zann", "zimp"} < people
    for secret in (people | samples | said) - {""}:
        assert not re.search(rf"(?<!\w){re.escape(secret)}(?!\w)", told), secret
    assert re.search(r"Annotator \d", told)
    # What one could find by, or ask for.
    assert f"/p/{SLUG}" not in told
    assert "/api/" not in told


@pytest.mark.parametrize("key", KEYS)
def test_what_later_versions_add_is_not_told(world: Hidden, key: str) -> None:
    """Only what is named goes out, down to each judge."""
    report = one_report(world.project, 1 if key == "support" else 2, reader=world.users["alice"])
    assert report.criterion.key == key
    whole = copy.deepcopy(report.result)
    whole["new"] = whole["agreement"]["new"] = whole["reference"]["new"] = "secret"
    for judge in whole["judges"]:
        judge["new"] = "secret"
    type(report).objects.filter(pk=report.pk).update(result=whole, plots={**report.plots, "new": "<svg>secret</svg>"})
    report.refresh_from_db()
    _made, token = create_link(actor=world.users["alice"], report=report)
    found = shared_report(token)
    assert "secret" not in str(found.result)
    assert "new" not in found.plots
    assert all("disagreements" not in judge and "slices" not in judge for judge in found.result["judges"])


def test_a_link_of_an_archived_project_is_revoked_and_none_is_made(world: Hidden) -> None:
    link, address = made_link(world)
    type(world.project).objects.filter(pk=world.project.pk).update(archived_at=timezone.now())
    alice, url = as_user(world.users["alice"]), f"/p/{SLUG}/reports/grade/share/"
    assert f"{url}{link.pk}/revoke/" in alice.get(url).content.decode()
    assert alice.post(url, {"days": 7}).status_code == 403
    assert Client().get(address).status_code == 200
    assert alice.post(f"{url}{link.pk}/revoke/").status_code == 302
    assert Client().get(address).status_code == 404
