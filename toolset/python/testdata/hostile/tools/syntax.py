def run(workspace)
    return {}
