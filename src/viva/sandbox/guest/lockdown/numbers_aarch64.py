"""System call numbers of aarch64, only those that this package uses.

Source: Linux include/uapi/asm-generic/unistd.h.
The old calls (fork, mknod, chmod, ...) do not exist here: their `at` forms are the only ones.
"""

AUDIT_ARCH = 0xC00000B7
FOREIGN_ABI_BIT = 0
"""32-bit programs report another AUDIT_ARCH, so no number needs to be refused for its ABI."""

NUMBERS = {
    "acct": 89, "add_key": 217, "adjtimex": 171, "bpf": 280, "capget": 90, "capset": 91, "chroot": 51,
    "clock_adjtime": 266, "clock_settime": 112, "clone": 220, "clone3": 435, "delete_module": 106, "execve": 221,
    "execveat": 281, "fanotify_init": 262, "fanotify_mark": 263, "fchmod": 52, "fchmodat": 53, "fchmodat2": 452,
    "fcntl": 25, "finit_module": 273, "fsconfig": 431, "fsetxattr": 7, "fsmount": 432, "fsopen": 430, "fspick": 433,
    "init_module": 105, "inotify_init1": 26, "io_uring_enter": 426, "io_uring_register": 427, "io_uring_setup": 425,
    "ioctl": 29, "kcmp": 272, "kexec_file_load": 294, "kexec_load": 104, "keyctl": 219, "kill": 129,
    "landlock_add_rule": 445, "landlock_create_ruleset": 444, "landlock_restrict_self": 446, "lookup_dcookie": 18,
    "lsetxattr": 6, "mbind": 235, "memfd_create": 279, "memfd_secret": 447, "migrate_pages": 238, "mknodat": 33,
    "mount": 40, "mount_setattr": 442, "move_mount": 429, "move_pages": 239, "mq_open": 180, "msgget": 186,
    "name_to_handle_at": 264, "nfsservctl": 42, "open_by_handle_at": 265, "open_tree": 428, "perf_event_open": 241,
    "personality": 92, "pidfd_getfd": 438, "pidfd_open": 434, "pidfd_send_signal": 424, "pivot_root": 41, "prctl": 167,
    "prlimit64": 261, "process_madvise": 440, "process_mrelease": 448, "process_vm_readv": 270,
    "process_vm_writev": 271, "ptrace": 117, "quotactl": 60, "quotactl_fd": 443, "reboot": 142, "request_key": 218,
    "rt_sigqueueinfo": 138, "rt_tgsigqueueinfo": 240, "seccomp": 277, "semget": 190, "set_mempolicy": 237,
    "set_mempolicy_home_node": 450, "setdomainname": 162, "setfsgid": 152, "setfsuid": 151, "setgid": 144,
    "setgroups": 159, "sethostname": 161, "setns": 268, "setregid": 143, "setresgid": 149, "setresuid": 147,
    "setreuid": 145, "settimeofday": 170, "setuid": 146, "setxattr": 5, "shmget": 194, "socket": 198, "socketpair": 199,
    "swapoff": 225, "swapon": 224, "syslog": 116, "tkill": 130, "umask": 166, "umount2": 39, "unshare": 97,
    "userfaultfd": 282, "vhangup": 58, "vmsplice": 75,
}  # fmt: skip
