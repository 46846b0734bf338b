raise RuntimeError("a file of the toolset hides a module of Python's own")
