package pymodule

import (
	"os"
	"os/exec"
	"strings"
	"testing"
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
	python, err := exec.LookPath("python3")
	if err != nil {
		if os.Getenv("FETTLE_TEST_REQUIRE") == "all" {
			t.Fatal("python3 is not on the PATH")
		}
		t.Skip("python3 is not on the PATH")
	}
	out, err := exec.CommandContext(t.Context(), python, "-I", "-S", "-c", "import sys; print(*sys.stdlib_module_names)").Output()
	if err != nil {
		t.Skipf("python3 is older than 3.10: %v", err)
	}
	for name := range strings.FieldsSeq(string(out)) {
		if !strings.HasPrefix(name, "_") && !Standard(name) {
			t.Errorf("%s is not listed", name)
		}
	}
}
