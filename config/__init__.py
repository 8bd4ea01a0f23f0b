"""The wiring: settings, URLs, the Celery application, the embedded services and the supervisor."""

from config.celery import app as celery_app

__all__ = ["celery_app"]
