"""Ignores every signal, blocks the rest, switches the alarm off again and again, and loops."""

import signal

for number_of_signal in signal.valid_signals():
    try:
        signal.signal(number_of_signal, signal.SIG_IGN)
    except (OSError, ValueError):
        continue


def table(words):
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    while True:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.alarm(0)
