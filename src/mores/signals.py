"""Ends a process tidily: signals that ask to end act like Ctrl-C."""

from __future__ import annotations

import signal
import threading


def stop_on_signals() -> list[int]:
    """Let signals that ask to end act like Ctrl-C, so that no half file is left; return those that come."""
    received: list[int] = []

    def stop(number: int, frame: object) -> None:  # noqa: ARG001
        received.append(number)
        signal.raise_signal(signal.SIGINT)
        if hasattr(signal, "pthread_sigmask"):
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # one comes, however many waited

    if threading.current_thread() is not threading.main_thread():
        return received
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and hasattr(signal, "pthread_sigmask"):
        # A background job of a script: Ctrl-C is not meant for it, and waits; the one from `stop` comes through.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in ("SIGTERM", "SIGHUP"):
        asked = getattr(signal, name, None)  # Windows has no SIGHUP
        if asked is not None and signal.getsignal(asked) is not signal.SIG_IGN:  # as nohup has it
            signal.signal(asked, stop)
    return received
