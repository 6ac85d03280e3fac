"""Runs a program that can write only below the given folders, whatever it starts; the kernel sees to it.

    python -I -S confine.py FOLDER … -- PROGRAM [ARGUMENT …]

Linux' Landlock: no privileges needed, inherited by every descendant, nothing can take it off again. Reading and
the network stay as they are. Without Landlock (other systems, kernels before 5.13) the program just runs;
`can_confine` says beforehand which it will be.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys

PR_SET_NO_NEW_PRIVS = 38
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
VERSION_FLAG, BENEATH = 1, 1
WRITE_FILE, REMOVE_DIR, REMOVE_FILE = 1 << 1, 1 << 4, 1 << 5
MAKE_CHAR, MAKE_DIR, MAKE_REG, MAKE_SOCK = 1 << 6, 1 << 7, 1 << 8, 1 << 9
MAKE_FIFO, MAKE_BLOCK, MAKE_SYM = 1 << 10, 1 << 11, 1 << 12
REFER, TRUNCATE = 1 << 13, 1 << 14
WRITING = (
    WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_CHAR | MAKE_DIR | MAKE_REG | MAKE_SOCK | MAKE_FIFO | MAKE_BLOCK
    | MAKE_SYM
)  # fmt: skip
SINCE = ((2, REFER), (3, TRUNCATE))
OF_A_FILE = WRITE_FILE | TRUNCATE


def can_confine() -> bool:
    return _abi() > 0


def confine(folders: list[str]) -> None:
    """From here on this process and its descendants write below `folders` only."""
    abi, libc = _abi(), _libc()
    if abi <= 0:
        return
    rights = WRITING
    for version, right in SINCE:
        rights |= right if abi >= version else 0
    attributes = struct.pack("Q", rights)
    ruleset = libc.syscall(CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0)
    _check(ruleset)
    for folder in folders:
        _allow(ruleset, folder, rights)
    _check(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    _check(libc.syscall(RESTRICT_SELF, ruleset, 0))
    os.close(ruleset)


def _allow(ruleset: int, folder: str, rights: int) -> None:
    try:
        below = os.open(folder, os.O_PATH | os.O_CLOEXEC)
    except OSError:  # not there: nothing can be written there either
        return
    try:
        granted = rights if os.path.isdir(folder) else rights & OF_A_FILE  # noqa: PTH112 (start-up time)
        rule = struct.pack("=Qi", granted, below)
        _check(_libc().syscall(ADD_RULE, ruleset, BENEATH, rule, 0))
    finally:
        os.close(below)


def _abi() -> int:
    if sys.platform != "linux":
        return 0
    return int(_libc().syscall(CREATE_RULESET, None, ctypes.c_size_t(0), VERSION_FLAG))


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _check(result: int) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def main() -> None:
    end = sys.argv.index("--")
    confine(sys.argv[1:end])
    program = sys.argv[end + 1 :]
    try:
        os.execvp(program[0], program)  # noqa: S606 (no shell is the point)
    except OSError as error:
        os.write(2, f"buildloop: cannot run {program[0]}: {error.strerror}\n".encode())
        os._exit(127 if isinstance(error, FileNotFoundError) else 126)


if __name__ == "__main__":
    main()
