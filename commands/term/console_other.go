//go:build !linux && !darwin && !windows

package term

// openConsole: nobody can be asked on a system that fettle isn't built for.
func openConsole(bool) (console, error) { return nil, ErrNoTerminal }

func consoleReady() bool { return false }
