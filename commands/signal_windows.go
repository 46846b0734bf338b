package commands

func ignorePipe() {} // Windows has no such signal
