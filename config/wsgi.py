"""The WSGI application that gunicorn serves."""

import os

from django.core.wsgi import get_wsgi_application

from config.embedded import ensure_services
from config.requests import Utf8Request
from config.room import roomy
from config.waits import bound_waits

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

# Held for the life of the process: embedded services outlive the web processes that use them.
services = ensure_services()
handler = get_wsgi_application()
handler.request_class = Utf8Request
application = roomy(handler)
bound_waits()
