"""Every page of the URL configuration, for every kind of visitor: a new one that no table here names fails."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern

import frontend.urls
from annotate.models import User
from frontend.urls import project_patterns
from tests.annotate.api.conftest import Both, _filled, both
from tests.annotate.api.routes import PAGES
from tests.clients import as_user

__all__ = ["_filled", "both"]

ALL, STAFF, ADMIN = (
    frozenset({"admin", "reviewer", "annotator"}),
    frozenset({"admin", "reviewer"}),
    frozenset({"admin"}),
)

# Whom a project's page answers, by its name. What neither names takes no such method.
READ = {
    ALL: """
        project label lessons label-done own-questions question guidelines guidelines-version
        own-qualification criteria criterion
    """,
    STAFF: """
        questions flags guidelines-edit dispute-guidelines adjudicate accept dispute samples units sample
        claims systems unlinked diagnosis diagnosed-response test-set frozen-set retrieval retrieval-conflicts
        version-retrieval system-question system-version trend experiment experiment-questions
        experiment-download batches audits audits-one batch batch-tasks task-return batch-progress
        batch-claims reports report report-judge report-annotators report-look report-compare report-triage
        report-cascades report-cascade-look report-cascade report-cascade-left
        report-labels report-planner report-outcomes report-status report-download judges judge judge-diff
        judge-mistakes judge-export canaries canary-check runs run run-progress proposals
    """,
    ADMIN: """
        settings project-manage questions-import qrels-import run-import diagnosis-mapping pool-documents
        system-version-edit bands version-target version-target-remove target target-remove asking-new asking
        asking-progress asking-step experiment-new experiment-draw experiment-rule batch-new audits-new
        audits-edit audits-step batch-edit batch-extend batch-delete batch-step qualifications
        qualification-new qualification qualification-end qualification-decide gold criteria-add criterion-new
        criterion-edit criterion-carry import import-job import-progress import-errors endpoints endpoint-new
        endpoint endpoint-delete report-share judge-new judge-new-from judge-edit lab lab-trial lab-progress
        alignments alignment
        propose-claims judge-run run-step export release audit audit-csv members member-deactivate
    """,
}
WRITE = {
    ALL: """
        lessons label-change question question-read question-close question-reopen own-qualification
    """,
    STAFF: """
        guidelines-edit guidelines-preview dispute-guidelines accept dispute dispute-approve dispute-return
        view-change view-update view-delete view-save abstention retrieval-conflicts task-return reports
        report report-look report-cascade-look judge-mistakes proposals
    """,
    ADMIN: """
        flag-resolve settings project-manage project-archive project-delete project-restore adjudicate-names
        questions-import qrels-import run-import unlinked diagnosis-mapping test-set-freeze pool-documents
        system-version-edit bands version-target version-target-try version-target-remove target target-try
        target-remove asking-new asking-step experiment-new experiment-draw experiment-rule experiment-figures
        batch-new batch-preview audits-new audits-preview audits-edit audits-edit-preview audits-step
        batch-edit batch-edit-preview batch-extend batch-tasks batch-delete batch-step qualification-new
        qualification-add qualification-end qualification-try qualification-decide gold gold-remove
        criteria-add criterion-new criterion-edit criterion criterion-carry import import-job endpoint-new
        endpoint endpoint-try endpoint-delete report-certify report-triage report-labels report-planner
        report-outcomes report-cascade report-cascade-left
        report-share report-unshare judge-new judge-new-from judge-edit lab lab-estimate
        alignments alignments-estimate alignment-step alignment-rule
        lab-step judge-direction canaries canaries-estimate propose-claims propose-estimate judge-run
        judge-run-estimate judge-run-now judge-version-step run-step export export-settle members
        member-account member-invite invite-revoke member-change member-deactivate member-reactivate
        member-reset member-remove
    """,
}
MAY = {
    method: {name: roles for roles, names in table.items() for name in names.split()}
    for method, table in (("GET", READ), ("POST", WRITE))
}
# What they are asked about, where the world of tests/annotate/api has no value for it or another one.
VALUES: dict[str, Any] = {
    "of": "samples",
    "version": 1,
    "what": "waive",
    "start": "llm-rubric",
    "label/done/task_id": 0,
}
# They lead elsewhere, or the world has none of what they are about: a removal, a carried version, a file, proposals.
NOTHING_THERE = """
    version-target-remove asking-step experiment-download audits-step batch-edit own-qualification criterion-carry
    report-look report-cascade-look report-cascade-left
    report-download alignments alignment canaries canary-check propose-claims proposals run-step release
