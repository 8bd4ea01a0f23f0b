"""Raters by the name a file gives them. A name that is a member's username means that member."""

from __future__ import annotations

from annotate.models import Membership, Project, Rater


class RaterLookup:
    def __init__(self, project: Project) -> None:
        self._project = project
        self._ids = dict(Rater.objects.filter(project=project).values_list("name", "pk"))
        self._members = dict(Membership.objects.filter(project=project).values_list("user__username", "user_id"))
        self._rater_of_user = dict(
            Rater.objects.filter(project=project, user__isnull=False).values_list("user_id", "pk")
        )
        self.created = 0

    def id_of(self, name: str) -> int:
        """The rater of that name, made if there is none."""
        rater_id = self._ids.get(name)
        if rater_id is None:
            user_id = self._members.get(name)
            rater_id = self._rater_of_user.get(user_id) if user_id is not None else None
            if rater_id is None:
                rater_id = Rater.objects.create(project=self._project, name=name, user_id=user_id).pk
                self.created += 1
            self._ids[name] = rater_id
        return rater_id
