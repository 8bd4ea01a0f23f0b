from django.apps import AppConfig


class Wiring(AppConfig):
    """Tasks are sent by way of the Celery application, so whoever loads Django has it. Who doesn't, such as the
    supervisor, does without, and stays small."""

    name = "config"

    def ready(self) -> None:
        from config import celery  # noqa: F401
