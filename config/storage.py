"""Where stored files are: on this machine's disk, or in an object store once S3_BUCKET is set (decision 66)."""

from __future__ import annotations

import logging
import sys
from importlib.util import find_spec
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.files.storage import storages

from annotate.core.errors import StorageError
from config import env

_log = logging.getLogger(__name__)


def default_storage() -> dict[str, Any]:
    """The entry of Django's STORAGES."""
    bucket = env.text("S3_BUCKET")
    if not bucket:
        return {"BACKEND": "django.core.files.storage.FileSystemStorage"}
    if find_spec("storages") is None or find_spec("boto3") is None:
        raise ImproperlyConfigured(
            "The environment variable S3_BUCKET is set, but what talks to S3 is not installed here. Install it: "
            "make run WITH=s3, or docker build --build-arg WITH=s3 ."
        )
    key, secret = env.text("S3_ACCESS_KEY_ID"), env.text("S3_SECRET_ACCESS_KEY")
    if bool(key) != bool(secret):
        given, missing = ("S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY")[:: 1 if key else -1]
        raise ImproperlyConfigured(f"The environment variable {given} is set, but {missing} is not. Set both or none.")
    endpoint = env.url("S3_ENDPOINT_URL", "", schemes=("https", "http")) if env.text("S3_ENDPOINT_URL") else None
    return {
        "BACKEND": "config.object_storage.ObjectStorage",
        "OPTIONS": {
            "bucket_name": bucket,
            "location": env.text("S3_PREFIX").strip("/"),
            "endpoint_url": endpoint,
            "region_name": env.text("S3_REGION") or None,
            # Many stores have one name for all buckets.
            "addressing_style": env.choice(
                "S3_ADDRESSING_STYLE", "path" if endpoint else "auto", ("path", "virtual", "auto")
            ),
            # Neither: those of the machine, as Amazon's own tools find them.
            **({"access_key": key, "secret_key": secret} if key else {}),
        },
    }


def try_out_storage() -> None:
    """When a process starts: ends it with a sentence if the store refuses us, which waiting does not mend. That it does
    not answer is only logged: labelling needs no file."""
    # One of its own, as processes that are forked from here must not share its connections.
    storage: Any = storages.create_storage(settings.STORAGES["default"])
    if not hasattr(storage, "try_out"):
        return
    try:
        storage.try_out()
    except StorageError as error:
        if error.is_refused:
            sys.exit(f"Touchstone: {error}")
        _log.error("%s", error)
