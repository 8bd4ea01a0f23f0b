"""Stored files in an S3-compatible object store, by django-storages (docs/decisions/0066-files-in-storage.md).

Neither way is more than a part in memory: what is stored goes in parts of 5 MiB, one after the other; what is read
comes in ranges of 4 MiB, so that a slow download holds no connection to the store, and a range that breaks is asked for
again. Objects are private, and no address of one is ever made.
"""

from __future__ import annotations

import io
import logging
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from boto3.exceptions import Boto3Error
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError, NoCredentialsError, ParamValidationError
from django.core.files import File
from django.core.files.base import ContentFile
from storages.backends.s3 import S3Storage

from annotate.core.errors import StorageError
from annotate.core.stored import CHUNK

_log = logging.getLogger(__name__)

_PART = 5 * 1024 * 1024
_TRIES = 3
# What no waiting mends, by the codes of S3; the answer to HEAD has only the number.
_RIGHTS = "the credentials are wrong, or may not list, read, write and delete in this bucket"
_REGION = "the bucket is in another region: set S3_REGION"
_REFUSALS = {
    "404": "there is no such bucket (S3_BUCKET)",
    "NoSuchBucket": "there is no such bucket (S3_BUCKET)",
    "InvalidBucketName": "that is no name of a bucket (S3_BUCKET)",
    "403": _RIGHTS,
    "AccessDenied": _RIGHTS,
    "InvalidAccessKeyId": "S3_ACCESS_KEY_ID is not known there",
    "SignatureDoesNotMatch": "S3_SECRET_ACCESS_KEY is not that of S3_ACCESS_KEY_ID",
    "PermanentRedirect": _REGION,
    "AuthorizationHeaderMalformed": _REGION,
}


