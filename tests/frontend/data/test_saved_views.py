"""Views of the list of samples: saved, opened, changed and deleted, by the pages themselves."""

from functools import partial
from typing import Any

import pytest
from django.http import HttpResponse, QueryDict
from django.test import Client

from annotate.batches.archiving import archive_project
from annotate.core.errors import Conflict, Invalid
from annotate.models import AuditEntry, Criterion, Project, SavedView, User
from annotate.models.view import ViewOf
from annotate.projects.write import create_project, remove_member
from annotate.verdicts.saved_views import CONDITIONS, META, MOST_VIEWS, save_view
from frontend.batches.chosen_samples import FORMS
from judges.models import Judge
from tests.annotate.factories import concurrently
from tests.clients import as_user
from tests.frontend.building import WhoMay
from tests.frontend.conftest import give

PAGE, VIEWS = "/p/help/samples/", "/p/help/views/"
GOLD = {"m.tier": "gold", "sort": "-id"}

pytestmark = pytest.mark.usefixtures("samples")

keep = partial(save_view, of=ViewOf.SAMPLES)


def save(client: Client, query: str, name: str = "Gold", **more: Any) -> HttpResponse:
    return client.post(f"{VIEWS}samples/", {"matching": query, "name": name, **more}, follow=True)


def names(reply: HttpResponse) -> list[str]:
    return [row.sample.external_id for row in reply.context["rows"]]


def offered(user: User) -> list[str]:
    return [view["name"] for view in as_user(user).get(PAGE).context["views"]]


def trail() -> list[str]:
    return list(AuditEntry.objects.filter(action__startswith="view.").order_by("id").values_list("action", flat=True))


def test_what_is_shown_is_saved_and_opens_with_one_link(rita: User) -> None:
    client = as_user(rita)
    assert "Save as view" not in client.get(PAGE).content.decode(), "nothing is chosen"
    shown = client.get(f"{PAGE}?m.tier=gold&sort=-id&q=&status=")
    assert "Save as view" in shown.content.decode()
    saved = save(client, shown.context["shown"], "  Gold \n tier ")
    assert "View “Gold tier” saved." in saved.content.decode()
    assert SavedView.objects.get().conditions == GOLD
    view = client.get(PAGE).context["views"][0]
    opened = client.get(PAGE + view["url"])
    assert names(opened) == ["s3", "s1"]
    assert opened.context["opened"].name == "Gold tier"
    assert not opened.context["is_changed"]
    assert all("view=" in column["url"] for column in opened.context["columns"] if "url" in column)
    assert trail() == [], "a view of one's own is nobody else's business"


def test_a_changed_list_updates_the_view_or_becomes_another(rita: User) -> None:
    client = as_user(rita)
    save(client, "m.tier=gold&sort=-id")
    view = SavedView.objects.get()
    changed = client.get(f"{PAGE}?m.tier=silver&view={view.pk}")
    assert changed.context["is_changed"]
    assert "Update “Gold”" in changed.content.decode()
    assert "Save as new view" in changed.content.decode()
    again = client.post(f"{VIEWS}{view.pk}/update/", {"matching": changed.context["shown"]}, follow=True)
    assert names(again) == ["s0", "s2"]
    view.refresh_from_db()
    assert (view.name, view.conditions) == ("Gold", {"m.tier": "silver"})
    assert not again.context["is_changed"]


def test_renamed_shared_and_private_again(rita: User, alice: User) -> None:
    client = as_user(rita)
    save(client, "m.tier=gold")
    view = SavedView.objects.get()
    assert offered(alice) == []
    client.post(f"{VIEWS}{view.pk}/", {"name": "Gold ones", "is_shared": "on"})
    assert offered(alice) == offered(rita) == ["Gold ones"]
    page = as_user(alice).get(f"{PAGE}?m.tier=gold&view={view.pk}").content.decode()
    assert "Rita" in page
    assert "Edit view" not in page
    client.post(f"{VIEWS}{view.pk}/", {"name": "Gold samples", "is_shared": "on"})
    client.post(f"{VIEWS}{view.pk}/", {"name": "Gold samples"})
    assert offered(alice) == []
    assert trail() == ["view.shared", "view.changed", "view.unshared"]
    audit = as_user(alice).get("/p/help/audit/").content.decode()
    assert "stopped sharing the view “Gold samples” of samples." in audit


