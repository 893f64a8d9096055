"""Write a file so that a reader sees the old content or the new one, and nothing else is lost.

A link stays a link, a file keeps its permissions and its owner, devices and pipes are written
directly, and /dev/stdout at its current position, also if it is a file.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress

_DESCRIPTORS = ("/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/self/fd/")  # open already


def replace_content(path: str, content: bytes) -> None:
    """Write a file, atomically where there is, or will be, a regular file that can be replaced."""
    if os.path.abspath(path).startswith(_DESCRIPTORS):
        with open(path, "ab") as file:
            file.write(content)
        return
    target = os.path.realpath(path)
    try:
        before = os.stat(path)
    except FileNotFoundError:
        before = None
    if before is None or _is_file(before, target):
        temporary = f"{target}.{os.urandom(8).hex()}"
        try:
            with open(temporary, "xb", opener=_private if before else None) as file:
                file.write(content)
            if before is None or _made_like(temporary, before):
                os.replace(temporary, target)
                return
        finally:
            with suppress(OSError):
                os.unlink(temporary)
    with open(path, "wb") as file:
        file.write(content)


def _is_file(status: os.stat_result, target: str) -> bool:
    """Whether it is a regular file with this name; /dev/stdout may be one without any."""
    try:
        return stat.S_ISREG(status.st_mode) and os.path.samestat(status, os.stat(target))
    except OSError:
        return False


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _made_like(path: str, before: os.stat_result) -> bool:
    """Give a file the owner and the permissions of another; False if that is not allowed."""
    now = os.stat(path)
    if (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
        try:
            os.chown(path, before.st_uid, before.st_gid)
        except (OSError, AttributeError):
            return False
    os.chmod(path, stat.S_IMODE(before.st_mode))
    return True
