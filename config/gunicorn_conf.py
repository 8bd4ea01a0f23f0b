"""How gunicorn serves us: `gunicorn --config python:config.gunicorn_conf config.wsgi`."""

import json
from typing import Any

from gunicorn import util

from config import collector, env, logs

bind = f"{env.text('HOST', env.OWN_ADDRESS)}:{env.number('PORT', 8000, low=1, high=65_535)}"
worker_class = "gthread"
workers = env.number("WEB_WORKERS", 2, low=1, high=64)
threads = env.number("WEB_THREADS", 4, low=1, high=64)
# Import once and fork: starts sooner, shares memory, and a broken import ends the start, not every worker in turn.
preload_app = True
# A labelling browser sends a request every few seconds; keeping its connection saves a handshake for each.
keepalive = 75
graceful_timeout = 5
timeout = 120
# The heartbeat file belongs in memory: on a disk it stalls whenever the disk does.
worker_tmp_dir = env.text("WEB_HEARTBEAT_DIR") or None
loglevel = "warning"
logconfig_dict = logs.configuration()
# Nothing uses gunicorn's control socket.
control_socket_disable = True


def _write_error(connection: Any, status: int, reason: str, why: str) -> None:
    """What can't be read as HTTP never reaches Django, and of an address that is too long nobody knows whether it is
    below /api/: all of it is answered in the API's shape, and in a sentence."""
    if status == 501:  # a coding of the body that gunicorn doesn't know: no fault of ours
        status = 400
    code, message = (
        ("server_error", reason) if status >= 500 else ("bad_request", f"{reason}: {why or 'no HTTP'}"[:300])
    )
    body = json.dumps({"error": {"code": code, "message": message}})
    head = f"HTTP/1.1 {status} {reason}\r\nConnection: close\r\nContent-Type: application/json\r\n"
    util.write_nonblock(connection, f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())


util.write_error = _write_error


def on_starting(server: Any) -> None:
    from config.storage import try_out_storage

    try_out_storage()


def when_ready(server: Any) -> None:
    """All code is loaded before the workers are forked."""
    from django.urls import get_resolver

    _ = get_resolver().url_patterns
    collector.freeze()
