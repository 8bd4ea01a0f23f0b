"""What came of asking a judge about a unit."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class ScoreStatus(models.TextChoices):
    OK = "ok", _("OK")
    REFUSED = "refused", _("Refused")
    PARSE_ERROR = "parse_error", _("Reply not understood")
    TRUNCATED = "truncated", _("Cut off")
    TIMEOUT = "timeout", _("Timed out")
    ERROR = "error", _("Failed")
