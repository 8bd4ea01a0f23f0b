"""What a report says first: one verdict in words, three figures, judges best first; and a page that stays a summary."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser
from urllib.parse import urlencode

import pytest

from annotate.core.text_tables import number
from annotate.models import Criterion, User
from annotate.projects.write import set_member
from frontend.reports.pictures import Scale
from judges.models import AlignmentReport, Judge
from judges.reports.write import freeze_report
from tests.clients import as_user
from tests.database import copied_from_world
from tests.frontend.building import make_user
from tests.judges.building import add_judge, add_labels, add_samples, graded_project, make_project, scores_like
from tests.judges.certificates.decided import KAPPA, REGION, certified, decided

pytestmark = pytest.mark.django_db

URL = "/p/desk/reports/grade/"
# Wrong on every n-th sample; the best is not the first by name.
JUDGES = {"careless": 3, "good": 7, "middling": 4}


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> tuple[User, Criterion]:
    project, samples = graded_project(count=160)
    admin = make_user("Admin")
    set_member(project=project, user=admin, role="admin")
    for name, wrong_every in JUDGES.items():
        add_judge(project, name, samples, scores_like(samples, wrong_every=wrong_every), dimension="grade")
    criterion: Criterion = project.criteria.get(key="grade")
    freeze_report(criterion=criterion)
    return admin, criterion


admin = copied_from_world(0)
grade = copied_from_world(1)


class Visible(HTMLParser):
    """The words that are seen while everything that folds is folded."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text: list[str] = []
        self._folded, self._skipped, self._summary = 0, 0, False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._folded += tag == "details"
        self._skipped += tag in ("script", "style", "noscript", "title")
        if tag == "summary" and self._folded == 1:
            self._summary = True

    def handle_endtag(self, tag: str) -> None:
        self._folded -= tag == "details"
        self._skipped -= tag in ("script", "style", "noscript", "title")
        if tag == "summary":
            self._summary = False

    def handle_data(self, data: str) -> None:
        if not self._skipped and (self._summary or not self._folded):
            self.text.append(data)

    @property
    def words(self) -> list[str]:
        """Figures are none."""
        return [word for word in " ".join(self.text).split() if re.search(r"[^\W\d_]", word)]

    @property
    def said(self) -> str:
        return " ".join(" ".join(self.text).split())


def seen(user: User, url: str = URL) -> str:
    return Visible(as_user(user).get(url).content.decode()).said


def good(grade: Criterion) -> Judge:
    return Judge.objects.get(project=grade.project, name="good")


def test_the_first_screen_says_who_is_best_and_that_nothing_is_decided_alone(admin: User, grade: Criterion) -> None:
    row = next(row for row in AlignmentReport.objects.get().result["judges"] if row["judge"] == "good")
    kappa = "{value:.2f}, {low:.2f} to {high:.2f}".format(**row["kappa"])
    text = seen(admin)
    assert f"good agrees best with annotators (kappa {kappa})" in text
    assert "May decide alone: nothing yet." in text
    assert "Best judge with annotators {value:.2f} on dev".format(**row["kappa"]) in text
    assert text.index("Between annotators") < text.index("Next") < text.index("Judges vs. annotators")


def test_judges_stand_best_first_each_with_its_picture(admin: User, grade: Criterion) -> None:
    html = as_user(admin).get(URL).content.decode()
    table = html[html.index('class="judge-rows"') : html.index("</table>")]
    assert re.findall(r"<bdi>(\w+)</bdi>", table) == ["good", "middling", "careless"]
    assert table.count('class="verdict ') == 3
    # The set is named once where it is the same for all.
    assert table.count("on dev") == html.count("Kappa on dev (95%)") == 1
    # Drawn once, in the hero.
    assert html.count('class="interval-picture') == 3
    assert "interval-picture" not in table


def test_page_one_is_a_summary(admin: User, grade: Criterion) -> None:
    samples = {sample.external_id: sample for sample in grade.project.samples.all()}
    for place in range(5):
        add_judge(grade.project, f"judge {place}", samples, scores_like(samples, wrong_every=5), dimension="grade")
    freeze_report(criterion=grade)
    html = as_user(admin).get(URL).content.decode()
    page = Visible(html)
    assert len(page.words) <= 250, page.words
    assert "2 more judges" in page.said
    # Once for a section, and never “More”.
    assert html.count("How is this computed?") <= html.count("<summary>") / 2
    assert ">More</a>" not in html


def test_what_is_folded_says_its_result(admin: User, grade: Criterion) -> None:
    html = as_user(admin).get(URL).content.decode()
    headings = re.findall(r'<summary><h2 id="[\w-]+">([^<]+)</h2> <span>([^<]*)</span></summary>', html)
    said = dict(headings)
    units = AlignmentReport.objects.get().result["reference"]["units"]
    assert said["What the figures rest on"] == f"{units} resolved units"
    people = AlignmentReport.objects.get().result["people"]
    assert said["Between annotators"] == "{value:.2f} ({low:.2f} to {high:.2f})".format(**people)
    assert "ROC AUC of good" in said["Scores and coverage"]
    assert "%" in said["Share that passes"]


def test_after_a_look_the_page_speaks_from_the_test_set(admin: User, grade: Criterion) -> None:
    version = good(grade).versions.get()
    decided(version, "not_for_use", kappa={**KAPPA.as_dict(), "value": 0.99, "low": 0.98, "high": 0.995})
    text = seen(admin)
    assert "good agrees best with annotators (kappa 0.99, 0.98 to 0.99" in text
    assert "ROC AUC of good on dev" in text
    assert "Not for use good agrees best" in text
    assert "May decide alone: nothing. Its agreement is below the declared minimum." in text
    assert "Best judge with annotators 0.99 on test" in text
    assert "provisional" not in text


