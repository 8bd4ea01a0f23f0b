"""Requests as UTF-8: addresses, queries and forms, whichever charset their Content-Type names.

Python knows a hundred: some read what UTF-8 can't write (`utf-7`: halves of surrogate pairs), some are none at all
(`zlib`), and Django takes each, also for the query of a GET. Forms that name one are refused (config/bodies.py).
"""

from __future__ import annotations

from typing import Any

from django.core.handlers.wsgi import WSGIRequest
from django.utils.http import parse_header_parameters


class Utf8Request(WSGIRequest):
    def _set_content_type_params(self, meta: dict[str, Any]) -> None:
        try:
            self.content_type, self.content_params = parse_header_parameters(meta.get("CONTENT_TYPE", ""))
        except ValueError:  # as good as none; REST framework reads it, too
            meta["CONTENT_TYPE"] = ""
            self.content_type, self.content_params = "", {}
