"""The wiring: settings, URLs, the Celery application, the embedded services and the supervisor."""

from config import collector

# Every process comes by here before it loads the application.
collector.ask_less_often()
