from django.apps import AppConfig


class JudgesConfig(AppConfig):
    name = "judges"
    verbose_name = "Judges"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from annotate.batches.proposing import register_source
        from annotate.files.import_engine import register

        home = "judges.files.import_scores"
        register("scores", f"{home}.ScoreImporter", claim_users_of_app=f"{home}.with_scored_claims")
        register_source("judges.proposals.values")