REGION_REASON = {"code": "region_certified", "share": 0.41, "risk": 0.1}


def alone(**change: object) -> dict[str, object]:
    decision = {
        "verdict": "alone_in_region", "reason": REGION_REASON, "more": None, "hours": None, "for": [], "against": [],
        "part": "test",
    }  # fmt: skip
    return {"decision": decision, **change}


def test_what_is_decided_alone_is_what_is_certified(admin: User, grade: Criterion) -> None:
    version = good(grade).versions.get()
    decided(version, "alone_in_region", **alone())
    text = seen(admin)
    assert "May decide alone: nothing until the test evaluation of good is certified." in text
    assert "Certify the test evaluation of good" in text
    certified(version, "alone_in_region", **alone())
    text = seen(admin)
    assert "good may decide 41.0% of units alone." in text
    assert "There it passes at most 10% of what annotators fail, and fails at most 10% of what they pass." in text
    low, high = (REGION["threshold"] + side * REGION["distance"] for side in (-1, 1))
    assert f"It passes scores of {number(high)} or more and fails those of {number(low)} or less." in text
    assert "Let good decide its 41.0% of units" in text
    certified(version, "alone_in_region", **alone(region={**REGION, "distance": 0.0}))
    assert "It decides every score." in seen(admin)
    # It has ended: nothing is decided by it.
    version.judge.versions.update(content_hash="another")
    text = seen(admin)
    assert "41.0%" not in text
    assert "May decide alone: nothing now" in text


def test_next_steps_lead_to_what_does_them(admin: User, grade: Criterion) -> None:
    report = AlignmentReport.objects.get()
    row = next(row for row in report.result["judges"] if row["judge"] == "good")
    row["decision"] |= {"verdict": "cannot_tell", "more": 12, "hours": 2.2}
    report.save()
    html = unescape(as_user(admin).get(URL).content.decode())
    asked = urlencode({"n": 12, "about": '["good", "grade"]'})
    assert f'<a href="{URL}planner/?{asked}">Label about 12 more samples (about 2 hours)</a>' in html
    client = as_user(admin)
    assert client.get(f"{URL}planner/?{asked}").status_code == 200
    steps = re.findall(
        r'<li><a href="([^"]+)">', html[html.index('class="next"') : html.index("</ol>", html.index('class="next"'))]
    )
    assert 1 <= len(steps) <= 3
    assert all(client.get(url.partition("#")[0]).status_code == 200 for url in steps)
    row["decision"] |= {"verdict": "with_a_person", "more": None}
    report.save()
    html = unescape(client.get(URL).content.decode())
    assert f'href="{URL}judge/look/?judge=good&measures=grade"' in html
    assert "Only an evaluation on the test set can allow it." in html


def test_a_reviewer_is_told_nothing_that_a_reviewer_may_not_do(grade: Criterion) -> None:
    reviewer = make_user("Reviewer")
    set_member(project=grade.project, user=reviewer, role="reviewer")
    decided(good(grade).versions.get(), "alone_in_region", **alone())
    assert "Certify" not in seen(reviewer)


def test_an_empty_project_has_one_sentence_and_the_next_step(admin: User) -> None:
    project = make_project("bare")
    set_member(project=project, user=admin, role="admin")
    freeze_report(criterion=project.criteria.get(key="support"))
    html = as_user(admin).get("/p/bare/reports/support/").content.decode()
    assert "No labels for this criterion yet." in html
    assert 'href="/p/bare/batches/new/">Create a batch to label</a>' in html
    assert "<details" not in html[html.index("<main") :]


def test_kappa_on_few_units_is_shown_with_its_caution(admin: User) -> None:
    project = make_project("few")
    set_member(project=project, user=admin, role="admin")
    samples = add_samples(project, ["a", "b", "c", "d"])
    values = ["supported", "supported", "contradicted", "contradicted"]
    rows = [(name, "claim:0", "ann", value) for name, value in zip(samples, values, strict=True)]
    rows += [(name, "claim:0", "ben", value) for name, value in zip(samples, [*values[:3], "supported"], strict=True)]
    add_labels(project.criteria.get(key="support"), samples, rows)
    freeze_report(criterion=project.criteria.get(key="support"))
    text = seen(admin, "/p/few/reports/support/")
    assert "Between annotators 0.50 on 4 common units: too few to rely on" in text
    overview = seen(admin, "/p/few/reports/")
    assert "0.50 on 4 common units: too few to rely on" in overview


def test_the_overview_names_the_best_judge_of_each_criterion(admin: User, grade: Criterion) -> None:
    text = seen(admin, "/p/desk/reports/")
    assert re.search(r"Grade \S.* good 0\.\d\d on dev 0\.\d\d to 0\.\d\d 0\.\d\d", text)
    assert "careless" not in text


def test_pictures_have_one_scale() -> None:
    people = {"value": 0.8, "low": 0.7, "high": 0.9}
    scale = Scale.of([{"value": -0.5, "low": -0.6, "high": -0.4}], people)
    picture = scale.picture({"value": -0.6, "low": None, "high": None})
    assert (picture.dot, picture.low, picture.people) == ("4.0%", None, scale.picture(people).dot)
    assert scale.picture({"value": 1.0, "low": None, "high": None}).dot == "96.0%"
    assert [text for _, text in scale.ticks] == ["−0.4", "0.0", "0.4", "0.8"]
    assert Scale.of([], {"value": None, "low": None, "high": None}).picture(people).band is None
