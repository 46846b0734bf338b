package registry

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A bundle that came by the API has the name that its sender gave it as its source, and an
// update says what to do, since the sender's file may be on another machine.
func TestAnUploadsSourceIsItsName(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, err := w.Plan(t.Context(), makeBundle(t), PlanOptions{Uploaded: "csv tools.zip"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	set, err := w.Apply(t.Context(), p, ApplyOptions{Approved: true})
	if err != nil || set.SourceRef != "upload:csv tools.zip" {
		t.Fatalf("%+v, %v", set, err)
	}
	_, err = w.PlanUpdate(t.Context(), "example", PlanOptions{})
	var state *StateError
	if !errors.As(err, &state) || !strings.Contains(state.Msg, "csv tools.zip") || state.Fix.Kind != FixImport {
		t.Errorf("update: %v", err)
	}
}

// A plan names the tools whose code the bundle lacks, and those of them that work now.
func TestAPlanNamesToolsWithoutCode(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := makeBundle(t)
	w.install(dir)
	next := makeBundle(t, "VERSION", "1.1.0")
	if err := os.Remove(filepath.Join(next, "tools", "one.py")); err != nil {
		t.Fatal(err)
	}
	p := w.plan(next)
	if len(p.Lacking) != 2 || len(p.Breaks) != 2 || // two tools of one file
		p.Breaks[0].File != "tools/one.py" {
		t.Errorf("lacking %+v, breaks %+v", p.Lacking, p.Breaks)
	}
	if p := w.plan(dir); len(p.Lacking)+len(p.Breaks) != 0 {
		t.Errorf("of a whole bundle: lacking %+v, breaks %+v", p.Lacking, p.Breaks)
	}
}
