"""What to do next about an experiment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlencode

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotate.batches.read import disputed_units, open_tasks, open_work
from annotate.models import Batch
from annotate.models.batch import BatchStatus
from frontend.base.pages import ProjectPage
from frontend.systems.first_screen import FirstScreen
from systems.experiments.read import ExperimentState

FEWEST_TO_DRAW = 30


@dataclass(frozen=True, slots=True)
class Step:
    """url: "" where the reader may only be told."""

    text: str
    url: str = ""
    note: str = ""


def steps_of(page: ProjectPage, state: ExperimentState, screen: FirstScreen) -> Iterator[Step]:
    """What was drawn and waits for people comes before anything that is read off its figures. At most one of each."""
    waiting = next(filter(None, (_waiting(page, draw.batch) for draw in state.counting_draws)), None)
    if waiting is not None:
        yield waiting
    else:
        yield _reading(page, state, screen)
        if screen.to_draw is not None or not screen.drawn:
            yield _drawing(page, state, screen.to_draw or FEWEST_TO_DRAW)
    if screen.misleading is not None:
        row = screen.misleading
        said = _("On %(metric)s the judge alone (%(raw)s) points the other way: that is why labels correct it.")
        yield Step(said % {"metric": row.title, "raw": row.raw}, f"#levels-{screen.place}")


def own_work(page: ProjectPage, state: ExperimentState) -> Step | None:
    """Where the reader labels answers of the experiment."""
    numbers = {draw.batch.number for draw in state.draws}
    for work in open_work(page.project, page.user):
        if work.number in numbers:
            url = f"{page.url('label')}?{urlencode({'batch': work.number})}"
            return Step(_("Label your answers in batch %(n)d") % {"n": work.number}, url)
    return None


def _waiting(page: ProjectPage, batch: Batch) -> Step | None:
    given = {"batch": batch.number}
    url = page.url("batch", batch.number)
    if batch.status == BatchStatus.DRAFT:
        return Step(_("Open batch %(batch)d") % given, url, _("It is a draft: nobody labels it yet."))
    if batch.status == BatchStatus.CLOSED:
        return None
    tasks = 0 if batch.status == BatchStatus.ADJUDICATING else open_tasks(batch)
    if tasks:
        said = ngettext(
            "Have batch %(batch)d labelled: %(n)s task left",
            "Have batch %(batch)d labelled: %(n)s tasks left",
            tasks,
        )
        note = _("It is paused.") if batch.status == BatchStatus.PAUSED else ""
        return Step(said % {**given, "n": f"{tasks:,}"}, url, note)
    disputed = disputed_units(batch)
    if disputed:
        said = ngettext(
            "Decide %(n)s disputed unit of batch %(batch)d",
            "Decide %(n)s disputed units of batch %(batch)d",
            disputed,
        )
        url = f"{page.url('adjudicate')}?{urlencode({'batch': batch.number})}"
        return Step(said % {**given, "n": f"{disputed:,}"}, url)
    return None


def _reading(page: ProjectPage, state: ExperimentState, screen: FirstScreen) -> Step:
    worse = next((row for row in screen.decides if row.verdict == "worse"), None)
    shown = worse or screen.decides[0]
    query = urlencode({"metric": shown.name, "version": screen.candidate})
    url = f"{page.url('experiment-questions', state.experiment.name)}?{query}"
    if worse is None:
        return Step(_("Read the questions whose answers changed"), url)
    return Step(_("Read the questions that got worse on %(metric)s") % {"metric": shown.title}, url)


def _drawing(page: ProjectPage, state: ExperimentState, questions: int) -> Step:
    said = ngettext("Label %(n)s more question", "Label %(n)s more questions", questions) % {"n": f"{questions:,}"}
    url = f"{page.url('experiment-draw', state.experiment.name)}?{urlencode({'questions': questions})}"
    return Step(said, url if page.may("batches.change") else "", _("Drawn at random, the versions hidden."))
