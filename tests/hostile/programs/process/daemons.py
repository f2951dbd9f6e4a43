"""Leaves processes behind: forked twice, in sessions of their own, deaf to signals, executing other programs."""

import os
import signal
import subprocess

from toolkit import answer_everything

for count in range(3):
    if os.fork() == 0:
        os.setsid()
        for number_of_signal in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGPIPE):
            signal.signal(number_of_signal, signal.SIG_IGN)
        if os.fork() == 0:
            if count == 0:
                os.closerange(0, 64)
            if count == 1:
                os.execvp("sleep", ["sleep", "3599"])
            while True:
                signal.pause()
        os._exit(0)
subprocess.Popen(["nohup", "sleep", "3598"], start_new_session=True)
answer_everything(globals(), lambda name: None)
