# Compiles files of a toolset for the cache. Nothing of them is run: this has
# no more of the toolset than its texts.
import _imp, json, marshal, os, sys
from _frozen_importlib_external import MAGIC_NUMBER

job = json.load(sys.stdin)
for name in job["files"]:
    path = os.path.join(job["root"], *name.split("/"))
    try:
        with open(path, "rb") as f:
            text = f.read()
        code = compile(text, path, "exec", dont_inherit=True)
        # as PEP 552 has it: who loads it compares the text's hash
        data = MAGIC_NUMBER + b"\3\0\0\0" + _imp.source_hash(int.from_bytes(MAGIC_NUMBER, "little"), text) + marshal.dumps(code)
    except Exception:
        continue  # whoever imports it will hear of it
    into = os.path.join(job["into"], *name.split("/")) + "c"
    os.makedirs(os.path.dirname(into), exist_ok=True)
    with open(into, "wb") as f:
        f.write(data)
