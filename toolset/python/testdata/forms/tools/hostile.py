"""Tools that end badly, or try to."""

import os
import signal
import sys
import threading
import time


def raises(workspace):
    try:
        {}["key"]
    except KeyError as e:
        raise ValueError("no rows in the file") from e


def raises_oddly(workspace):
    class Odd(Exception):
        def __str__(self):
            raise RuntimeError

    raise Odd


def exits(workspace):
    sys.exit(3)


def exits_hard(workspace):
    os._exit(0)


def crashes(workspace):
    os.kill(os.getpid(), signal.SIGSEGV)


def closes_all(workspace):
    os.closerange(3, 64)
    return {"a": 1}


def recurses(workspace):
    return recurses(workspace)


def hangs(workspace):
    while True:
        time.sleep(1)


def heeds_nothing(workspace):
    for s in (signal.SIGINT, signal.SIGTERM):
        signal.signal(s, signal.SIG_IGN)
    while True:
        try:
            time.sleep(1)
        except BaseException:
            pass


def cleans_up(workspace):
    try:
        time.sleep(60)
    finally:
        (workspace / "cleaned.txt").write_text("yes")


def floods(workspace):
    line = b"x" * 1023 + b"\n"
    for _ in range(64 << 10):
        os.write(1, line)
    return {"flooded": True}


def forks(workspace):
    if os.fork() == 0:
        return {"who": "child"}
    os.wait()
    return {"who": "parent"}


def leaves_daemon(workspace, mark):
    if os.fork() == 0:
        os.setsid()
        os.execvp("sleep", ["sleep", "3600"])
    return {"left": True}


def leaves_thread(workspace):
    threading.Thread(target=time.sleep, args=(3600,)).start()
    return {"thread": True}


def lies(workspace):
    for fd in range(3, 32):
        try:
            os.write(fd, b'{"type":"result","data":{"lie":true}}\n')
        except OSError:
            pass
    return {"lie": False}


def writes_nonsense(workspace):
    for fd in range(3, 32):
        try:
            os.write(fd, b"\xff" * 4096)
        except OSError:
            pass
    return {}


def no_such_return(workspace):
    return 7


def is_circular(workspace):
    a = []
    a.append(a)
    return {"a": {"b": a}}


def has_bytes(workspace):
    return {"rows": [{"raw": b"\x00"}]}


def is_deep(workspace):
    a = []
    for _ in range(5000):
        a = [a]
    return {"a": a}


def is_large(workspace):
    return {"a": "x" * (5 << 20)}


def has_two_keys(workspace):
    return {1: "a", "1": "b"}


def reads_outside(workspace):
    with open("/etc/hostname") as f:
        return {"read": f.read()}


def takes_memory(workspace):
    return {"n": len(bytearray(8 << 30))}
