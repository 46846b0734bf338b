import no_such_module_anywhere

def run(workspace):
    return {}
