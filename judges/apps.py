from django.apps import AppConfig


class JudgesConfig(AppConfig):
    name = "judges"
    verbose_name = "Judges"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from annotate.files.import_engine import register

        register("scores", "judges.importing.ScoreImporter", claim_users_of_app="judges.importing.with_scored_claims")
