package commandtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
)

// Plain has the world run fettle without the race detector, with which a command takes several
// times as long to start. It is for tests that start hundreds of commands one after the other
// and look at what they print. Without the detector it changes nothing.
func (w *World) Plain() {
	w.T.Helper()
	if !raceDetector {
		return
	}
	program, err := plainProgram()
	if err != nil {
		w.T.Fatal(err)
	}
	w.Program = program
}

// PlainPath returns a folder for the front of PATH, in which fettle is the program of
// [World.Plain]. It is empty without the race detector.
func PlainPath() (string, error) {
	if !raceDetector {
		return "", nil
	}
	program, err := plainProgram()
	return filepath.Dir(program), err
}

// plainProgram builds fettle once for the test binary, in the folder that isolated removes.
var plainProgram = sync.OnceValues(func() (string, error) {
	program := filepath.Join(filepath.Dir(os.Getenv("FETTLE_DATA")), "plain", "fettle")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	cmd := exec.Command("go", "build", "-o", program, "github.com/fettle-cli/fettle")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build fettle: %w\n%s", err, out)
	}
	return program, nil
})
