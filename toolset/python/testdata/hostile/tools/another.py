import sys

sys.modules[__name__] = sys.modules["os"]