def test_only_its_owner_changes_a_view_and_an_admin_deletes_a_shared_one(rita: User, alice: User) -> None:
    save(as_user(rita), "m.tier=gold", is_shared="on")
    save(as_user(rita), "m.tier=silver", "Private")
    shared, private = SavedView.objects.order_by("id")
    admin = as_user(alice)
    for step in ("", "update/"):
        assert (
            admin.post(f"{VIEWS}{shared.pk}/{step}", {"name": "Mine", "matching": "status=disputed"}).status_code == 403
        )
        assert admin.post(f"{VIEWS}{private.pk}/{step}", {"name": "Mine", "matching": "q=a"}).status_code == 404
    assert admin.post(f"{VIEWS}{private.pk}/delete/").status_code == 404
    assert set(SavedView.objects.values_list("name", flat=True)) == {"Gold", "Private"}
    assert "Delete view" in admin.get(f"{PAGE}?m.tier=gold&view={shared.pk}").content.decode()
    admin.post(f"{VIEWS}{shared.pk}/delete/", {"matching": "m.tier=gold"})
    assert SavedView.objects.get() == private
    assert trail() == ["view.shared", "view.deleted"]


def test_a_reviewer_deletes_own_views_alone(rita: User, alice: User) -> None:
    save(as_user(alice), "m.tier=gold", is_shared="on")
    save(as_user(rita), "m.tier=gold")
    theirs, own = SavedView.objects.order_by("id")
    client = as_user(rita)
    assert client.post(f"{VIEWS}{theirs.pk}/delete/").status_code == 403
    reply = client.post(f"{VIEWS}{own.pk}/delete/", {"matching": "m.tier=gold"}, follow=True)
    assert "View “Gold” deleted." in reply.content.decode()
    assert names(reply) == ["s1", "s3"], "what it showed stays on the page"
    assert SavedView.objects.get() == theirs


@pytest.mark.parametrize(
    ("name", "said", "status"),
    [
        ("gold", "You already have a view “gold”.", 409),
        ("", "This field is required.", 422),
        ("x" * 81, "at most 80 characters", 422),
        ("a\x00b", "Null characters are not allowed.", 422),
    ],
)
def test_a_name_that_cannot_be_kept_is_refused_at_its_field(rita: User, name: str, said: str, status: int) -> None:
    client = as_user(rita)
    save(client, "m.tier=gold")
    reply = save(client, "m.tier=silver", name)
    assert reply.status_code == status
    assert said in reply.content.decode()
    assert names(reply) == ["s0", "s2"], "the list is as it was"
    assert SavedView.objects.count() == 1
    other = save(client, "m.tier=silver", "Other")
    view = other.context["opened"]
    renamed = client.post(f"{VIEWS}{view.pk}/", {"name": name, "matching": "m.tier=silver"})
    assert renamed.status_code == status
    assert said in renamed.content.decode()
    assert SavedView.objects.get(pk=view.pk).name == "Other"


def test_each_list_has_its_own_views(rita: User, alice: User) -> None:
    client, units = as_user(rita), "/p/help/units/"
    save(client, "m.tier=gold")
    saved = client.post(
        f"{VIEWS}units/",
        {"matching": "criterion=support&sort=-changed", "name": "Gold", "is_shared": "on"},
        follow=True,
    )
    assert saved.redirect_chain[0][0].startswith(units)
    assert [view["name"] for view in saved.context["views"]] == ["Gold"]
    view = SavedView.objects.get(of="units")
    assert view.conditions == {"criterion": "support", "sort": "-changed"}
    assert client.get(f"{PAGE}?view={view.pk}").context["opened"] is None
    assert offered(rita) == ["Gold"]
    renamed = client.post(f"{VIEWS}{view.pk}/", {"name": "", "matching": "criterion=support"})
    assert renamed.status_code == 422
    assert renamed.context["of"] == "units"
    client.post(f"{VIEWS}{view.pk}/update/", {"matching": "status=disputed"})
    reply = client.post(f"{VIEWS}{view.pk}/delete/", follow=True)
    assert reply.redirect_chain[0][0].startswith(units)
    assert offered(rita) == ["Gold"], "that of samples stays"
    assert trail() == []
    assert (
        "deleted the shared view “Gold” of units, saved by rita."
        in as_user(alice).get("/p/help/audit/").content.decode()
    )
    assert client.post(f"{VIEWS}batches/", {"name": "Gold"}).status_code == 404


