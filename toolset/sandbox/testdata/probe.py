"""Tries, from inside of a sandbox, what a tool must not be able to do, and what
it needs. Prints {attempt: "OPEN" | "blocked:<why>"} as JSON.

The argument is JSON: base, a folder with home/.ssh/id_rsa, ws/ (the workspace),
toolset/t.py (readable), outside/f, home/agent.sock and ws/link -> ../outside;
victim, a process of the same user; tcp and udp, ports on 127.0.0.1; abstract,
an abstract socket; machine, the processor. Each socket answers "hi".
"""
import ctypes
import errno
import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

A = json.loads(sys.argv[1])
B, V = A["base"], A["victim"]
X86 = A["machine"] == "x86_64"
R = {}
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long


def attempt(name):
    def run(f):
        try:
            R[name] = "blocked:False" if f() is False else "OPEN"
        except OSError as e:
            R[name] = "blocked:" + (errno.errorcode.get(e.errno, str(e.errno)) if e.errno else str(e)[:40])
        except BaseException as e:
            R[name] = "blocked:" + type(e).__name__
    return run


# Numbers of system calls, x86-64 and arm64.
CALLS = {
    "ptrace": (101, 117), "keyctl": (250, 219), "add_key": (248, 217), "bpf": (321, 280), "io_uring_setup": (425, 425),
    "mount": (165, 40), "umount2": (166, 39), "unshare": (272, 97), "setns": (308, 268), "clone": (56, 220),
    "process_vm_readv": (310, 270), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "fsopen": (430, 430),
    "open_tree": (428, 428), "pidfd_open": (434, 434), "pidfd_getfd": (438, 438), "open_by_handle_at": (304, 265),
    "name_to_handle_at": (303, 264), "kexec_load": (246, 104), "syslog": (103, 116), "personality": (135, 92),
    "sethostname": (170, 161), "settimeofday": (164, 170), "reboot": (169, 142), "chroot": (161, 51), "pivot_root": (155, 41),
    "kcmp": (312, 272), "clone3": (435, 435), "tkill": (200, 130),
}


def call(name, *args):
    r = libc.syscall(ctypes.c_long(CALLS[name][0 if X86 else 1]), *[ctypes.c_long(a) if isinstance(a, int) else a for a in args])
    if r < 0:
        raise OSError(ctypes.get_errno(), "")
    return r


def connect(family, address, kind=socket.SOCK_STREAM):
    s = socket.socket(family, kind)
    s.settimeout(2)
    if kind == socket.SOCK_DGRAM:
        s.sendto(b"x", address)
    else:
        s.connect(address)
    return s.recv(2) == b"hi"


def read(path):
    with open(path) as f:
        return f.read()


def write(path):
    with open(path, "a") as f:
        f.write("x")


# The listing itself takes one, the script perhaps another.
attempt("descriptors of others")(lambda: [f for f in os.listdir("/proc/self/fd") if int(f) > 4] != [])

# what a tool needs
attempt("write ws")(lambda: write(B + "/ws/ok"))
attempt("read toolset")(lambda: read(B + "/toolset/t.py"))
attempt("socketpair")(lambda: socket.socketpair())
attempt("threads")(lambda: __import__("threading").Thread(target=int).start())
attempt("subprocess")(lambda: subprocess.run(["/bin/true"], check=True))
attempt("shell pipe")(lambda: subprocess.run("echo a | cat > /dev/null", shell=True, check=True).returncode == 0)
attempt("process substitution")(lambda: subprocess.run(["bash", "-c", "cat <(echo hi)"], check=True, capture_output=True).stdout == b"hi\n")
attempt("tempfile")(lambda: tempfile.TemporaryFile())
attempt("sqlite in ws")(lambda: __import__("sqlite3").connect(B + "/ws/a.db").execute("create table if not exists t(a)"))
attempt("rename in ws")(lambda: os.rename(B + "/ws/ok", B + "/ws/sub/ok"))
attempt("random")(lambda: len(open("/dev/urandom", "rb").read(4)) == 4)
attempt("user's name")(lambda: __import__("pwd").getpwuid(os.getuid()).pw_name != "")
attempt("own process")(lambda: read("/proc/self/status").startswith("Name:"))
attempt("standard error by name")(lambda: open("/dev/stderr", "w").close())


