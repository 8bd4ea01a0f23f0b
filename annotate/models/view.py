"""Views of the lists of samples and of units that people saved."""

from django.db import models
from django.db.models.functions import Lower

MAX_NAME = 80


class ViewOf(models.TextChoices):
    SAMPLES = "samples"
    UNITS = "units"


class SavedView(models.Model):
    """What a list is chosen and sorted by, under a name.

    conditions: by name as the page's address has them, {"status": "disputed", "m.tier": "gold", "sort": "-agreement"}.
    What they mean, and whether they still apply, is known where they are applied: a criterion or a judge may be gone.
    is_shared: with all who may read samples; otherwise only its owner knows it.
    """

    project = models.ForeignKey("annotate.Project", on_delete=models.PROTECT, related_name="saved_views")
    owner = models.ForeignKey("annotate.User", on_delete=models.PROTECT, related_name="saved_views")
    name = models.CharField(max_length=MAX_NAME)
    of = models.CharField(max_length=7, choices=ViewOf, default=ViewOf.SAMPLES, db_default=ViewOf.SAMPLES.value)
    conditions = models.JSONField()
    is_shared = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint("project", "owner", "of", Lower("name"), name="view_name_once_per_owner"),
            models.CheckConstraint(condition=models.Q(of__in=ViewOf.values), name="view_of_a_list"),
        ]

    def __str__(self) -> str:
        return self.name
