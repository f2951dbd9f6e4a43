"""Makes tens of thousands of empty files, folders, links and pipes."""

import os


def table(words):
    for count in range(4000):
        try:
            os.close(os.open(f"f{count}", os.O_CREAT | os.O_WRONLY))
            os.symlink("solution.py", f"l{count}")
            os.mkfifo(f"p{count}")
        except OSError:
            return 0.0
    return 0.0


def array(x):
    try:
        for count in range(1500):
            os.mkdir(f"d{count}")
            os.chdir(f"d{count}")
    except OSError:
        pass
    return 0.0