"""
OF_PROJECT = [route for route in PAGES if route.path.startswith("/p/")]
OUTSIDE = {
    str(pattern.name): route
    for pattern, route in zip(
        (one for one in frontend.urls.urlpatterns if isinstance(one, URLPattern)),
        (route for route in PAGES if not route.path.startswith("/p/")),
        strict=True,
    )
}
ABOUT_PEOPLE = {"token": "never-made", "token_id": "ts_0123456789ab", "username": "ben", "name": "formats"}
NAMED = dict(zip((str(pattern.name) for pattern in project_patterns), OF_PROJECT, strict=True))


@pytest.fixture(scope="module")
def clients(_filled: Both) -> dict[str, Client]:
    """Also of a stranger, who is the admin of the project next door, and of an admin of the installation."""
    world = _filled.world
    people = {"admin": world.alice, "reviewer": world.rita, "annotator": world.ann, "stranger": world.dora}
    people["root"] = User.objects.create_user("root", is_superuser=True)
    found = {"anonymous": Client(), **{name: as_user(user) for name, user in people.items()}}
    for client in found.values():
        client.raise_request_exception = False
    return found


def ask(client: Client, method: str, url: str) -> int:
    # What nothing is looked up without; other forms are sent empty.
    data = {"resolution": "Seen."} if method == "POST" else {}
    return int(getattr(client, method.lower())(url, data).status_code)


def test_every_page_of_a_project_is_listed() -> None:
    for table in (READ, WRITE):
        names = " ".join(table.values()).split()
        assert len(names) == len(set(names))
    assert MAY["GET"].keys() | MAY["POST"].keys() == NAMED.keys()
    assert ELSEWHERE.keys() == OUTSIDE.keys()


@pytest.mark.parametrize("name", NAMED)
def test_who_may_open_and_who_may_send(name: str, both: Both, clients: dict[str, Client]) -> None:
    url = NAMED[name].url({**both.own, **VALUES})
    for method, may in MAY.items():
        allowed = may.get(name)
        if allowed is None:
            assert ask(clients["anonymous"], method, url) == 302, method
            assert ask(clients["admin"], method, url) == 405, method
            continue
        for who in ("anonymous", "stranger", "admin", "reviewer", "annotator"):
            status = ask(clients[who], method, url)
            if who in allowed:
                # What the form lacks, or that nothing of the kind is there, is said to those who may.
                usual = (
                    {200} if method == "GET" and name not in NOTHING_THERE.split() else {200, 201, 302, 404, 412, 422}
                )
                assert status in usual, (method, who)
            else:
                assert status == {"anonymous": 302, "stranger": 404}.get(who, 403), (method, who)


ABOUT_THINGS = [
    name for name, route in NAMED.items() if set(route.parameters) - {"slug", "key", "step", "form", "of", "start"}
]


@pytest.mark.parametrize("name", ABOUT_THINGS)
def test_things_of_another_project_are_not_there(name: str, both: Both, clients: dict[str, Client]) -> None:
    url = NAMED[name].url({**both.foreign, **VALUES, "slug": both.own["slug"]})
    for method, may in MAY.items():
        if name in may:
            assert ask(clients["admin"], method, url) == 404, method


# What belongs to no project answers nobody, a person without a role in any, and an admin of the installation. Sign-in
# by a provider and passwords by mail are off; there is no such invitation, link or token.
FOR_PEOPLE, BY_LINK, SENT = (302, 200, 200), (404, 404, 404), (405, 405, 405)
ELSEWHERE = {
    **dict.fromkeys(("home", "statistics-help", "help", "notices", "deleted-projects"), FOR_PEOPLE),
    **dict.fromkeys(("account", "account-data", "keys", "password"), FOR_PEOPLE),
    **dict.fromkeys(("invite", "reset", "shared-report", "shared-report-pdf", "email-confirm"), BY_LINK),
    **dict.fromkeys(("forgotten", "reset-by-mail", "sign-in", "sign-in-back"), BY_LINK),
    **dict.fromkeys(("logout", "language", "account-email", "token-new", "token-revoke"), SENT),
    **dict.fromkeys(("second-factor-new", "second-factor-codes", "second-factor-off"), SENT),
    "login": (200, 302, 302),
    "log-in-code": (302, 302, 302),
    "project-new": (302, 403, 403),
    "email-confirm-send": (302, 404, 404),
    "second-factor": (302, 200, 404),  # for accounts that have a password
    "account-delete": (302, 404, 200),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_who_may_open_what_belongs_to_no_project(name: str, both: Both, clients: dict[str, Client]) -> None:
    people = ("anonymous", "stranger", "root")
    assert tuple(ask(clients[who], "GET", OUTSIDE[name].url(ABOUT_PEOPLE)) for who in people) == ELSEWHERE[name]
