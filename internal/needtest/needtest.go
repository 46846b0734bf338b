package needtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// All tells whether the machine claims to have all that tests can need.
func All() bool { return os.Getenv("FETTLE_TEST_REQUIRE") == "all" }

// Lacking skips a test for want of something, or fails it where that has to be there.
func Lacking(t testing.TB, what string) {
	t.Helper()
	if All() {
		t.Fatalf("FETTLE_TEST_REQUIRE=all, and this machine lacks %s", what)
	}
	t.Skipf("this machine lacks %s", what)
}

// Program gives the path of a program.
func Program(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		Lacking(t, name+" on the PATH")
	}
	return path
}

// Root is the project's folder: tests run in those of their packages.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("find go.mod: not in any folder above this one")
		}
		dir = up
	}
}

// Toolset returns the folder of a toolset of testdata, or else of the gallery.
func Toolset(t testing.TB, id string) string {
	t.Helper()
	root := Root(t)
	for _, dir := range []string{filepath.Join(root, "testdata", "toolsets", id), filepath.Join(root, "toolset", "gallery", id)} {
		if _, err := os.Stat(dir); err == nil {
			return dir
		}
	}
	t.Fatalf("find the toolset %s: neither testdata nor the gallery has it", id)
	return ""
}

// Shared gives the path of something in the shared test data.
func Shared(t testing.TB, path ...string) string {
	t.Helper()
	dir, asked := os.LookupEnv("FETTLE_SHARED")
	if !asked {
		dir = filepath.Join(filepath.Dir(Root(t)), "shared")
	}
	dir = filepath.Join(append([]string{dir, "data"}, path...)...)
	if _, err := os.Stat(dir); err != nil {
		if asked {
			t.Fatalf("FETTLE_SHARED: %v", err)
		}
		Lacking(t, "the shared test data, which FETTLE_SHARED names: "+err.Error())
	}
	return dir
}
