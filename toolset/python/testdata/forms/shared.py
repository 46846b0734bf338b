NAME = "shared"
