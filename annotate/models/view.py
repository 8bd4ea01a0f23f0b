"""Views of the list of samples that people saved."""

from django.db import models
from django.db.models.functions import Lower

MAX_NAME = 80


class SavedView(models.Model):
    """What a list of samples is chosen and sorted by, under a name.

    conditions: by name as the page's address has them, {"status": "disputed", "m.tier": "gold", "sort": "-agreement"}.
    What they mean, and whether they still apply, is known where they are applied: a criterion or a judge may be gone.
    is_shared: with all who may read samples; otherwise only its owner knows it.
    """

    project = models.ForeignKey("annotate.Project", on_delete=models.PROTECT, related_name="saved_views")
    owner = models.ForeignKey("annotate.User", on_delete=models.PROTECT, related_name="saved_views")
    name = models.CharField(max_length=MAX_NAME)
    conditions = models.JSONField()
    is_shared = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint("project", "owner", Lower("name"), name="view_name_once_per_owner"),
        ]

    def __str__(self) -> str:
        return self.name
