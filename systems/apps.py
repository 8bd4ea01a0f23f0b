from django.apps import AppConfig


class SystemsConfig(AppConfig):
    name = "systems"
    verbose_name = "Systems"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from annotate.files.import_engine import register
        from annotate.files.sample_follower import follow_samples
        from judges.core.duplicating import copy_too

        register("questions", "systems.questions.import_questions.QuestionImporter")
        register("qrels", "systems.retrieval.import_qrels.QrelsImporter")
        register("run", "systems.retrieval.import_run.RunImporter")
        follow_samples("systems.responses.import_responses.ResponseFollower")
        copy_too("systems.diagnosis.write.copy_mapping")
        copy_too("systems.experiments.bands_write.copy_bands")
        copy_too("systems.targets.write.copy_targets")
