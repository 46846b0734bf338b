package pystdlib

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/internal/needtest"
)

func TestStandard(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"abc", "os", "json", "zoneinfo", "tomllib", "distutils", "builtins"} {
		if !Standard(name) {
			t.Errorf("%s is not listed", name)
		}
	}
	for _, name := range []string{"", " ", "js", "analyze", "os json", "requests", "_thread"} {
		if Standard(name) {
			t.Errorf("%q is listed", name)
		}
	}
}

// TestAgainstPython asks the machine's interpreter for its own list.
func TestAgainstPython(t *testing.T) {
	t.Parallel()
	python := needtest.Program(t, "python3")
	out, err := exec.CommandContext(t.Context(), python, "-I", "-S", "-c", "import sys; print(*sys.stdlib_module_names)").Output()
	if err != nil {
		needtest.Lacking(t, "a python3 of 3.10 or later: "+err.Error())
	}
	for name := range strings.FieldsSeq(string(out)) {
		if !strings.HasPrefix(name, "_") && !Standard(name) {
			t.Errorf("%s is not listed", name)
		}
	}
}
