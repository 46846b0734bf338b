# Says what an interpreter is, and compiles for it what is given on standard
# input, so that no call has to.
import marshal, os, sys

import json

job = json.load(sys.stdin)
found = {
    "version": "%d.%d.%d" % sys.version_info[:3],
    "major": sys.version_info[0],
    "minor": sys.version_info[1],
    "implementation": sys.implementation.name,
    "executable": os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable),
    "prefixes": sorted({os.path.realpath(sys.base_prefix), os.path.realpath(sys.base_exec_prefix), os.path.realpath(os.path.dirname(os.__file__))}),
}
if sys.version_info >= (3, 9):
    from importlib.util import MAGIC_NUMBER

    for name, text in job["sources"].items():
        path = os.path.join(job["into"], name + ".pyc")
        code = compile(text, "<fettle " + name + ">", "exec", dont_inherit=True, optimize=0)
        with open(path, "wb") as f:
            f.write(MAGIC_NUMBER + b"\0" * 12 + marshal.dumps(code))
print(json.dumps(found))
