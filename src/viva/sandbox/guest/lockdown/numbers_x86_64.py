"""System call numbers of x86-64, only those that this package uses.

Source: Linux arch/x86/entry/syscalls/syscall_64.tbl.
viva has its own tables because a distribution's libseccomp does not know calls newer than itself.
"""

AUDIT_ARCH = 0xC000003E
FOREIGN_ABI_BIT = 0x40000000
"""Numbers with this bit are the x32 ABI: the same calls under other numbers, so the filter kills the process."""

NUMBERS = {
    "_sysctl": 156, "acct": 163, "add_key": 248, "adjtimex": 159, "bpf": 321, "capget": 125, "capset": 126, "chmod": 90,
    "chroot": 161, "clock_adjtime": 305, "clock_settime": 227, "clone": 56, "clone3": 435, "create_module": 174,
    "delete_module": 176, "execve": 59, "execveat": 322, "fanotify_init": 300, "fanotify_mark": 301, "fchmod": 91,
    "fchmodat": 268, "fchmodat2": 452, "fcntl": 72, "finit_module": 313, "fork": 57, "fsconfig": 431, "fsetxattr": 190,
    "fsmount": 432, "fsopen": 430, "fspick": 433, "get_kernel_syms": 177, "init_module": 175, "inotify_init": 253,
    "inotify_init1": 294, "io_uring_enter": 426, "io_uring_register": 427, "io_uring_setup": 425, "ioctl": 16,
    "ioperm": 173, "iopl": 172, "kcmp": 312, "kexec_file_load": 320, "kexec_load": 246, "keyctl": 250, "kill": 62,
    "landlock_add_rule": 445, "landlock_create_ruleset": 444, "landlock_restrict_self": 446, "lookup_dcookie": 212,
    "lsetxattr": 189, "mbind": 237, "memfd_create": 319, "memfd_secret": 447, "migrate_pages": 256, "mknod": 133,
    "mknodat": 259, "modify_ldt": 154, "mount": 165, "mount_setattr": 442, "move_mount": 429, "move_pages": 279,
    "mq_open": 240, "msgget": 68, "name_to_handle_at": 303, "nfsservctl": 180, "open_by_handle_at": 304,
    "open_tree": 428, "perf_event_open": 298, "personality": 135, "pidfd_getfd": 438, "pidfd_open": 434,
    "pidfd_send_signal": 424, "pivot_root": 155, "prctl": 157, "prlimit64": 302, "process_madvise": 440,
    "process_mrelease": 448, "process_vm_readv": 310, "process_vm_writev": 311, "ptrace": 101, "query_module": 178,
    "quotactl": 179, "quotactl_fd": 443, "reboot": 169, "request_key": 249, "rt_sigqueueinfo": 129,
    "rt_tgsigqueueinfo": 297, "seccomp": 317, "semget": 64, "set_mempolicy": 238, "set_mempolicy_home_node": 450,
    "setdomainname": 171, "setfsgid": 123, "setfsuid": 122, "setgid": 106, "setgroups": 116, "sethostname": 170,
    "setns": 308, "setregid": 114, "setresgid": 119, "setresuid": 117, "setreuid": 113, "settimeofday": 164,
    "setuid": 105, "setxattr": 188, "shmget": 29, "socket": 41, "socketpair": 53, "swapoff": 168, "swapon": 167,
    "sysfs": 139, "syslog": 103, "tkill": 200, "umask": 95, "umount2": 166, "unshare": 272, "uselib": 134,
    "userfaultfd": 323, "ustat": 136, "vfork": 58, "vhangup": 153, "vmsplice": 278,
}  # fmt: skip