def run_script():
    with tempfile.NamedTemporaryFile("w", suffix=".sh", delete=False) as f:
        f.write("#!/bin/sh\nexit 0\n")
    os.chmod(f.name, 0o700)
    return subprocess.run([f.name]).returncode == 0


attempt("run a file of /tmp")(run_script)


async def nothing():
    return 1


attempt("asyncio")(lambda: __import__("asyncio").run(nothing()) == 1)


def queue():
    context = __import__("multiprocessing").get_context("fork")
    q = context.Queue()
    p = context.Process(target=lambda: q.put(3))
    p.start()
    r = q.get(timeout=10)
    p.join()
    return r == 3


attempt("multiprocessing queue")(queue)


def create(folder):
    """Leaves nothing behind where it could."""
    path = os.path.join(folder, ".fettle-probe")
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    os.remove(path)


def refused(name, *args):
    """For calls that are given nothing to do: another error is no refusal."""
    try:
        call(name, *args)
    except OSError as e:
        return e.errno != errno.EPERM


def leave(pid):
    """In a child that shouldn't have come to be."""
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)


# files
attempt("read ssh key")(lambda: read(B + "/home/.ssh/id_rsa"))
attempt("list home")(lambda: os.listdir(B + "/home"))
attempt("stat ssh key")(lambda: os.stat(B + "/home/.ssh/id_rsa"))
attempt("chmod ssh key")(lambda: os.chmod(B + "/home/.ssh/id_rsa", 0o644))
attempt("utime outside")(lambda: os.utime(B + "/outside/f", (1, 1)))
attempt("setxattr outside")(lambda: os.setxattr(B + "/outside/f", "user.a", b"1"))
attempt("write outside")(lambda: write(B + "/outside/f"))
attempt("truncate outside")(lambda: os.truncate(B + "/outside/f", 0))
attempt("create outside")(lambda: write(B + "/outside/new"))
attempt("remove outside")(lambda: os.remove(B + "/outside/gone"))
attempt("write via ws symlink")(lambda: write(B + "/ws/link/f"))
attempt("hard link outside into ws")(lambda: os.link(B + "/outside/f", B + "/ws/hl"))
attempt("rename ws file out")(lambda: os.rename(B + "/ws/sub/ok", B + "/outside/ok2"))
attempt("modify toolset")(lambda: write(B + "/toolset/t.py"))
attempt("write to the root")(lambda: create("/"))
attempt("write to /usr")(lambda: create("/usr"))
attempt("write to /etc")(lambda: create("/etc"))
attempt("change /etc/passwd")(lambda: os.open("/etc/passwd", os.O_WRONLY))
attempt("read shadow")(lambda: read("/etc/shadow"))
attempt("old root")(lambda: os.listdir("/.old"))
attempt("device node")(lambda: (os.mknod(B + "/ws/dev", 0o20666, os.makedev(1, 1)), open(B + "/ws/dev")))
attempt("disk")(lambda: any(open("/dev/" + d, "rb") for d in ("vda", "sda", "nvme0n1", "mem", "kvm")))
attempt("kmsg")(lambda: open("/dev/kmsg").read(1))
# Opened and not written: the probe harms nothing where a wall is missing.
attempt("change core pattern")(lambda: os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY))
attempt("sysrq")(lambda: os.open("/proc/sysrq-trigger", os.O_WRONLY))
attempt("release agent")(lambda: os.listdir("/sys/fs/cgroup"))

# processes
attempt("victim environ")(lambda: read(f"/proc/{V}/environ"))
attempt("victim memory")(lambda: open(f"/proc/{V}/mem", "rb"))
attempt("victim root")(lambda: os.listdir(os.path.join("/proc", str(V), "root")))
attempt("signal victim")(lambda: os.kill(V, 0))
attempt("ptrace victim")(lambda: call("ptrace", 16, V, 0, 0))
attempt("read victim")(lambda: call("process_vm_readv", V, 0, 0, 0, 0, 0))
attempt("descriptor of the victim")(lambda: call("pidfd_getfd", call("pidfd_open", V, 0), 0, 0))
attempt("keeper environ")(lambda: read(f"/proc/{os.getppid()}/environ"))
attempt("keeper memory")(lambda: open(f"/proc/{os.getppid()}/mem", "r+b"))
attempt("keeper descriptors")(lambda: os.readlink(f"/proc/{os.getppid()}/fd/3"))