class ObjectStorage(S3Storage):
    def __init__(self, *, addressing_style: str, **options: Any) -> None:
        config = Config(
            connect_timeout=5,
            read_timeout=30,
            retries={"mode": "standard", "total_max_attempts": _TRIES},
            s3={"addressing_style": addressing_style},
            # Some stores refuse or misread the checksums that would be added.
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
        )
        transfer = TransferConfig(multipart_threshold=_PART, multipart_chunksize=_PART, use_threads=False)
        super().__init__(client_config=config, transfer_config=transfer, file_overwrite=True, **options)
        self._making, self._clients = threading.Lock(), dict[bool, Any]()

    @property
    def client(self) -> Any:
        """For all threads; each of django-storages' own would take 20 MB."""
        return self._client(is_patient=True)

    def address(self, name: str) -> dict[str, str]:
        return {"Bucket": self.bucket_name, "Key": self._normalize_name(name)}

    def _open(self, name: str, mode: str = "rb") -> File[bytes]:
        if mode != "rb":
            raise ValueError("An object is stored as a whole, and then only read.")
        head = self._head(name)
        if head is None:
            raise FileNotFoundError(name)
        size = head["ContentLength"]
        file = File(io.BufferedReader(_Ranges(self, name, size, head["ETag"]), CHUNK), name)
        file.size = size
        return file

    def _save(self, name: str, content: File[bytes]) -> str:
        """Parts of one that fails are removed by the library; those of a process that is killed, by `discard`."""
        content.seek(0)
        kind = {"ContentType": self.default_content_type}
        with self.explained():
            self.client.upload_fileobj(content, **self.address(name), ExtraArgs=kind, Config=self.transfer_config)
        return name

    def exists(self, name: str) -> bool:
        return self._head(name) is not None

    def delete(self, name: str) -> None:
        with self.explained():
            self.client.delete_object(**self.address(name))

    def _head(self, name: str) -> Any:
        """None for one that is not there."""
        try:
            with self.explained():
                return self.client.head_object(**self.address(name))
        except StorageError as error:
            if _code(error) != "404":
                raise
            return None

    def discard(self, name: str) -> None:
        """Also the parts of one that was never whole, which a store would keep and count for ever."""
        self.delete(name)
        address = self.address(name)
        with self.explained():
            begun = self.client.list_multipart_uploads(Bucket=address["Bucket"], Prefix=address["Key"])
            for one in begun.get("Uploads", ()):
                if one["Key"] != address["Key"]:
                    continue  # its name only begins so
                self.client.abort_multipart_upload(**address, UploadId=one["UploadId"])

    def url(self, *_: Any, **__: Any) -> NoReturn:
        raise NotImplementedError("What is stored is handed out by us, to those who may have it.")

    def answers(self) -> bool:
        """For a probe: at once, and without trying again."""
        try:
            with self.explained():
                self._ask()
        except StorageError as error:
            _log.error("%s", error)
            return False
        return True

    def try_out(self) -> None:
        """Whether all can be done that we do. Raises StorageError."""
        with self.explained():
            self._ask()
        name = f"touchstone-{uuid.uuid4()}"
        self.save(name, ContentFile(name.encode()))
        with self.open(name) as file:
            file.read()
        self.delete(name)

    def _ask(self) -> None:
        """By a request whose answer says why not, which that to HEAD does not."""
        client = self._client(is_patient=False)
        client.list_objects_v2(Bucket=self.bucket_name, Prefix=self.address("")["Key"], MaxKeys=1)

    def _client(self, *, is_patient: bool) -> Any:
        with self._making:
            if is_patient not in self._clients:
                at_once = Config(connect_timeout=2, read_timeout=2, retries={"total_max_attempts": 1})
                self._clients[is_patient] = self._create_session().client(
                    "s3",
                    region_name=self.region_name,
                    endpoint_url=self.endpoint_url,
                    config=self.client_config if is_patient else self.client_config.merge(at_once),
                )
            return self._clients[is_patient]

    @contextmanager
    def explained(self) -> Iterator[None]:
        """What the libraries raise, as an error of ours that says where and why."""
        try:
            yield
        except (ClientError, BotoCoreError, Boto3Error) as error:
            refusal = _refusal(error)
            where = f"The object store {self.endpoint_url or 'Amazon S3'}, bucket {self.bucket_name}"
            raise StorageError(f"{where}: {refusal or error}", is_refused=bool(refusal)) from error


class _Ranges(io.RawIOBase):
    """An object, by requests for parts of it."""

    def __init__(self, storage: ObjectStorage, name: str, size: int, etag: str) -> None:
        self._storage, self._name, self._size, self._etag, self._at = storage, name, size, etag, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        return self._at

    def readinto(self, buffer: Any) -> int:
        end = min(self._at + len(buffer), self._size)
        if end <= self._at:
            return 0
        content = self._range(self._at, end)
        buffer[: len(content)] = content
        self._at += len(content)
        return len(content)

    def _range(self, start: int, end: int) -> bytes:
        """Of the object as it was opened."""
        asked = {**self._storage.address(self._name), "Range": f"bytes={start}-{end - 1}", "IfMatch": self._etag}
        with self._storage.explained():
            for _ in range(_TRIES - 1):
                try:
                    return bytes(self._storage.client.get_object(**asked)["Body"].read())
                except HTTPClientError:
                    pass  # broken off on the way, which the library does not try again
            return bytes(self._storage.client.get_object(**asked)["Body"].read())


def _code(error: BaseException | None) -> str:
    """S3's, of an error or of what it came from."""
    while error is not None:
        if isinstance(error, ClientError):
            return str(error.response["Error"].get("Code", ""))
        error = error.__cause__ or error.__context__
    return ""


def _refusal(error: Exception) -> str:
    if isinstance(error, NoCredentialsError):
        return "there are no credentials: set S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY"
    if isinstance(error, ParamValidationError):
        return _REFUSALS["InvalidBucketName"]
    return _REFUSALS.get(_code(error), "")
