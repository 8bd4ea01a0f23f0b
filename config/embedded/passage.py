"""As root: the services run as a user of their own, who has to come down to the data and the programs. Folders that are
closed, such as /root, are opened for this user alone, by an entry in their access control list."""

import errno
import os
import pwd
import struct
from pathlib import Path

from .places import EmbeddedError

# The list as Linux keeps it (acl(5), <linux/posix_acl_xattr.h>): a version, then entries of a tag, rights and an id.
_LIST = "system.posix_acl_access"
_VERSION, _ENTRY = struct.Struct("<I"), struct.Struct("<HHI")
_OWNER, _USER, _GROUP, _MASK, _OTHERS, _NO_ID = 0x01, 0x02, 0x04, 0x10, 0x20, 0xFFFFFFFF


def make_reachable(path: Path, user: int) -> None:
    """Passing through is allowed, listing is not."""
    for folder in (path, *path.parents):
        state = folder.stat()
        # Our groups stay the services' groups, and for their members the last digit says nothing.
        in_group = state.st_gid in (os.getegid(), *os.getgroups())
        needed = 0o100 if state.st_uid == user else 0o010 if in_group else 0o001
        if not state.st_mode & needed:
            _let_pass(folder, state.st_mode, user)


def _let_pass(folder: Path, mode: int, user: int) -> None:
    try:
        entries = _entries(folder, mode)
        # What the mask leaves out nobody in the list may do.
        mask = entries.get((_MASK, _NO_ID), entries[_GROUP, _NO_ID])
        entries |= {(_USER, user): entries.get((_USER, user), 0) | 1, (_MASK, _NO_ID): mask | 1}
        packed = b"".join(_ENTRY.pack(tag, may, owner) for (tag, owner), may in sorted(entries.items()))
        os.setxattr(folder, _LIST, _VERSION.pack(2) + packed)
    except (OSError, AttributeError):  # no such lists on this file system, or on this system
        raise EmbeddedError(
            f"PostgreSQL does not run as root, and the user {pwd.getpwuid(user).pw_name} that it runs as can't pass "
            f"through {folder}. Run as another user, set DATA_DIR to a folder elsewhere, or let everybody pass: "
            f"chmod o+x {folder}"
        ) from None


def _entries(folder: Path, mode: int) -> dict[tuple[int, int], int]:
    """(tag, id) -> rights; without a list, what the mode says."""
    try:
        return {
            (tag, owner): may for tag, may, owner in _ENTRY.iter_unpack(os.getxattr(folder, _LIST)[_VERSION.size :])
        }
    except OSError as error:
        if error.errno != errno.ENODATA:
            raise
    return {(_OWNER, _NO_ID): mode >> 6 & 7, (_GROUP, _NO_ID): mode >> 3 & 7, (_OTHERS, _NO_ID): mode & 7}
