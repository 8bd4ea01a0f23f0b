"""For templates of reports: what a report says, in the reader's language (judges.reports.said)."""

from django import template

from judges.reports.said import more_samples, said

register = template.Library()
register.filter("said", said)
register.filter("more_samples", more_samples)
