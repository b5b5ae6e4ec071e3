"""What a child that runs learner code may do: limits everywhere, Landlock and seccomp on Linux.

Sent to the child as text: standard library only. The ruleset is built once, in the server; the
child only steps behind it. What the kernel lacks is reported, never silently assumed.
"""

from __future__ import annotations

import ctypes
import os
import platform
import signal
import struct
import sys
import sysconfig

MEMORY = 4 << 30  # bytes of address space
FILE_SIZE = 16 << 20  # bytes, for any file the child writes
OPEN_FILES = 256

# Landlock, linux/landlock.h: one bit an operation; later versions of the interface know more.
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
ALL_FILE_OPERATIONS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
TCP = 0b11  # bind, connect
SCOPES = 0b11  # abstract sockets, signals
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
BELOW_PATH = 1
READ = READ_FILE | READ_DIR | EXECUTE
WORK = READ_FILE | READ_DIR | ((1 << 15) - 1 - EXECUTE)

SYSTEM = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache")
SYSTEM += ("/usr/share/zoneinfo", "/etc/localtime", "/dev/urandom", "/dev/zero")

# seccomp: system calls a model never needs, refused with EPERM
FORBIDDEN = {
    "x86_64": {
        "socket": 41, "connect": 42, "bind": 49, "ptrace": 101, "mount": 165, "keyctl": 250,
        "chmod": 90, "fchmod": 91, "chown": 92, "fchown": 93, "lchown": 94, "utime": 132,
        "setxattr": 188, "lsetxattr": 189, "fsetxattr": 190, "removexattr": 197,
        "lremovexattr": 198, "fremovexattr": 199, "utimes": 235, "fchownat": 260,
        "futimesat": 261, "fchmodat": 268, "utimensat": 280, "fchmodat2": 452,
        "unshare": 272, "perf_event_open": 298, "open_by_handle_at": 304, "setns": 308,
        "process_vm_readv": 310, "process_vm_writev": 311, "bpf": 321, "userfaultfd": 323,
        "io_uring_setup": 425, "pidfd_open": 434, "pidfd_getfd": 438, "process_madvise": 440,
    },
    "aarch64": {
        "socket": 198, "connect": 203, "bind": 200, "ptrace": 117, "mount": 40, "keyctl": 219,
        "setxattr": 5, "lsetxattr": 6, "fsetxattr": 7, "removexattr": 14, "lremovexattr": 15,
        "fremovexattr": 16, "fchmod": 52, "fchmodat": 53, "fchownat": 54, "fchown": 55,
        "utimensat": 88, "fchmodat2": 452,
        "unshare": 97, "perf_event_open": 241, "open_by_handle_at": 265, "setns": 268,
        "process_vm_readv": 270, "process_vm_writev": 271, "bpf": 280, "userfaultfd": 282,
        "io_uring_setup": 425, "pidfd_open": 434, "pidfd_getfd": 438, "process_madvise": 440,
    },
}  # fmt: skip
# refused unless their first argument is 0, the process itself
SELF_ONLY = {"x86_64": {"prlimit64": 302}, "aarch64": {"prlimit64": 261}}
AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP = 1, 4, 22
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 36, 38

_libc = ctypes.CDLL(None, use_errno=True)


def die_with_parent():
    """Linux: the kernel kills this process when its parent goes."""
    if sys.platform == "linux":
        _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def adopt_orphans():
    """Linux: descendants whose parent goes become children of this process."""
    if sys.platform == "linux":
        _libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children():
    """The process ids of this process's children, as far as the system tells."""
    try:
        with open("/proc/self/task/%d/children" % os.getpid()) as file:
            return [int(pid) for pid in file.read().split()]
    except OSError:
        return []


def forget_checkout(hidden):
    """Take a source checkout of the engine off the import path: it holds more than packages."""
    roots = {os.path.dirname(os.path.realpath(path)) for path in hidden}
    packages = ("site-packages", "dist-packages")
    sys.path[:] = [
        entry
        for entry in sys.path
        if os.path.realpath(entry) not in roots or os.path.basename(entry) in packages
    ]


def landlock_version():
    """The kernel's Landlock interface, 0 where there is none."""
    if sys.platform != "linux":
        return 0
    version = _libc.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), 1)
    return max(0, version)


