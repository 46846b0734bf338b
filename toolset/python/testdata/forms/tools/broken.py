import json
def run(workspace:
    return {}
