"""Every page in every state: axe finds nothing, nothing sticks out of a narrow window, and the focus is seen.

Pages are counted from the URLconf: a new one that is not listed here fails `test_every_page_is_listed`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from string import Formatter
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.urls import URLPattern, URLResolver, get_resolver, resolve
from knox.models import get_token_model

from annotate.files.import_jobs import create_job, start
from annotate.files.releases import make_release
from annotate.members.resets import create_reset
from annotate.members.write import create_invite
from annotate.models import Project, Sample, Task, User, Verdict
from annotate.models.view import ViewOf
from annotate.projects.builtin_criteria import BUILTIN_CRITERIA
from annotate.projects.criteria import add_criteria
from annotate.projects.write import create_project, set_member
from annotate.samples.flags import raise_flag
from annotate.verdicts.saved_views import save_view
from judges.certificates.write import issue_certificate, look_at_test
from judges.endpoints.write import create_endpoint
from judges.reports.links import create_link
from judges.reports.mistakes_kept import Series, find_mistakes
from judges.reports.write import freeze_report
from tests.annotate.factories import make_batch
from tests.browser.accessibility import NARROW, WIDE, bring_axe, low_contrast, problems, sticking_out, unseen_focus
from tests.browser.stages import (
    Stages,
    alignment_stages,
    audit_stages,
    canary_stages,
    cascade_stages,
    judge_stages,
    system_stages,
    trial_stages,
)
from tests.pages import pages_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

    from tests.processes import LiveApp

NewPage = Callable[..., "Page"]

pytestmark = pytest.mark.django_db

JUDGE = "judge=claim-checker&measures=support"
# Who opens what. In braces what the world below knows.
PAGES = [
    ("", "/login/"),
    ("alma ana", "/"),
    ("stan", "/"),
    ("alma", "/new/"),
    ("alma", "/deleted/"),
    ("ana remy stan", "/notices/"),
    ("alma", "/account/"),
    ("ana", "/account/keys/"),
    ("ana", "/account/second-factor/"),
    ("alma", "/account/password/"),
    ("alma", "/help/statistics/"),
    ("alma", "/help/formats/"),
    ("alma remy ana", "/p/demo/"),
    ("alma", "/p/bare/"),
    ("ana", "/p/demo/label/"),
    ("ana", "/p/demo/label/?introduction=1"),
    ("ana", "/p/stages/label/?task={returned_task}"),
    ("ana", "/p/stages/label/?task={number_task}"),
    ("ana", "/p/stages/label/?task={corrected_task}"),
    ("ana", "/p/bare/label/"),
    ("ana", "/p/demo/label/done/"),
    ("ana", "/p/bare/label/done/"),
    ("ana", "/p/stages/label/?task={asked_task}"),
    ("ana", "/p/stages/label/?task={proposing_task}"),
    ("ana", "/p/stages/label/questions/"),
    ("ana", "/p/bare/label/questions/"),
    ("remy", "/p/stages/questions/"),
    ("remy", "/p/stages/questions/?state=answered"),
    ("alma", "/p/bare/questions/"),
    ("remy ana", "/p/stages/questions/{asked}/"),
    ("alma", "/p/demo/flags/"),
    ("alma", "/p/bare/flags/"),
    ("alma", "/p/demo/audit/"),
    ("alma ana", "/p/demo/guidelines/"),
    ("remy", "/p/demo/guidelines/edit/"),
    ("ana", "/p/demo/guidelines/1/"),
    ("alma", "/p/demo/settings/"),
    ("remy", "/p/demo/adjudicate/"),
    ("remy", "/p/bare/adjudicate/"),
    ("remy", "/p/demo/adjudicate/accept/"),
    ("remy", "/p/stages/adjudicate/accept/?method=agreement&criterion=support&agreement=60&votes=3"),
    ("remy", "/p/demo/adjudicate/accept/?method=dawid_skene&criterion=support&posterior=70"),
    ("remy", "/p/demo/adjudicate/accept/?method=agreement&criterion=&agreement=500&votes="),
    ("ana", "/p/demo/label/lessons/"),
    ("remy", "/p/demo/adjudicate/{verdict}/"),
    ("remy", "/p/demo/adjudicate/{verdict}/guidelines/"),
    ("remy", "/p/stages/adjudicate/?state=agreed&share=50&seed=3"),
    ("remy", "/p/stages/adjudicate/?state=agreed&criterion=score"),
    ("remy", "/p/stages/adjudicate/{agreed}/?state=agreed"),
    ("remy", "/p/stages/adjudicate/{approved}/"),
    ("remy", "/p/stages/adjudicate/{settled}/"),
    ("remy", "/p/stages/adjudicate/{reopened}/"),
    ("remy", "/p/stages/adjudicate/{blind}/"),
    ("remy", "/p/demo/samples/"),
    ("remy", "/p/demo/samples/?q=nothing%20has%20these%20words"),
    ("remy", "/p/demo/samples/?status=resolved&judge=claim-checker&sort=-agreement&m.topic=none"),
    ("alma", "/p/demo/samples/?status=resolved&sort=-agreement"),
    ("alma", "/p/demo/samples/?status=none"),
    ("remy", "/p/demo/samples/?status=resolved&view={view}"),
    ("remy", "/p/demo/samples/?criterion=gone&view={view}"),
    ("remy", "/p/bare/samples/"),
    ("alma", "/p/demo/units/"),
    ("remy", "/p/demo/units/?criterion=support&status=disputed&value=supported&sort=agreement"),
    ("alma", "/p/demo/units/?criterion=support&judge=disagrees:claim-checker"),
    ("remy", "/p/demo/units/?criterion=gone&view={units_view}"),
    ("remy", "/p/bare/units/"),
    ("remy", "/p/demo/samples/{sample}/"),
    ("remy", "/p/stages/samples/{corrected_sample}/"),
    ("remy", "/p/demo/samples/{sample}/?criterion=support&" + JUDGE + "&disagreement=1"),
    ("remy", "/p/bare/samples/{odd_sample}/"),
    ("alma remy", "/p/demo/batches/"),
    ("alma", "/p/bare/batches/"),
    ("alma", "/p/demo/batches/new/"),
    ("alma", "/p/bare/batches/new/"),
    ("alma remy", "/p/demo/batches/audits/"),
    ("alma", "/p/bare/batches/audits/"),
    ("alma", "/p/demo/batches/audits/new/"),
    ("alma", "/p/bare/batches/audits/new/"),
    ("alma remy", "/p/demo/batches/audits/{audits}/"),
    ("alma", "/p/demo/batches/audits/{stuck}/"),
    ("alma", "/p/demo/batches/audits/{audits}/edit/"),
    ("alma", "/p/demo/batches/audits/{audits}/end/"),
    ("alma", "/p/bare/qualifications/"),
    ("alma", "/p/stages/qualifications/"),
    ("alma", "/p/demo/qualifications/new/"),
    ("alma", "/p/stages/qualifications/{qualification}/"),
    ("alma", "/p/stages/qualifications/{qualification}/end/"),
    ("alma", "/p/stages/qualifications/{qualification}/waive/ana/"),
    ("ana", "/p/stages/qualification/{qualification}/"),
    ("ben", "/p/stages/qualification/{qualification}/"),
    ("alma remy", "/p/demo/batches/1/"),
    ("alma", "/p/demo/batches/2/"),
    ("alma", "/p/stages/batches/new/"),
    ("alma", "/p/stages/batches/{proposing}/"),
    ("alma", "/p/stages/batches/{paused}/"),
    ("alma", "/p/stages/batches/{adjudicating}/"),
    ("alma", "/p/stages/batches/{closed}/"),
    ("alma", "/p/demo/batches/3/"),
    ("alma", "/p/demo/batches/3/delete/"),
    ("alma", "/p/demo/batches/3/edit/"),
    ("alma", "/p/demo/batches/2/extend/"),
    ("alma", "/p/demo/batches/2/close/"),
    ("alma remy", "/p/demo/batches/1/tasks/"),
    ("remy", "/p/demo/batches/1/tasks/{task}/return/"),
    ("alma", "/p/demo/gold/"),
    ("alma", "/p/bare/gold/"),
    ("alma", "/p/stages/gold/"),
    ("remy", "/p/demo/batches/3/claims/"),
    ("remy", "/p/demo/samples/{sample}/claims/"),
    ("remy", "/p/demo/samples/{drafted}/claims/?batch=3"),
    ("remy", "/p/bare/samples/{odd_sample}/claims/"),
    ("alma ana", "/p/demo/criteria/"),
    ("alma", "/p/bare/criteria/"),
    ("alma", "/p/demo/criteria/add/"),
    ("alma", "/p/demo/criteria/new/"),
    ("alma", "/p/demo/criteria/edit/support/"),
    ("alma ana", "/p/demo/criteria/versions/fact_in_answer/"),
    ("alma", "/p/demo/criteria/carry/fact_in_answer/1/"),
    ("alma", "/p/demo/judges/endpoints/"),
    ("alma", "/p/bare/judges/endpoints/"),
    ("alma", "/p/demo/judges/endpoints/new/"),
    ("alma", "/p/demo/judges/endpoints/edit/{endpoint}/"),
    ("alma", "/p/demo/judges/endpoints/edit/{endpoint}/delete/"),
    ("alma", "/p/demo/import/"),
    ("alma", "/p/bare/import/"),
    ("alma", "/p/demo/import/{uploaded}/"),
    ("alma", "/p/demo/import/{failed}/"),
    ("alma", "/p/demo/import/{done}/"),
    ("alma", "/p/demo/reports/"),
    ("alma", "/p/bare/reports/"),
    ("remy", "/p/demo/reports/support/"),
    ("remy", "/p/demo/reports/relevancy/"),
    ("alma", "/p/demo/reports/support/judge/?" + JUDGE),
    ("remy", "/p/demo/reports/support/judge/?judge=token-overlap&measures=support"),
    ("remy", "/p/demo/reports/support/annotators/"),
    ("alma", "/p/demo/reports/support/judge/look/?" + JUDGE),
    ("remy", "/p/demo/reports/support/compare/"),
    ("alma", "/p/demo/reports/support/triage/?" + JUDGE),
    ("alma", "/p/demo/reports/support/cascades/"),
    ("alma", "/p/demo/reports/support/cascades/look/?cheap=token-overlap&dear=claim-checker"),
    ("alma remy", "/p/demo/reports/support/cascades/{cascade}/"),
    ("alma remy", "/p/demo/reports/support/cascades/{cascade}/left/{cascade_judge}/"),
    ("alma", "/p/demo/reports/support/planner/"),
    ("alma", "/p/demo/reports/support/labels/"),
    ("alma", "/p/demo/reports/support/planner/?n=5"),
    ("alma", "/p/demo/reports/support/outcomes/?" + JUDGE),
    ("alma", "/p/demo/reports/support/share/"),
    ("", "/shared/{shared}/"),
    ("", "/shared/never-made/"),
    ("alma remy", "/p/stages/judges/"),
    ("alma", "/p/bare/judges/"),
    ("alma", "/p/stages/judges/new/"),
    ("alma", "/p/stages/judges/new/llm-rubric/"),
    ("alma", "/p/stages/judges/new/composite/"),
    ("alma", "/p/stages/judges/{asks}/"),
    ("alma", "/p/stages/judges/{asks}/edit/"),
    ("alma", "/p/demo/judges/{checker}/mistakes/support/"),
    ("alma", "/p/demo/judges/{checker}/mistakes/support/?group=1"),
    ("remy", "/p/stages/judges/{asks}/diff/"),
    ("alma", "/p/stages/judges/{asks}/run/"),
    ("alma", "/p/stages/judges/{asks}/lab/"),
    ("alma", "/p/stages/judges/{asks}/canaries/"),
    ("alma", "/p/stages/judges/{asks}/align/"),
    ("alma", "/p/stages/judges/{asks}/align/{done_alignment}/"),
    ("alma", "/p/stages/judges/{asks}/align/{same_alignment}/"),
    ("alma", "/p/stages/judges/{asks}/align/{going_alignment}/"),
    ("alma", "/p/stages/judges/{asks}/claims/"),
    ("alma remy", "/p/stages/runs/{proposed_run}/claims/"),
    ("alma remy", "/p/stages/judges/{asks}/canaries/{done_check}/"),
    ("alma", "/p/stages/judges/{asks}/canaries/?test=bias"),
    ("alma remy", "/p/stages/judges/{asks}/canaries/{bias_check}/"),
    ("alma", "/p/stages/judges/{asks}/canaries/{going_check}/"),
    ("alma", "/p/demo/judges/{tried}/lab/{done_trial}/"),
    ("alma", "/p/demo/judges/{tried}/lab/{going_trial}/"),
    ("alma", "/p/stages/runs/"),
    ("alma", "/p/bare/runs/"),
    ("alma", "/p/stages/runs/{going_run}/"),
    ("alma", "/p/stages/runs/{stopped_run}/"),
    ("alma", "/p/stages/runs/{stopped_run}/cancel/"),
    ("remy", "/p/stages/runs/{done_run}/"),
    ("alma remy", "/p/stages/systems/"),
    ("alma", "/p/bare/systems/"),
    ("alma", "/p/stages/systems/import/"),
    ("alma remy", "/p/stages/systems/confirm/"),
    ("alma", "/p/bare/systems/confirm/"),
    ("alma remy", "/p/stages/systems/sets/support/"),
    ("remy", "/p/stages/systems/sets/support/1/"),
    ("alma", "/p/stages/systems/import/judgements/"),
    ("alma", "/p/stages/systems/import/rankings/"),
    ("alma remy", "/p/stages/systems/sets/support/1/retrieval/"),
    ("remy", "/p/stages/systems/sets/support/1/retrieval/{build}/"),
    ("alma", "/p/stages/systems/sets/support/1/retrieval/pool/"),
    ("remy", "/p/stages/systems/sets/support/1/retrieval/conflicts/"),
    ("remy", "/p/stages/systems/questions/{asked_question}/"),
    ("alma", "/p/stages/systems/versions/{build}/"),
    ("alma", "/p/stages/systems/versions/{build}/edit/"),
    ("alma", "/p/stages/systems/target/"),
    ("alma", "/p/bare/systems/target/"),
    ("alma", "/p/stages/systems/target/remove/"),
    ("alma", "/p/stages/systems/versions/{build}/target/"),
    ("alma", "/p/stages/systems/asking/"),
    ("alma", "/p/bare/systems/asking/"),
    ("alma", "/p/stages/systems/asking/{asking}/"),
    ("alma", "/p/stages/systems/asking/{asking}/cancel/"),
    ("alma remy", "/p/stages/systems/diagnosis/"),
    ("alma", "/p/bare/systems/diagnosis/"),
    ("alma", "/p/stages/systems/diagnosis/?by=judges"),
    ("remy", "/p/stages/systems/diagnosis/?stage=undecided"),
    ("remy", "/p/stages/systems/diagnosis/{answered}/"),
    ("alma", "/p/stages/systems/diagnosis/questions/"),
    ("alma", "/p/stages/systems/bands/"),
    ("alma remy", "/p/stages/systems/trend/"),
    ("alma", "/p/stages/systems/new-experiment/"),
    ("alma remy", "/p/stages/systems/experiments/shipping/"),
    ("alma remy", "/p/stages/systems/experiments/not-yet/"),
    ("alma", "/p/stages/systems/experiments/shipping/draw/"),
    ("alma", "/p/stages/systems/experiments/shipping/rule/"),
    ("remy", "/p/stages/systems/experiments/shipping/questions/"),
    ("alma", "/p/demo/export/"),
    ("alma", "/p/bare/export/"),
    ("alma", "/p/demo/manage/"),
    ("alma", "/p/demo/members/"),
    ("alma", "/p/demo/members/ana/deactivate/"),
    ("root", "/p/demo/members/"),
    ("root", "/accounts/ana/delete/"),
    ("root", "/accounts/root/delete/"),
    (" stan", "/invite/{invited}/"),
    ("", "/invite/never-made/"),
    ("", "/reset/{forgotten}/"),
    ("", "/reset/never-made/"),
    ("", "/login/forgotten/"),
    ("", "/login/forgotten/never-made/"),
    ("ana", "/account/email/confirm/"),
    ("", "/account/email/confirm/never-made/"),
    ("alma", "/no-such-page/"),
    ("ana", "/p/demo/settings/"),
]
# What is no page of its own, and so is seen where it belongs.
NO_PAGES = {
    "logout": "a form",
    "log-in-code": "after the password; see tests/browser/test_sign_in.py",
    "second-factor-new": "a form of the second factor's page; see tests/browser/test_sign_in.py",
    "second-factor-codes": "a form of the second factor's page",
    "second-factor-off": "a form of the second factor's page",
    "sign-in": "leads to the provider; see tests/browser/test_sign_in.py",
    "sign-in-back": "where the provider leads to",
    "account-email": "a form of the account's page",
    "account-data": "a file",
    "language": "a form",
    "label-change": "a form",
    "flag-resolve": "a form",
    "question-read": "a form",
    "question-close": "a form",
    "question-reopen": "a form",
    "abstention": "a form of the sample's page",
    "adjudicate-names": "a form",
    "dispute-return": "a form of the unit's page",
    "dispute-approve": "a form of the unit's page",
    "audit-csv": "a file",
    "token-new": "a form; see test_a_new_token",
    "token-revoke": "a form",
    "guidelines-preview": "a part of the form for guidelines",
    "batch-preview": "a part of the form for a batch",
    "batch-edit-preview": "a part of the form for a draft",
    "batch-progress": "a part of the batch's page",
    "qualification-add": "a form of the qualification’s page",
    "qualification-try": "a form of the qualification’s page",
    "audits-preview": "a part of the form for an audit schedule",
    "audits-edit-preview": "a part of the form for an audit schedule",
    "endpoint-try": "a form of the endpoint's page",
    "gold-remove": "a form",
    "import-progress": "a part of the import's page",
    "import-errors": "a file",
    "report-certify": "a form",
    "test-set-freeze": "a form of the set's page",
    "experiment-figures": "a form of the experiment’s page",
    "experiment-download": "a file",
    "target-try": "a form of the target’s page",
    "version-target-try": "a form of the target’s page",
    "version-target-remove": "as target-remove",
    "asking-progress": "a part of the run’s page",
    "report-status": "a part of the report's page",
    "report-download": "a file",
    "report-unshare": "a form",
    "shared-report-pdf": "a file",
    "judge-direction": "a form",
    "judge-run-estimate": "a part of the form for a run",
    "judge-run-now": "a form",
    "judge-export": "a file",
    "canaries-estimate": "a part of the form for a check",
    "propose-estimate": "a part of the form for proposals",
    "lab-estimate": "a part of the lab's form",
    "lab-progress": "a part of the trial's page",
    "lab-step": "a form",
    "alignments-estimate": "a part of the form for an alignment",
    "alignment-step": "a form",
    "alignment-rule": "a form",
    "judge-version-step": "a form",
    "run-progress": "a part of the run's page",
    "export-settle": "a form",
    "release": "a file",
    "member-account": "a form of the members' page",
    "member-invite": "a form of the members' page; see test_an_invitation",
    "member-change": "a form",
    "project-archive": "a form",
    "project-restore": "a form",
    "project-delete": "a form of the page on which a project is duplicated and archived",
    "member-reactivate": "a form",
    "member-reset": "a form of the members' page; see test_a_reset_link",
    "invite-revoke": "a form",
    "member-remove": "a form",
    "view-save": "a form of the lists of samples and units",
    "view-change": "a form",
    "view-update": "a form",
    "view-delete": "a form",
}


@pytest.fixture(scope="module")
def world(standing_app: LiveApp) -> dict[str, Any]:
    """The demo with a report, a look, a certificate, a release and imports; and a project with next to nothing in it,
    whose texts are longer than any window."""
    call_command("load_demo", small=True, verbosity=0)
    demo = Project.objects.get(slug="demo")
    alma, remy, ana = (User.objects.get(username=name) for name in ("alma", "remy", "ana"))
    stan = User.objects.create_user("stan", password="a long password")
    root = User.objects.create_user("root", is_superuser=True)
    freeze_report(criterion=demo.criteria.get(key="relevancy", is_current=True))
    support = demo.criteria.get(key="support", is_current=True)
    issue_certificate(look=look_at_test(criterion=support, judge_name="claim-checker", user=alma), user=alma)
    checker = demo.judges.get(name="claim-checker")
    find_mistakes(Series(support, checker, "support"), alma)
    _link, shared = create_link(actor=alma, report=freeze_report(criterion=support))
    make_release(project=demo, user=alma, file_format="jsonl")
    get_token_model().objects.create(alma)
    raise_flag(actor=ana, task_id=Task.objects.filter(annotator=ana)[0].pk, reason="Holds " + "a" * 90)
    spec = {**BUILTIN_CRITERIA["fact_in_answer"], "key": "fact_in_answer", "prompt": "Is it said?"}
    add_criteria(project=demo, specs=[spec], actor=alma)
    draft = make_batch(demo, [ana], name="Second", selection={"method": "random", "n": 3}, seed=2, opened=False)
    good, bad = ({"question": "Q?", "answer": "A.", "contexts": ["C."]}, {"question": "Q?"})
    bare = create_project(slug="bare", spec={"name": "W" * 90}, created_by=alma)
    for user, role in ((remy, "reviewer"), (ana, "annotator")):
        set_member(project=bare, user=user, role=role)
    odd = Sample.objects.create(
        project=bare,
        external_id="x" * 180,
        question="https://example.org/" + "a" * 300,
        answer="שלום " + "ش" * 200,
        contexts=[{"id": "c" * 120, "text": "字" * 400, "score": 0.5}],
        metadata={"k" * 60: "v" * 200},
        content_hash=b"odd",
    )
    address = {"base_url": "http://127.0.0.1:1/" + "a" * 200, "key": "k" * 30}
    endpoint = create_endpoint(project=demo, name="e" * 60, actor=alma, **address)
    _invite, invited = create_invite(actor=alma, project=bare, role="annotator", max_uses=5)
    _reset, forgotten = create_reset(actor=alma, project=bare, user=ana)
    stages = Stages(alma, remy, ana, User.objects.get(username="ben"))
    view = save_view(
        of=ViewOf.SAMPLES,
        actor=remy,
        project=demo,
        name="To check " * 8,
        conditions={"criterion": "gone"},
        is_shared=True,
    )
    gone = {"criterion": "gone"}
    of_units = save_view(of=ViewOf.UNITS, actor=remy, project=demo, name="Units", conditions=gone, is_shared=True)
    return {
        "view": view.pk,
        "units_view": of_units.pk,
        "checker": checker.pk,
        **stages.names,
        **(judged := judge_stages(stages.project, alma)),
        **canary_stages(judged["asks"], alma),
        **alignment_stages(judged["asks"], alma),
        **trial_stages(demo, alma),
        **cascade_stages(demo, alma),
        **audit_stages(demo, alma, remy, ana),
        **system_stages(stages.project, alma),
        "cookies": {
            user.username: standing_app.session_cookie(user) for user in (alma, remy, ana, stan, root, stages.ben)
        },
        "verdict": Verdict.objects.filter(sample__project=demo, state="disputed").order_by("pk")[0].pk,
        "sample": demo.samples.order_by("pk")[0].pk,
        "odd_sample": odd.pk,
        "drafted": draft.samples.order_by("pk")[0].pk,
        "task": Task.objects.filter(batch__project=demo, batch__number=1, status="submitted").order_by("pk")[0].pk,
        "invited": invited,
        "forgotten": forgotten,
        "shared": shared,
        "endpoint": endpoint.name,
        "uploaded": _job(demo, alma, [good]).pk,
        "failed": start(_job(demo, alma, [good, bad])).pk,
        "done": start(_job(demo, alma, [good])).pk,
    }


def _job(project: Project, user: User, rows: list[dict[str, Any]]) -> Any:
    content = "".join(json.dumps(row) + "\n" for row in rows).encode()
    return create_job(project=project, user=user, kind="samples", upload=SimpleUploadedFile("a.jsonl", content))


@pytest.fixture
def visit(world: dict[str, Any], new_standing_page: NewPage) -> Callable[..., Page]:
    """`visit("ana", "/p/demo/")`: the page as Ana sees it, in a browser that saw none before; no login as
    ""."""

    def go(who: str, path: str, **options: Any) -> Page:
        page = new_standing_page(**options)
        bring_axe(page.context)
        if who:
            page.context.add_cookies([world["cookies"][who]])
        page.goto(path.format(**world))
        settled(page)
        return page

    return go


@pytest.fixture(scope="module")
def look(world: dict[str, Any], browser: Browser, standing_app: LiveApp) -> Iterator[Callable[..., Page]]:
    """`visit` in one browser context for each person, which has the styles and scripts already. For pages that leave
    nothing behind in the browser."""
    seen: dict[str, Page] = {}
    with pages_of(browser, standing_app) as make:

        def go(who: str, path: str) -> Page:
            if who not in seen:
                seen[who] = make()
                bring_axe(seen[who].context)
            page = seen[who]
            page.context.clear_cookies()
            if who:
                page.context.add_cookies([world["cookies"][who]])
            page.set_viewport_size(WIDE)
            page.goto(path.format(**world))
            settled(page)
            return page

        yield go


Visit = Callable[..., "Page"]


def settled(page: Page) -> None:
    """The workspace draws its task once its script has run, and the editor its claims."""
    path = urlsplit(page.url).path
    if path.endswith("/label/"):
        page.wait_for_selector('html[data-stage="task"], html[data-stage="done"]')
    elif path.startswith("/p/") and "/samples/" in path and path.endswith("/claims/"):
        page.wait_for_selector("html[data-ready]")


def _named(patterns: list[URLPattern | URLResolver]) -> set[str]:
    names: set[str] = set()
    for pattern in patterns:
        names |= _named(pattern.url_patterns) if isinstance(pattern, URLResolver) else {str(pattern.name)}
    return names


def test_every_page_is_listed() -> None:
    import frontend.urls

    names = (name for _who, path in PAGES for _text, name, *_ in Formatter().parse(path) if name)
    known = dict.fromkeys(names, "1")
    known |= dict.fromkeys(("uploaded", "failed", "done"), "00000000-0000-0000-0000-000000000000")
    paths = [path.format(**known).split("?")[0] for _who, path in PAGES if path != "/no-such-page/"]
    listed = {str(resolve(path).url_name) for path in paths}
    assert listed | set(NO_PAGES) == _named(frontend.urls.urlpatterns)
    assert not listed & set(NO_PAGES)
    assert _named(frontend.urls.urlpatterns) < _named(get_resolver().url_patterns)


@pytest.mark.parametrize(("who", "path"), [(who, path) for names, path in PAGES for who in names.split(" ")])
def test_a_page(who: str, path: str, look: Visit) -> None:
    page = look(who, path)
    found = problems(page, "English", left=NARROW)
    # Chinese is another length of words and another font; what axe looks at is the same but for the language.
    page.context.add_cookies([{"name": settings.LANGUAGE_COOKIE_NAME, "value": "zh-hans", "url": page.url}])
    page.reload()
    settled(page)
    assert page.locator("html").get_attribute("lang") == "zh-hans"
    found += [f"Chinese, 320 px wide: sticks out: {html}" for html in sticking_out(page)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("who", "path", "button"),
    [
        ("", "/login/", "main form button[type=submit]"),
        ("alma", "/new/", "main form button[type=submit] >> nth=0"),
        ("alma", "/new/", "main form button[type=submit] >> nth=1"),
        ("alma", "/account/password/", "main button[type=submit]"),
        ("alma", "/p/demo/settings/", "main button[type=submit]"),
        ("alma", "/p/demo/batches/new/", "main button[type=submit]"),
        ("alma", "/p/demo/criteria/new/", "main button[type=submit]"),
        ("alma", "/p/demo/criteria/add/", "main button[type=submit] >> nth=0"),
        ("alma", "/p/demo/criteria/add/", "main button[name=from_file]"),
        ("alma", "/p/demo/members/", "main form:has([name=username]) button[type=submit] >> nth=0"),
        ("alma", "/p/demo/members/", "main form[action*=new-account] button[type=submit]"),
        ("alma", "/p/demo/import/", "main button[type=submit]"),
        ("alma", "/p/demo/export/", "main form:has([name=file_format]) button[type=submit]"),
        ("remy", "/p/demo/adjudicate/{verdict}/", "form[data-adjudicate] button[type=submit]"),
        ("remy", "/p/demo/adjudicate/{verdict}/", "#send-back button[type=submit]"),
        (
            "remy",
            "/p/stages/adjudicate/accept/?method=agreement&criterion=support&agreement=60&votes=3",
            "#preview form button",
        ),
        ("remy", "/p/demo/batches/1/tasks/{task}/return/", "main button[type=submit]"),
        ("alma", "/p/stages/batches/{paused}/extend/", "main button[type=submit]"),
        ("alma", "/p/stages/batches/{texts}/tasks/", "main form[method=post] button[type=submit]"),
        ("alma", "/p/stages/members/alma/deactivate/", "main button[type=submit]"),
        ("alma", "/p/stages/gold/", "main form.form button[type=submit]"),
        ("alma", "/p/stages/criteria/edit/support/", "main button[type=submit]"),
        ("alma", "/p/bare/members/", "form[action*='members/invite/'] button[type=submit]"),
        ("alma", "/p/stages/judges/new/llm-claim-support/", "main .button-primary"),
        ("alma", "/p/stages/judges/{asks}/run/", "main .button-primary"),
        ("ana", "/account/keys/", "main form button[type=submit] >> nth=0"),
    ],
)
def test_a_form_that_was_not_accepted(who: str, path: str, button: str, look: Visit) -> None:
    page = look(who, path)
    # What the browser itself asks for would keep the form from being sent; the server's words are what is looked at.
    page.evaluate("""() => {
      for (const form of document.forms) form.noValidate = true;
      for (const folded of document.querySelectorAll("main details")) folded.open = true;
      for (const layer of document.querySelectorAll("main .dialog[popover]")) layer.showPopover();
      for (const field of document.querySelectorAll("main input:not([type=hidden]), main textarea")) {
        if (field.type === "checkbox" || field.type === "radio") field.checked = false;
        else if (field.type !== "file") field.value = "";
      }
    }""")
    with page.expect_response(lambda reply: reply.request.method == "POST"):
        page.locator(button).click()
    page.wait_for_load_state()
    assert page.locator(".errorlist, [role=alert]").count(), "the form was accepted"
    found = problems(page, "refused")
    assert not found, "\n".join(found)


def test_a_new_token(look: Visit) -> None:
    page = look("remy", "/account/")
    page.locator("form[action*=tokens] button").last.click()
    page.wait_for_selector("#token")
    assert not problems(page, "token")


def test_an_invitation(look: Visit) -> None:
    page = look("alma", "/p/bare/members/")
    page.locator("form[action*='members/invite/'] button[type=submit]").click()
    page.wait_for_selector("#invite-link")
    assert not problems(page, "invitation")


def test_a_link_to_a_report(look: Visit) -> None:
    page = look("alma", "/p/demo/reports/support/share/")
    page.locator("main form.card button[type=submit]").click()
    page.wait_for_selector("#shared-link")
    assert not problems(page, "shared report")


def test_a_reset_link(look: Visit) -> None:
    page = look("alma", "/p/bare/members/")
    page.locator("form[action$='members/remy/reset/'] button").click()
    page.wait_for_selector("#reset-link")
    assert not problems(page, "reset link")


@pytest.mark.parametrize("path", ["/", "/p/demo/label/"])
def test_the_menu_of_the_person(path: str, look: Visit) -> None:
    page = look("ana", path)
    page.locator("[popovertarget=user-menu]").click()
    page.wait_for_selector("#user-menu:popover-open")
    assert not problems(page, "menu")


def test_more_sections(look: Visit) -> None:
    page = look("alma", "/p/demo/")
    page.locator("[popovertarget=more-sections]").click()
    page.wait_for_selector("#more-sections:popover-open")
    assert not problems(page, "more sections")


def test_the_sections_where_the_window_is_narrow(look: Visit) -> None:
    page = look("alma", "/p/demo/")
    page.set_viewport_size(NARROW)
    page.locator(".site-nav-button").click()
    assert sticking_out(page) == []
    assert not problems(page, "sections")


PALE = """<body style="background: #fff; color: #000">
<p>fine</p><p style="color: #999">pale</p><p style="opacity: .4">faint</p>
<div style="background: #000"><p>on black</p><p style="color: #fff">white</p></div><svg width="200" height="40">
<text y="20" fill="#bbb">drawn</text><text y="35" fill="currentColor">black</text></svg><input placeholder="hint">
<p style="background: linear-gradient(90deg, rgb(0, 0, 0), rgb(255, 255, 255)); color: #fff">gradient</p>
<style>input::placeholder { color: #ccc } b::before { content: "before"; color: #ddd }</style><b>bold</b>
<button disabled style="color: #ccc">off</button><h1 style="color: #888">large</h1>
<p style="color: oklch(.8 0 0)">new</p>
<label>typed <input value="typed" style="color: #aaa"></label></body>"""


def test_a_pale_text_is_found(visit: Visit) -> None:
    page = visit("", "/login/")
    page.goto("about:blank")  # where no policy forbids its styles
    page.set_content(PALE)
    found = {problem.split("“")[1].split("”")[0].strip('"') for problem in low_contrast(page)}
    assert found == {"pale", "faint", "on black", "drawn", "gradient", "hint", "before", "new", "typed"}


def test_the_plot_of_a_trial_fits_a_phone(look: Visit) -> None:
    """Nothing of it has to be scrolled, and its words can be read."""
    page = look("alma", "/p/demo/judges/{tried}/lab/{done_trial}/")
    page.set_viewport_size(NARROW)
    assert page.eval_on_selector("figure", "figure => figure.scrollWidth <= figure.clientWidth")
    least = """svg => Math.min(...[...svg.querySelectorAll("text")].map((text) =>
      parseFloat(getComputedStyle(text).fontSize) * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width))"""
    assert page.eval_on_selector("figure svg", least) >= 9


def test_page_one_of_a_report_is_a_summary(look: Visit) -> None:
    """Two screens, and few words; what is folded is as accessible."""
    page = look("alma", "/p/demo/reports/support/")
    words = "body => body.innerText.split(/\\s+/).filter((word) => /\\p{L}/u.test(word)).length"
    assert page.eval_on_selector("body", words) <= 250
    assert page.evaluate("document.documentElement.scrollHeight") <= 2 * 900
    page.locator("main summary").first.press("Enter")
    assert page.locator("main details[open]").count() == 1
    page.evaluate("for (const folded of document.querySelectorAll('main details')) folded.open = true")
    assert not problems(page, "unfolded")


def test_all_that_folds_out_on_a_page_of_figures(look: Visit) -> None:
    page = look("alma", "/p/demo/reports/support/judge/?" + JUDGE)
    page.evaluate("for (const folded of document.querySelectorAll('details')) folded.open = true")
    assert not problems(page, "folded out")


def _opened(page: Page, states: dict[str, str], close: str) -> list[str]:
    """What is wrong once each key was pressed, which shows what its selector finds; `close` puts it away."""
    found = []
    for key, selector in states.items():
        page.keyboard.press(key)
        page.wait_for_selector(selector)
        found += problems(page, key)
        page.keyboard.press(close or key)
        page.wait_for_selector(selector, state="hidden")
    return found


# The workspace's states


@pytest.fixture
def labelling(visit: Visit) -> Page:
    return visit("ana", "/p/demo/label/")


def test_the_dialogs_of_the_workspace(look: Visit) -> None:
    dialogs = {"?": "#help-dialog[open]", "s": "#skip-dialog[open]", "f": "#flag-dialog[open]"}
    dialogs["x"] = "#cant-tell-dialog[open]"
    page = look("ana", "/p/demo/label/")
    found = _opened(page, dialogs, "Escape")
    # A reason in one's own words that has none yet.
    page.keyboard.press("f")
    page.locator("#flag-reason").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#flag-error:not([hidden])")
    assert not (found + problems(page, "flag without a reason"))
    page.keyboard.press("Escape")


def test_what_opens_beside_the_texts(look: Visit) -> None:
    page = look("ben", "/p/stages/label/?task={texts_task}")
    tools = {"g": "#guidelines-panel:not([hidden])", "e": "#evidence-cursor:not([hidden])"}
    found = _opened(page, tools, "Escape")
    page.keyboard.press("/")
    page.keyboard.type("opens at")
    page.wait_for_function("document.querySelector('#search-count').textContent.includes('2')")
    found += problems(page, "search")
    page.keyboard.press("Escape")
    page.keyboard.press("v")
    page.wait_for_selector('#show-unseen[aria-pressed="true"]')
    assert not (found + problems(page, "invisible characters"))
    page.keyboard.press("v")


def test_a_question_and_its_answer_beside_the_work(visit: Visit) -> None:
    page = visit("ana", "/p/stages/label/?task={asked_task}")
    page.keyboard.press("q")
    page.wait_for_selector("#ask-threads article")
    assert not problems(page, "questions")


def test_all_questions_at_once(look: Visit) -> None:
    page = look("ben", "/p/stages/label/?task={texts_task}")
    page.keyboard.press("a")
    page.wait_for_selector('html[data-view="all"]')
    page.wait_for_selector("#form > li")
    assert not problems(page, "all at once")


def test_evidence_and_a_comment(visit: Visit) -> None:
    """A label that carries all that one can carry, not sent yet."""
    page = visit("ana", "/p/demo/label/")
    page.route("**/labels/", lambda route: route.abort())
    page.keyboard.press("1")
    page.wait_for_selector('#save-state[data-state="waiting"]')
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("e")
    page.wait_for_selector("#evidence-cursor:not([hidden])")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    page.locator("#comment").fill("It says so here. " * 20)
    page.wait_for_selector("#evidence > li")
    assert not problems(page, "evidence")
    page.unroute("**/labels/")


def test_known_answers_after_submitting(visit: Visit) -> None:
    page = visit("ana", "/p/stages/label/?task={gold_task}")
    for key in ("1", "1", "Enter"):
        page.keyboard.press(key)
    page.wait_for_selector("#feedback-dialog[open]")
    assert not problems(page, "known answers")


def test_logged_out_while_labelling(labelling: Page) -> None:
    session = settings.SESSION_COOKIE_NAME
    labelling.context.clear_cookies(name=session)
    labelling.keyboard.press("1")
    labelling.wait_for_selector('#save-state[data-state="logged-out"]')
    assert not problems(labelling, "logged out")


def test_changed_elsewhere(labelling: Page) -> None:
    """Another tab's version, as the server tells it with 412: two versions to choose from."""

    def stale(route: Route) -> None:
        asked = route.request.post_data_json
        label = {**asked, "value": "contradicted", "comment": "Said elsewhere.", "revision": 3}
        body = {"error": {"code": "stale", "message": "Changed."}, "current": label, "yours": asked}
        route.fulfill(status=412, json=body)

    labelling.route("**/labels/", stale)
    labelling.keyboard.press("1")
    labelling.wait_for_selector("#conflict-dialog[open]:not([data-unseen])")
    assert not problems(labelling, "conflict dialog")
    labelling.keyboard.press("Escape")
    labelling.wait_for_selector("#resolve:not([hidden])")
    assert not problems(labelling, "conflict")


def test_a_refused_choice(labelling: Page) -> None:
    reply = {"error": {"code": "batch_not_open", "message": "Batch “First answers” is closed. Nothing was changed."}}
    labelling.route("**/labels/", lambda route: route.fulfill(status=409, json=reply))
    labelling.keyboard.press("1")
    labelling.wait_for_selector("#notices > *")
    assert not problems(labelling, "refused")


def test_no_server_for_the_next_sample(labelling: Page) -> None:
    labelling.route("**/api/**", lambda route: route.abort())
    labelling.keyboard.press("s")
    labelling.keyboard.type("Not my subject.")
    labelling.keyboard.press("Enter")
    labelling.wait_for_selector('#save-state[data-state="waiting"]')
    assert not problems(labelling, "away")


# A unit's states, and the editor's


def test_a_decision_by_another_reviewer_in_between(look: Visit) -> None:
    page = look("remy", "/p/demo/adjudicate/{verdict}/")
    page.locator("form[data-adjudicate] [name=revision]").evaluate("field => field.value = '0'")
    page.keyboard.press("1")
    page.locator("form[data-adjudicate] textarea").fill("The context says so.")
    page.locator("form[data-adjudicate] button[type=submit]").click()
    page.wait_for_selector("main [role=alert]")
    assert not problems(page, "stale")


def test_the_keys_of_a_unit_and_what_else_is_there(look: Visit) -> None:
    page = look("remy", "/p/stages/adjudicate/{reopened}/")
    found = _opened(page, {"?": "#keys[open]", "b": "#send-back:popover-open"}, "Escape")
    page.evaluate("for (const folded of document.querySelectorAll('main details')) folded.open = true")
    assert not (found + problems(page, "folded out"))


EDITOR = "/p/stages/samples/{drafted_sample}/claims/?batch={draft}"


def test_the_modes_of_the_claims_editor(look: Visit) -> None:
    modes = {"s": ".ce-cut", "e": "#claim-text", "b": "#passage-tools:not([hidden])", "?": "#keys[open]"}
    page = look("remy", EDITOR)
    found = _opened(page, modes, "Escape")
    page.keyboard.press("a")
    page.wait_for_selector("#passage-tools:not([hidden])")
    found += problems(page, "a")
    page.keyboard.press("w")
    page.wait_for_selector("#adding #claim-text")
    assert not (found + problems(page, "w"))
    page.keyboard.press("Escape")


def test_claims_that_another_reviewer_changed(look: Visit) -> None:
    """Two reviewers: what the first dropped is gone when the second one splits; below stands what was done."""
    first, second = look("alma", EDITOR), look("remy", EDITOR)
    for page, seen in ((first, "#dropped-box:not([hidden])"), (second, "#notice:not([hidden])")):
        page.keyboard.press("d")
        page.wait_for_selector(seen)
    second.evaluate("for (const folded of document.querySelectorAll('main details')) folded.open = true")
    assert not problems(second, "changed in between")


@pytest.mark.parametrize(
    ("who", "path", "scheme"),
    [
        ("", "/login/", "light"),
        ("alma", "/p/demo/", "dark"),
        ("alma", "/p/demo/batches/new/", "light"),
        ("alma", "/p/demo/reports/support/judge/?" + JUDGE, "dark"),
        ("remy", "/p/demo/adjudicate/{verdict}/", "light"),
        ("ana", "/p/demo/label/", "light"),
        ("ana", "/p/demo/label/", "dark"),
        ("ana", "/p/demo/label/?introduction=1", "dark"),
    ],
)
@pytest.mark.parametrize("width", [1280, 320])
def test_the_focus_is_seen(who: str, path: str, scheme: str, width: int, visit: Visit) -> None:
    size = {"width": width, "height": 640}
    page = visit(who, path, color_scheme=scheme, reduced_motion="reduce", viewport=size)
    assert unseen_focus(page) == []
