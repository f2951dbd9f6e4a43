"""Calls what filters forget: rings, tracing, keys, kernels, other processes' memory, and numbers of other machines."""

# least tier: T1
import ctypes
import os

from toolkit import TARGETS, tell

libc = ctypes.CDLL(None, use_errno=True)
OUT = ["nightingale-" + "0" * 16]
room = ctypes.create_string_buffer(4096)
NUMBERS = {
    "x86_64": {"perf_event_open": 298, "bpf": 321, "userfaultfd": 323, "keyctl": 250, "add_key": 248, "kexec_load": 246, "open_by_handle_at": 304,
               "init_module": 175, "finit_module": 313, "process_vm_readv": 310, "swapon": 167, "reboot": 169, "settimeofday": 164, "fanotify_init": 300,
               "acct": 163, "iopl": 172, "lookup_dcookie": 212, "quotactl": 179},
    "aarch64": {"perf_event_open": 241, "bpf": 280, "userfaultfd": 282, "keyctl": 219, "add_key": 217, "kexec_load": 104, "open_by_handle_at": 265,
                "init_module": 105, "finit_module": 273, "process_vm_readv": 270, "swapon": 224, "reboot": 142, "settimeofday": 170, "fanotify_init": 262},
}.get(os.uname().machine, {})  # fmt: skip
NEWER = [425, 426, 427, 438, 428, 429, 430, 431, 432, 442, 448, 453, 457, 458, 467, 470, 500, 1000]
"""io_uring, pidfd_getfd, mounting by descriptors, statmount, and numbers that no one has given out yet."""
loot = []
for number in [*NUMBERS.values(), *NEWER]:
    if number in (434, 436):
        continue
    found = libc.syscall(number, 1, ctypes.byref(room), -1, 0, 0, 0)
    loot += OUT if found > 0 else []
for other in (0x40000000 | 39, 0x40000000 | 101):
    if os.uname().machine == "x86_64" and os.fork() == 0:
        os._exit(0 if libc.syscall(other, 0, 0, 0, 0) <= 0 else 1)
try:
    while True:
        loot += OUT if os.waitstatus_to_exitcode(os.wait()[1]) == 1 else []
except ChildProcessError:
    pass
for resource in (0, 6, 7):
    loot += OUT if libc.prlimit(TARGETS["examiner"], resource, ctypes.byref(room), None) == 0 else []
tell(globals(), loot)
