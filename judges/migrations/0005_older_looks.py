"""Looks from before calibrators were measured on test say of each newer figure that they don't have it."""

from typing import Any, ClassVar

from django.db import migrations

REASON = "looks of that time did not measure it"


def fill(apps: Any, schema_editor: Any) -> None:
    for look in apps.get_model("judges", "Look").objects.filter(samples=None).iterator():
        none = {
            "value": None, "low": None, "high": None, "level": look.level, "n": 0, "clusters": 0, "method": "",
            "reason": REASON,
        }  # fmt: skip
        calibrated = dict.fromkeys(("kappa", "brier", "log_loss", "ece", "ece_if_perfect"), none)
        look.result = {
            "note": None,
            "answers": None,
            **dict.fromkeys(("roc_auc", "error", "ceiling"), none),
            "calibrated": {"calibrator": None, **calibrated, "points": [], "reason": REASON},
            "cutpoints": {"calibrator": None, "levels": None, "confusion": None, "kappa": none, "reason": REASON},
            "region": {
                "threshold": None, "distance": None, "risk": 0.05, "confidence": look.level, "error": none,
                "inside": none, "tried": [], "reason": REASON,
            },
            "trust": None,
            **look.result,
        }  # fmt: skip
        look.save(update_fields=["result"])


class Migration(migrations.Migration):
    dependencies: ClassVar = [("judges", "0004_look_samples")]

    operations: ClassVar = [migrations.RunPython(fill, migrations.RunPython.noop)]
