"""An annotator has read what reviewers decided otherwise."""

from __future__ import annotations

from collections.abc import Collection

from annotate.models import LessonRead, Project, User
from annotate.selectors.lessons import own_revisions


def mark_read(*, user: User, project: Project, verdict_ids: Collection[int]) -> int:
    """Marks these of one's own lessons as read, as they stand now. Returns how many that were. Ids that name no lesson
    of one's own are nobody's business and change nothing."""
    own = own_revisions(user, project, verdict_ids)
    LessonRead.objects.bulk_create(
        [LessonRead(user=user, verdict_id=pk, revision=revision) for pk, revision in own.items()],
        update_conflicts=True,
        unique_fields=["user", "verdict"],
        update_fields=["revision"],
    )
    return len(own)