def landlock_ruleset(workdir, hidden, readable=()):
    """A descriptor of rules: read the interpreter, its packages and the files `readable`, write `workdir`,
    no more.

    `hidden` are paths that stay closed even where they lie inside what is readable (the engine's
    own package, the exercises). Returns -1 where the kernel has no Landlock.
    """
    version = landlock_version()
    if not version:
        return -1
    handled = ALL_FILE_OPERATIONS[max(v for v in ALL_FILE_OPERATIONS if v <= version)]
    tcp = TCP if version >= 4 else 0
    scoped = SCOPES if version >= 6 else 0
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    attributes = struct.pack("=QQQ", handled, tcp, scoped)[:size]
    ruleset = _libc.syscall(CREATE_RULESET, attributes, ctypes.c_size_t(size), 0)
    if ruleset < 0:
        return -1
    hidden = [os.path.realpath(path) for path in hidden]
    for path in _readable():
        _allow_but(ruleset, path, READ & handled, hidden)
    for path in readable:
        _allow(ruleset, path, READ_FILE)
    _allow(ruleset, workdir, WORK & handled)
    _allow(ruleset, "/dev/null", READ_FILE | WRITE_FILE)
    return ruleset


def _readable():
    paths = sysconfig.get_paths()
    found = [paths["stdlib"], paths["platstdlib"], sysconfig.get_config_var("LIBDIR") or ""]
    found += [entry for entry in sys.path if entry and os.path.isdir(entry)]
    seen = []
    for path in [os.path.realpath(path) for path in list(SYSTEM) + found if path]:
        if os.path.exists(path) and not any(_below(path, other) for other in seen):
            seen.append(path)
    return seen


def _below(path, folder):
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _allow_but(ruleset, path, access, hidden):
    """Allow `path`, piece by piece where something hidden lies in it."""
    if any(_below(path, closed) for closed in hidden):
        return
    if not any(_below(closed, path) for closed in hidden):
        _allow(ruleset, path, access)
        return
    _allow(ruleset, path, READ_DIR)
    for entry in os.scandir(path):
        if not entry.is_symlink():
            _allow_but(ruleset, entry.path, access, hidden)


def _allow(ruleset, path, access):
    try:
        fd = os.open(path, getattr(os, "O_PATH", 0) | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not os.path.isdir(path):
            access &= EXECUTE | WRITE_FILE | READ_FILE
        rule = struct.pack("=Qi", access, fd)
        _libc.syscall(ADD_RULE, ruleset, BELOW_PATH, rule, 0)
    finally:
        os.close(fd)


def seccomp_program():
    """The BPF filter as bytes, b"" on machines whose call numbers we do not list."""
    machine = platform.machine()
    if sys.platform != "linux" or machine not in FORBIDDEN:
        return b""
    load, jump_equal, jump_ge, ret = 0x20, 0x15, 0x35, 0x06
    allow, refuse, kill = 0x7FFF0000, 0x00050000 | 1, 0x80000000
    numbers = sorted(FORBIDDEN[machine].values())
    own = sorted(SELF_ONLY[machine].values())
    program = [
        (load, 0, 0, 4),
        (jump_equal, 1, 0, AUDIT_ARCH[machine]),
        (ret, 0, 0, kill),
        (load, 0, 0, 0),
    ]
    last = len(program) + len(numbers) + len(own) + 5  # the line that refuses
    program.append((jump_ge, last - len(program) - 1, 0, 0x40000000))  # the x32 numbers
    for number in numbers:
        program.append((jump_equal, last - len(program) - 1, 0, number))
    for number in own:
        program.append((jump_equal, last - len(program) - 4, 0, number))
    program += [
        (ret, 0, 0, allow),
        (load, 0, 0, 16),  # the first argument, lower half
        (jump_equal, 0, 1, 0),
        (ret, 0, 0, allow),
        (ret, 0, 0, refuse),
    ]
    assert len(program) == last + 1
    return b"".join(struct.pack("=HBBI", *line) for line in program)


def confine(ruleset, program, memory):
    """Step behind the limits, in the child, for good."""
    import resource

    def limit(kind, most):
        hard = resource.getrlimit(kind)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, most))

    limit(resource.RLIMIT_CORE, 0)
    limit(resource.RLIMIT_FSIZE, FILE_SIZE)
    limit(resource.RLIMIT_NOFILE, OPEN_FILES)
    if sys.platform == "linux":
        limit(resource.RLIMIT_AS, memory)
        _libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
        _libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if ruleset >= 0 and _libc.syscall(RESTRICT_SELF, ruleset, 0) != 0:
        raise OSError(ctypes.get_errno(), "Landlock refused")
    if program:
        code = ctypes.create_string_buffer(program, len(program))
        head = struct.pack("=HxxxxxxQ", len(program) // 8, ctypes.addressof(code))
        if _libc.prctl(PR_SET_SECCOMP, 2, head, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "seccomp refused")
