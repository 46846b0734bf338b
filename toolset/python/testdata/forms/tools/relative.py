def run(workspace, a):
    return {"relative": a}