def end_keeper():
    """Threads of the keeper can be named, too."""
    keeper = os.getppid()
    try:
        threads = [int(t) for t in os.listdir(f"/proc/{keeper}/task")]
    except OSError:
        threads = []
    sent = 0
    for t in [keeper] + threads:
        try:
            call("tkill", t, signal.SIGKILL)
            sent += 1
        except OSError:
            pass
    # Process 1 of a namespace takes the signal and isn't touched by it.
    time.sleep(0.1)
    return sent > 0 and os.getppid() != keeper


attempt("end the keeper")(end_keeper)

# the network
attempt("tcp loopback")(lambda: connect(socket.AF_INET, ("127.0.0.1", A["tcp"])))
attempt("udp loopback")(lambda: connect(socket.AF_INET, ("127.0.0.1", A["udp"]), socket.SOCK_DGRAM))
attempt("unix path socket")(lambda: connect(socket.AF_UNIX, B + "/home/agent.sock"))
attempt("unix abstract")(lambda: connect(socket.AF_UNIX, "\0" + A["abstract"]))
attempt("tcp bind")(lambda: socket.socket().bind(("127.0.0.1", 0)))
attempt("netlink")(lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0))
attempt("packet socket")(lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0))
attempt("kernel crypto")(lambda: socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET, 0))
attempt("host of the machine")(lambda: socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM, 0))

# the kernel
NEWUSER, NEWNS = 0x10000000, 0x20000
attempt("unshare user ns")(lambda: call("unshare", NEWUSER))
attempt("clone user ns")(lambda: leave(call("clone", NEWUSER | signal.SIGCHLD, 0, 0, 0, 0)))


def clone3():
    """Only "no such call" makes libraries use clone, whose flags are looked at."""
    try:
        call("clone3", 0, 0)
    except OSError as e:
        return e.errno != errno.ENOSYS


attempt("clone3")(clone3)
attempt("mount")(lambda: call("mount", b"t", (B + "/ws").encode(), b"tmpfs", 0, 0))
attempt("remount the root")(lambda: call("mount", b"", b"/", b"", 0x1020, 0))
attempt("unmount")(lambda: refused("umount2", (B + "/ws/sub").encode(), 0))
attempt("fsopen")(lambda: call("fsopen", b"tmpfs", 0))
attempt("open_tree")(lambda: call("open_tree", -100, b"/", 1))
attempt("chroot")(lambda: call("chroot", (B + "/ws").encode()))
attempt("pivot_root")(lambda: refused("pivot_root", (B + "/ws").encode(), (B + "/ws").encode()))
attempt("setns")(lambda: call("setns", os.open("/proc/self/ns/user", os.O_RDONLY), 0))
attempt("file handle")(lambda: call("name_to_handle_at", -100, b"/", 0, 0, 0))
attempt("io_uring")(lambda: call("io_uring_setup", 1, ctypes.byref((ctypes.c_char * 256)())))
attempt("keyring")(lambda: call("keyctl", 0, -3, 0))
attempt("add key")(lambda: call("add_key", b"user", b"n", b"v", 1, -3))
attempt("bpf")(lambda: call("bpf", 0, 0, 0))
attempt("perf")(lambda: call("perf_event_open", 0, 0, -1, -1, 0))
attempt("userfaultfd")(lambda: call("userfaultfd", 1))
attempt("kexec")(lambda: refused("kexec_load", 0, 17, 0, 0))
attempt("kernel log")(lambda: call("syslog", 10, 0, 0))
attempt("personality")(lambda: call("personality", 0x0040000))
attempt("host name")(lambda: refused("sethostname", socket.gethostname().encode(), len(socket.gethostname())))
attempt("clock")(lambda: refused("settimeofday", 0, 0))
attempt("type into a terminal")(lambda: fcntl.ioctl(0, 0x5412, b"x"))
attempt("terminal")(lambda: open("/dev/tty", "w"))
attempt("become root")(lambda: [os.setuid(0), os.chown(B + "/ws", 1, 1)])
attempt("raise a limit")(lambda: __import__("resource").setrlimit(__import__("resource").RLIMIT_NOFILE, (1 << 16, 1 << 16)))
attempt("env secrets")(lambda: any(k.endswith(("KEY", "TOKEN", "SECRET")) for k in os.environ))
print(json.dumps(R))
