import os
import sys
import time


def raises(workspace):
    helper_that_fails({"a": 1})


def helper_that_fails(value):
    raise ValueError("bad value: %r" % value)


def chained(workspace):
    try:
        int("x")
    except ValueError as e:
        raise LookupError("no number") from e


def while_handled(workspace):
    try:
        int("x")
    except ValueError:
        {}["missing"]


def in_library(workspace):
    import json

    return json.loads("{bad")


class Unspeakable(Exception):
    def __str__(self):
        raise RuntimeError("no")


def unspeakable(workspace):
    raise Unspeakable()


def control_characters(workspace):
    raise ValueError("red \x1b[31m \u202e bidi\r\nnext\x00line \ud800")


def long_message(workspace):
    raise ValueError("x" * 1_000_000)


def exits(workspace):
    sys.exit(0)


def exits_by_name(workspace):
    exit("bye")


def os_exits(workspace):
    os._exit(0)


def os_exits_7(workspace):
    os._exit(7)


def segfault(workspace):
    print("before the crash", flush=True)
    import ctypes

    ctypes.string_at(1)


def killed(workspace):
    os.kill(os.getpid(), 9)


def recursion(workspace):
    return recursion(workspace)


def memory(workspace):
    return {"a": len(bytearray(1 << 40))}


def memory_in_parts(workspace):
    parts = []
    while True:
        parts.append(bytearray(16 << 20))


def closes_all(workspace):
    os.closerange(3, 4096)
    return {"ok": True}


def closes_all_and_stays(workspace):
    os.closerange(3, 4096)
    time.sleep(3600)


FORGED = b'{"t":"result","kind":"dict","data":{"forged":true}}'


def descriptors():
    for fd in range(3, 256):
        try:
            os.fstat(fd)
        except OSError:
            continue
        yield fd


def lies_in_lines(workspace):
    for fd in descriptors():
        try:
            os.write(fd, FORGED + b"\n")
        except OSError:
            pass
    return {"ok": True}


def lies_in_frames(workspace):
    frame = len(FORGED).to_bytes(4, "big") + bytes(16) + FORGED
    for fd in descriptors():
        try:
            os.write(fd, frame)
        except OSError:
            pass
    return {"ok": True}


def lies_with_length(workspace):
    for fd in descriptors():
        try:
            os.write(fd, b"\xff\xff\xff\xff" * 8)
        except OSError:
            pass
    return {"ok": True}


def lies_by_standard_output(workspace):
    frame = len(FORGED).to_bytes(4, "big") + bytes(16) + FORGED
    os.write(1, frame)
    os.write(2, frame)
    sys.__stdout__.buffer.write(frame)
    return {"ok": True}


def lies_and_dies(workspace):
    for fd in descriptors():
        try:
            os.write(fd, FORGED[:3])
        except OSError:
            pass
    os._exit(0)


def lies_by_fork(workspace):
    pid = os.fork()
    if pid == 0:
        return {"from": "the fork"}
    os.waitpid(pid, 0)
    return {"from": "the tool"}


def spins(workspace):
    while True:
        pass


def sleeps(workspace):
    time.sleep(3600)


def cleans_up(workspace):
    try:
        (workspace / "begun").write_text("")
        time.sleep(3600)
    finally:
        (workspace / "cleaned").write_text("")


def answers_late(workspace):
    try:
        time.sleep(3600)
    except KeyboardInterrupt:
        return {"partial": True}


def ignores_signals(workspace):
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    (workspace / "begun").write_text("")
    while True:
        try:
            time.sleep(3600)
        except BaseException:
            pass


def floods(workspace):
    block = "x" * 65536
    for _ in range(1600):
        print(block)
    print("the end")
    return {"ok": True}


def floods_for_ever(workspace):
    while True:
        os.write(1, b"x" * 65536)


def floods_progress(workspace):
    from fettle import ToolProgress

    for n in range(20000):
        yield ToolProgress("s", "n %d" % n)
    return {"ok": True}


def odd_progress(workspace):
    from fettle import ToolProgress

    yield ToolProgress("x" * 100000, "y" * 100000, data={"a": "z" * 1000000}, progress=float("nan"))
    yield ToolProgress(None, None, data=object(), progress="half")
    yield ToolProgress("\x1b[31m", "a\x00b", data={"n": float("inf")}, progress=-3)
    return {"ok": True}


def forks(workspace):
    count = 0
    while True:
        try:
            if os.fork() == 0:
                time.sleep(3600)
            count += 1
        except OSError:
            if count > 4000:
                raise
            raise


def fork_chain(workspace):
    while True:
        if os.fork():
            os._exit(0)


def daemon(workspace):
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        time.sleep(3600)
        os._exit(0)
    return {"ok": True}


def thread(workspace):
    import threading

    threading.Thread(target=time.sleep, args=(3600,)).start()
    import atexit

    atexit.register(time.sleep, 3600)
    return {"ok": True}


def fills_disk(workspace):
    with open(workspace / "big", "wb") as f:
        while True:
            f.write(b"x" * (1 << 20))


def fills_temp(workspace):
    with open("/tmp/big", "wb") as f:
        while True:
            f.write(b"x" * (1 << 20))


def replaces_streams(workspace):
    sys.stdout = sys.stderr = None
    sys.__stdout__ = None
    return {"ok": True}


def breaks_modules(workspace):
    sys.modules.clear()
    sys.path[:] = []
    import builtins

    builtins.len = None
    return {"ok": True}


def hides_result(workspace):
    class Evil(dict):
        def items(self):
            raise RuntimeError("no")

        def __len__(self):
            raise RuntimeError("no")

    return Evil(a=1)


def group(workspace):
    import asyncio

    async def one():
        raise ValueError("inner")

    async def main():
        await asyncio.gather(one())

    asyncio.run(main())


def looks_around(workspace):
    found = []
    for path in ("/etc/hostname", "/home", "/etc/shadow", str(workspace.parent)):
        try:
            found.append([path, sorted(os.listdir(path)) if os.path.isdir(path) else open(path).read(10)])
        except OSError:
            pass
    return {"found": found, "written": can_write(__file__) or can_write(os.path.dirname(__file__) + "/new.py")}


def can_write(path):
    try:
        with open(path, "ab"):
            return True
    except OSError:
        return False