def test_the_api_keeps_the_rules_of_the_page(rita: User, alice: User) -> None:
    api, client, admin = "/api/projects/help/views/", as_user(rita), as_user(alice)

    def sent(client: Client, method: str, url: str, **data: Any) -> Any:
        return getattr(client, method)(url, data, content_type="application/json")

    conditions = {"criterion": "support", "sort": "-changed"}
    made = sent(client, "post", api, of="units", name=" To  check ", conditions=conditions, is_shared=True)
    assert made.status_code == 201
    view = made.json()
    assert (view["name"], view["conditions"], view["owner"], view["is_own"]) == ("To check", conditions, "rita", True)
    assert offered(rita) == []
    assert [one["name"] for one in as_user(alice).get("/p/help/units/").context["views"]] == ["To check"]
    again = {"of": "units", "name": "to check", "conditions": conditions}
    assert sent(client, "post", api, **again).status_code == 409
    assert (
        sent(client, "post", api, **{**again, "of": "samples", "conditions": {"value": "supported"}}).json()["error"][
            "code"
        ]
        == "unknown_filter"
    )
    assert sent(client, "post", api, **{**again, "conditions": {"q": 1}}).status_code == 422
    one = f"{api}{view['id']}/"
    assert sent(admin, "patch", one, name="Mine").status_code == 403
    changed = sent(client, "patch", one, conditions={"status": "disputed"}).json()
    assert (changed["name"], changed["conditions"], changed["is_shared"]) == ("To check", {"status": "disputed"}, True)
    assert [row["id"] for row in admin.get(f"{api}?of=units").json()] == [view["id"]]
    assert admin.get(f"{api}?of=samples").json() == []
    sent(client, "patch", one, is_shared=False)
    assert admin.get(one).status_code == 404
    assert admin.delete(one).status_code == 404
    assert client.delete(one).status_code == 204
    assert trail() == []
    assert "units_view.unshared" in AuditEntry.objects.values_list("action", flat=True)


def test_forms_and_saved_views_know_the_same_filters(project: Project, rita: User) -> None:
    for of, form in FORMS.items():
        names = form(project, QueryDict("criterion=support"), reader=rita).fields
        assert {name for name in names if not name.startswith(META)} | {"sort"} == CONDITIONS[ViewOf(of)]


def test_two_people_may_use_one_name(rita: User, alice: User) -> None:
    save(as_user(rita), "m.tier=gold", is_shared="on")
    save(as_user(alice), "m.tier=silver", is_shared="on")
    assert offered(alice) == ["Gold", "Gold"]
    assert as_user(alice).get(PAGE).context["views"][0]["owner"] is None, "one's own comes first"


@pytest.mark.parametrize("query", ["", "status=x", "m.tier=%00", "q=" + "x" * 300])
def test_nothing_to_save(rita: User, query: str) -> None:
    assert save(as_user(rita), query).status_code == 422
    assert not SavedView.objects.exists()


def test_a_filter_that_no_longer_applies_is_named_and_nothing_is_listed(
    rita: User, alice: User, project: Project
) -> None:
    client = as_user(rita)
    judge = Judge.objects.create(project=project, name="strict", kind="lexical")
    save(client, "criterion=relevance&judge=strict&m.tier=gold")
    view = SavedView.objects.get()
    address = PAGE + client.get(PAGE).context["views"][0]["url"]
    assert "no longer applies" not in client.get(address).content.decode()
    judge.delete()
    Criterion.objects.filter(project=project, key="relevance").delete()
    page = client.get(address)
    text = page.content.decode()
    assert "A filter of the view “Gold” no longer applies" in text
    assert "The criterion “relevance” no longer exists in this project, or has no verdicts." in text
    assert "The judge “strict” no longer exists in this project." in text
    assert list(page.context["rows"]) == []
    without = client.get(PAGE + page.context["without"])
    assert names(without) == ["s1", "s3"]
    assert without.context["is_changed"], "and can take the place of what was saved"
    view.refresh_from_db()
    assert view.conditions["judge"] == "strict", "opening changes nothing"


