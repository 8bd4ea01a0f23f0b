"""Pooling what versions retrieved for a test set, and conflicts of annotators’ judgements with imported ones."""

from __future__ import annotations

from dataclasses import dataclass

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotate.core.errors import Conflict
from annotate.models import User
from frontend.base.forms import offer_members
from frontend.base.pages import ProjectPage, RefusalsShown, project_view, status_of
from systems.models import FrozenSet, Holds, SystemVersion
from systems.questions.read import one_frozen
from systems.responses.read import versions_asked
from systems.retrieval.contradictions import Contradiction, contradictions_of, decide_relevance, passages_of
from systems.retrieval.figures_read import MAX_K, truth_of
from systems.retrieval.pool import USUAL_OVERLAP, Pooled, pool

_DEPTH = 10


class PoolForm(forms.Form):
    versions = forms.ModelMultipleChoiceField(
        label=gettext_lazy("Versions"),
        queryset=SystemVersion.objects.none(),
        widget=forms.CheckboxSelectMultiple,
        to_field_name="name",
    )
    k = forms.IntegerField(
        label=gettext_lazy("Documents of each version (k)"),
        min_value=1,
        max_value=MAX_K,
        initial=_DEPTH,
        help_text=gettext_lazy("The first k of each ranking. What no version has among them is not judged."),
    )
    annotators = forms.ModelMultipleChoiceField(
        label=gettext_lazy("Annotators"), queryset=User.objects.none(), widget=forms.CheckboxSelectMultiple
    )
    overlap = forms.IntegerField(label=gettext_lazy("Annotators per sample"), min_value=1, initial=USUAL_OVERLAP)

    def __init__(self, page: ProjectPage, frozen: FrozenSet) -> None:
        super().__init__(page.data)
        versions = self.fields["versions"]
        versions.queryset = versions_asked(frozen)  # type: ignore[attr-defined]
        offer_members(self.fields["annotators"], page.project)


@project_view("systems", get="batches.change", post="batches.change")
def pool_documents(page: ProjectPage, set_name: str, number: int) -> HttpResponse:
    """A POST pools, and shows the draft."""
    frozen = one_frozen(page.project, set_name, number)
    form = PoolForm(page, frozen)
    if form.is_valid():
        given = form.cleaned_data
        with RefusalsShown(form, places={"bad_overlap": "overlap", "too_many_passages": "k"}):
            done = pool(
                actor=page.user,
                frozen=frozen,
                versions=list(given["versions"]),
                k=given["k"],
                annotators=list(given["annotators"]),
                overlap=given["overlap"],
            )
            messages.success(page.request, _said(done))
            return page.redirect("batch", done.batch.number)
    return page.render("systems/pool.html", {"form": form, "frozen": frozen}, status=status_of(form))


def _said(done: Pooled) -> str:
    counts = (
        (done.passages, ngettext("%(n)s passage pooled.", "%(n)s passages pooled.", done.passages)),
        (done.known, ngettext("%(n)s was pooled or judged before.", "%(n)s were pooled or judged before.", done.known)),
        (
            done.without_text,
            ngettext(
                "%(n)s document has no text in this project, so it can’t be judged.",
                "%(n)s documents have no text in this project, so they can’t be judged.",
                done.without_text,
            ),
        ),
        (
            done.without_ids,
            ngettext("%(n)s response has no document IDs.", "%(n)s responses have no document IDs.", done.without_ids),
        ),
    )
    return " ".join(said % {"n": f"{count:,}"} for count, said in counts if count)


class DecisionForm(forms.Form):
    """The grades are those that the reviewer saw."""

    question = forms.CharField()
    document = forms.CharField(strip=False)
    imported = forms.IntegerField(min_value=0)
    people = forms.IntegerField(min_value=0)
    holds = forms.ChoiceField(choices=Holds.choices)


@dataclass(frozen=True)
class Row:
    """passages: what annotators read of the document."""

    found: Contradiction
    passages: list[str]

    @property
    def holder(self) -> str:
        return "" if self.found.holds is None else str(Holds(self.found.holds).label)


@project_view("systems", get="systems.read", post="adjudication.decide")
def conflicts(page: ProjectPage, set_name: str, number: int) -> HttpResponse:
    """Those that no one has decided first. A POST decides one."""
    frozen = one_frozen(page.project, set_name, number)
    if page.data is not None:
        form = DecisionForm(page.data)
        if form.is_valid():
            page.attempt(
                lambda: decide_relevance(actor=page.user, frozen=frozen, **form.cleaned_data), _("Decision saved.")
            )
        else:
            messages.error(page.request, _("The address or the data sent was invalid. No changes were made."))
        return page.redirect("retrieval-conflicts", set_name, number)
    try:
        truth = truth_of(frozen, reader=page.user)
    except Conflict as refusal:
        return page.render("systems/conflicts.html", {"frozen": frozen, "held_back": refusal.message})
    found = contradictions_of(truth)
    rows = page.rows(found, per_page=20)
    passages = passages_of(page.project, list(rows), reader=page.user)
    context = {
        "frozen": frozen,
        "rows": rows,
        "conflicts": [Row(one, passages.get((one.revision.question_id, one.document), [])) for one in rows],
        "open": truth.contradicted,
        "may_decide": page.may("adjudication.decide"),
    }
    return page.render("systems/conflicts.html", context)
