package engine

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/toolset/registry"
)

// toolsetEngine is an engine with document 004's App Builder installed.
func toolsetEngine(t *testing.T) *Engine {
	t.Helper()
	e := New(Options{Options: store.Options{DataDir: t.TempDir()}})
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	ref, err := filepath.Abs(filepath.Join("..", "testdata", "toolsets", "app-builder"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := e.PlanToolset(t.Context(), ref, registry.PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if _, err := e.ImportToolset(t.Context(), p, registry.ApplyOptions{}); fault.CodeOf(err) != fault.Approval {
		t.Fatalf("without a yes: %v", err)
	}
	if _, err := e.ImportToolset(t.Context(), p, registry.ApplyOptions{Approved: true}); err != nil {
		t.Fatal(err)
	}
	return e
}

func TestTheMirrorOfToolsetsIsThereForTurns(t *testing.T) {
	t.Parallel()
	e := toolsetEngine(t)
	file := filepath.Join(e.o.DataDir, "toolsets.json")
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for what, spoil := range map[string]func() error{
		"missing": func() error { return os.Remove(file) },
		"damaged": func() error { return os.WriteFile(file, want[:10], 0o600) },
	} {
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		m, err := e.ToolsetMirror(t.Context())
		if err != nil || len(m.Toolsets) != 1 || len(m.Toolsets[0].Tools) != 3 {
			t.Errorf("%s: %+v, %v", what, m, err)
		}
	}
	stale := bytes.Replace(want, []byte(`"generation":1`), []byte(`"generation":0`), 1)
	if err := os.WriteFile(file, stale, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := e.InstalledToolsets(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
		t.Errorf("a stale mirror stays: %v", err)
	}
}

func TestFaultsOfToolsets(t *testing.T) {
	t.Parallel()
	e := toolsetEngine(t)
	broken := t.TempDir()
	if err := os.WriteFile(filepath.Join(broken, "toolset.yaml"), []byte("id: x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		do   func() error
		code fault.Code
		says string
	}{
		"an unknown id": {func() error { _, err := e.InstalledToolset(t.Context(), "app-bilder"); return err }, fault.NotFound, "did you mean app-builder?"},
		"an unknown tool": {func() error { _, err := e.SwitchTool(t.Context(), "app-builder:rum", false); return err },
			fault.NotFound, "there is no tool app-builder:rum"},
		"no bundle": {func() error {
			_, err := e.PlanToolset(t.Context(), filepath.Join(broken, "none"), registry.PlanOptions{})
			return err
		}, fault.NotFound, "there is no bundle"},
		"a broken manifest": {func() error { _, err := e.PlanToolset(t.Context(), broken, registry.PlanOptions{}); return err },
			fault.Failed, "its toolset.yaml has"},
		"another state than was shown": {func() error { return e.TrustToolset(t.Context(), "app-builder", registry.Trusted{}) },
			fault.Busy, "changed by another fettle"},
	}
	for name, tt := range tests {
		err := tt.do()
		var f *fault.Fault
		if !errors.As(err, &f) || f.Code != tt.code || !strings.Contains(f.Msg, tt.says) {
			t.Errorf("%s: %v (%s)", name, err, fault.CodeOf(err))
		}
	}
}