def test_there_is_an_end_to_views(rita: User, project: Project) -> None:
    for number in range(MOST_VIEWS):
        keep(actor=rita, project=project, name=f"View {number}", conditions={"q": "a"})
    reply = save(as_user(rita), "q=a", "One more")
    assert reply.status_code == 409
    assert f"You have {MOST_VIEWS} saved views." in reply.content.decode()


@pytest.mark.parametrize(
    "conditions", [{}, {"q": ""}, {"q": "a\x00"}, {"m." + "x" * 200: "a"}, {str(n): "a" for n in range(31)}]
)
def test_what_is_kept_is_bounded(rita: User, project: Project, conditions: dict[str, str]) -> None:
    with pytest.raises(Invalid):
        keep(actor=rita, project=project, name="View", conditions=conditions)


@pytest.mark.django_db(transaction=True)
def test_one_name_saved_twice_at_once_is_one_view(rita: User, project: Project) -> None:
    made = concurrently(*[lambda: keep(actor=rita, project=project, name="View", conditions={"q": "a"})] * 3)
    assert sorted(type(one).__name__ for one in made) == ["Conflict", "Conflict", "SavedView"]
    assert all(one.code == "name_taken" for one in made if isinstance(one, Conflict))


def test_who_may(who_may: WhoMay, alice: User, project: Project) -> None:
    view = keep(actor=alice, project=project, name="View", conditions={"q": "a"}, is_shared=True)
    refused = {"anonymous": 302, "annotator": 403, "stranger": 404}
    assert who_may(f"{VIEWS}samples/", "post") == {**refused, "admin": 422, "reviewer": 422}
    for step in ("", "update/", "delete/"):
        assert who_may(f"{VIEWS}{view.pk}/{step}") == dict.fromkeys(who_may(f"{VIEWS}{view.pk}/{step}"), 405) | {
            "anonymous": 302
        }
    assert who_may(f"{VIEWS}{view.pk}/", "post") == {**refused, "admin": 422, "reviewer": 422}
    # The admin, who comes first, deletes it.
    assert who_may(f"{VIEWS}{view.pk}/delete/", "post") == {**refused, "admin": 302, "reviewer": 404}


def test_views_of_another_project_do_not_exist_here(alice: User, project: Project) -> None:
    other = create_project(slug="other", spec={}, created_by=alice)
    view = keep(actor=alice, project=other, name="Elsewhere", conditions={"q": "a"}, is_shared=True)
    assert offered(alice) == []
    for step in ("", "update/", "delete/"):
        assert as_user(alice).post(f"{VIEWS}{view.pk}/{step}", {"name": "b", "matching": "q=b"}).status_code == 404


def test_an_archived_project_shows_its_views_and_keeps_them(alice: User, project: Project) -> None:
    view = keep(actor=alice, project=project, name="View", conditions={"m.tier": "gold"})
    archive_project(actor=alice, project=project)
    client = as_user(alice)
    page = client.get(f"{PAGE}?m.tier=gold&view={view.pk}")
    assert names(page) == ["s1", "s3"]
    assert "Edit view" not in page.content.decode()
    assert client.post(f"{VIEWS}{view.pk}/delete/").status_code == 403


def test_what_a_former_member_shared_stays(alice: User, rita: User, project: Project) -> None:
    keep(actor=rita, project=project, name="Shared", conditions={"q": "a"}, is_shared=True)
    keep(actor=rita, project=project, name="Own", conditions={"q": "a"})
    remove_member(project=project, user=rita)
    assert offered(alice) == ["Shared"]


def test_a_copied_project_has_no_view(alice: User, project: Project) -> None:
    keep(actor=alice, project=project, name="Shared", conditions={"criterion": "support"}, is_shared=True)
    as_user(alice).post("/p/help/manage/", {"name": "Second", "slug": "second"})
    assert not Project.objects.get(slug="second").saved_views.exists()


@pytest.mark.usefixtures("disputes")
def test_a_shared_view_shows_each_reader_what_they_may_know(alice: User, rita: User, project: Project) -> None:
    """It holds conditions, never samples."""
    view = keep(actor=alice, project=project, name="V", conditions={"status": "disputed"}, is_shared=True)
    address = f"{PAGE}?status=disputed&view={view.pk}"
    assert names(as_user(rita).get(address)) == ["s0"]
    give(project, rita, "s0")
    assert names(as_user(rita).get(address)) == []
    assert names(as_user(alice).get(address)) == ["s0"]
