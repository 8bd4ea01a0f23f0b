"""Qualifications over the API."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rest_framework.request import Request

from annotate.api import qualifications_serializers as shapes
from annotate.api.base import ProjectAPIView
from annotate.api.batches import criteria_keyed
from annotate.api.schema import answers
from annotate.api.serializers import Nothing, With
from annotate.batches.qualifications import (
    Asked,
    add_people,
    create_qualification,
    end_qualification,
    grant_try,
    waive,
    withdraw,
)
from annotate.models import Qualification
from annotate.projects.read import people_of, person_of
from annotate.qualification.read import Standing, one_qualification, own_standings, qualifications_of, standings
from annotate.qualification.tries import start_test


class QualificationsView(ProjectAPIView):
    actions = {"GET": "qualifications.read", "POST": "qualifications.change"}

    @answers(shapes.Qualification(many=True))
    def get(self, request: Request, slug: str) -> Iterable[Qualification]:
        """The qualifications, the latest first."""
        return qualifications_of(self.project)

    @answers(shapes.Qualification, takes=shapes.QualificationCreation, status=201)
    def post(self, request: Request, data: dict[str, Any], slug: str) -> Qualification:
        """Makes a qualification: a training and a test, on samples with known answers.

        Known answers are those that there are, and verdicts that reviewers decided or several annotators agreed on,
        which become known answers. Training and test share no sample and no group of samples. Refused (422) with what
        is missing.
        """
        given = {name: data[name] for name in ("name", "kappa", "seed") if name in data}
        chosen = {name: data[name] for name in ("training", "test", "tries", "training_samples", "test_samples")
                  if name in data}  # fmt: skip
        asked = Asked(criteria=criteria_keyed(self.project, data["criteria"]), **chosen)
        people = people_of(self.project, data.get("annotators", []))
        return create_qualification(actor=self.user, project=self.project, asked=asked, annotators=people, **given)


class _OneView(ProjectAPIView):
    def qualification(self, pk: int) -> With:
        found = one_qualification(self.project, pk)
        return With(found, people=standings(found))


class QualificationView(_OneView):
    actions = {"GET": "qualifications.read", "DELETE": "qualifications.change"}

    @answers(shapes.QualificationWithPeople)
    def get(self, request: Request, slug: str, qualification_id: int) -> With:
        """One qualification, with how far everybody in it is."""
        return self.qualification(qualification_id)

    @answers()
    def delete(self, request: Request, slug: str, qualification_id: int) -> None:
        """Ends a qualification.

        No one is trained or tested any more. Who is qualified stays so, and batches keep requiring it.
        """
        end_qualification(actor=self.user, qualification=one_qualification(self.project, qualification_id))


class QualificationPeopleView(_OneView):
    actions = {"POST": "qualifications.change"}

    @answers(shapes.QualificationWithPeople, takes=shapes.QualificationPeople, conflict=True)
    def post(self, request: Request, data: dict[str, Any], slug: str, qualification_id: int) -> With:
        """Brings people into it, who start with the training. Repeating it changes nothing."""
        people = people_of(self.project, data["annotators"])
        add_people(actor=self.user, qualification=one_qualification(self.project, qualification_id), annotators=people)
        return self.qualification(qualification_id)


class QualificationTryView(_OneView):
    actions = {"POST": "qualifications.change"}

    @answers(shapes.QualificationWithPeople, takes=Nothing, conflict=True)
    def post(self, request: Request, slug: str, qualification_id: int, username: str) -> With:
        """Lets a person who has no try left take one more test. There is no body."""
        found = one_qualification(self.project, qualification_id)
        grant_try(actor=self.user, qualification=found, user=person_of(self.project, username))
        return self.qualification(qualification_id)


class QualificationWaiveView(_OneView):
    actions = {"POST": "qualifications.change"}

    @answers(shapes.QualificationWithPeople, takes=shapes.Reason, conflict=True)
    def post(self, request: Request, data: dict[str, Any], slug: str, qualification_id: int, username: str) -> With:
        """Qualifies a person without a test, for a reason that the audit log keeps."""
        found = one_qualification(self.project, qualification_id)
        waive(actor=self.user, qualification=found, user=person_of(self.project, username), reason=data["reason"])
        return self.qualification(qualification_id)


class QualificationWithdrawView(_OneView):
    actions = {"POST": "qualifications.change"}

    @answers(shapes.QualificationWithPeople, takes=shapes.Reason, conflict=True)
    def post(self, request: Request, data: dict[str, Any], slug: str, qualification_id: int, username: str) -> With:
        """Takes the qualification from a person, for a reason that the audit log keeps and the person sees.

        Their open tasks of batches that require it are handed on. What they labelled stays and counts.
        """
        found = one_qualification(self.project, qualification_id)
        withdraw(actor=self.user, qualification=found, user=person_of(self.project, username), reason=data["reason"])
        return self.qualification(qualification_id)


class OwnQualificationsView(ProjectAPIView):
    actions = {"GET": "work.label"}

    @answers(shapes.OwnStanding(many=True))
    def get(self, request: Request, slug: str) -> list[Standing]:
        """The qualifications that you are in, and how far you are."""
        return own_standings(self.user, [self.project]).get(self.project.pk, [])


class OwnTestView(ProjectAPIView):
    actions = {"POST": "work.label"}

    @answers(shapes.TestStarted, takes=Nothing, conflict=True)
    def post(self, request: Request, slug: str, qualification_id: int) -> dict[str, Any]:
        """Starts your next test.

        Its tasks are then among your own. While one is under way, nothing is changed. Refused (409) before the training
        is finished, and when no tries or samples are left. There is no body.
        """
        found = one_qualification(self.project, qualification_id)
        start_test(actor=self.user, qualification=found)
        return {"batch": found.test.number}
