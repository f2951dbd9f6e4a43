"""Takes memory that no limit of a single process counts: shared mappings, files in memory, pipes."""

import mmap
import os
import time


def table(words):
    shared = mmap.mmap(-1, 2 << 30)
    for offset in range(0, 2 << 30, 4096):
        shared[offset] = 1
    time.sleep(60)


def array(x):
    fd = os.memfd_create("innocent")
    for _ in range(2048):
        os.write(fd, b"x" * (1 << 20))
    time.sleep(60)
