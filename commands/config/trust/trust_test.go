package trust_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/commands/config/trust"
)

func newStore(t *testing.T) *trust.Store {
	t.Helper()
	return trust.Open(filepath.Join(t.TempDir(), "state", trust.FileName))
}

func TestProjects(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	sum := trust.SumOf("x")
	if s.Project(file, sum) {
		t.Error("a file is trusted that nobody has seen")
	}
	p := trust.Project{File: file, Sum: sum, Time: time.Now(), Lines: []string{"allow: [a]"}}
	if err := s.TrustProject(t.Context(), p, []trust.Command{{Sum: trust.SumOf("op read"), Shown: "op read"}}); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*trust.Store{s, trust.Open(s.Path())} {
		known, ok := s.Known(file)
		if !s.Project(file, sum) || !s.Command("op read") || !ok || known.Lines[0] != "allow: [a]" {
			t.Errorf("what was trusted isn't: %+v", known)
		}
		if s.Project(file, trust.SumOf("y")) || s.Command("op  read") || s.Project(file+"2", sum) {
			t.Error("something else is trusted too")
		}
	}
	link := filepath.Join(dir, "link.yaml")
	if err := os.Symlink(file, link); err == nil && !s.Project(link, sum) {
		t.Error("the file isn't trusted by another of its names")
	}
	if found, err := s.RevokeProject(t.Context(), file); !found || err != nil || s.Project(file, sum) || s.Command("op read") {
		t.Errorf("revoked: %v, %v", found, err)
	}
	if found, err := s.RevokeProject(t.Context(), file); found || err != nil {
		t.Errorf("revoked twice: %v, %v", found, err)
	}
}

// A command that was allowed by itself outlives the project that has it too.
func TestCommands(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	cmd := trust.Command{Sum: trust.SumOf("pass x"), Shown: "pass x"}
	if err := s.TrustCommand(t.Context(), cmd); err != nil {
		t.Fatal(err)
	}
	if err := s.TrustProject(t.Context(), trust.Project{File: "f", Sum: "0"}, []trust.Command{cmd}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.RevokeProject(t.Context(), "f"); err != nil || !s.Command("pass x") {
		t.Errorf("the command went with the project: %v", err)
	}
	if found, err := s.RevokeCommand(t.Context(), "pass x"); !found || err != nil || s.Command("pass x") {
		t.Errorf("revoked: %v, %v", found, err)
	}
}

// What can't be read, or could be someone else's, is no trust, and is not
// written over.
func TestFilesThatAreNotBelieved(t *testing.T) {
	t.Parallel()
	good := newStore(t)
	if err := good.TrustCommand(t.Context(), trust.Command{Sum: trust.SumOf("c")}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(good.Path())
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		text string
		mode os.FileMode
	}{
		"cut":               {string(data[:len(data)/2]), 0o600},
		"a later form":      {strings.Replace(string(data), `"version": 1`, `"version": 2`, 1), 0o600},
		"open to the group": {string(data), 0o660},
		"readable":          {string(data), 0o644},
	} {
		if runtime.GOOS == "windows" && tt.mode != 0o600 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStore(t)
			if err := errors.Join(os.MkdirAll(filepath.Dir(s.Path()), 0o700), os.WriteFile(s.Path(), []byte(tt.text), tt.mode),
				os.Chmod(s.Path(), tt.mode)); err != nil {
				t.Fatal(err)
			}
			if s.Command("c") {
				t.Error("the command is trusted")
			}
			if _, _, err := s.List(); err == nil {
				t.Error("the list has no error")
			}
			if err := s.TrustCommand(t.Context(), trust.Command{Sum: "x"}); err == nil {
				t.Error("the file was written over")
			}
			if now, _ := os.ReadFile(s.Path()); string(now) != tt.text {
				t.Errorf("the file is now %q", now)
			}
		})
	}
}

func TestNothingIsLost(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	var wg sync.WaitGroup
	for _, c := range strings.Split("abcdefgh", "") {
		wg.Go(func() {
			if err := trust.Open(s.Path()).TrustCommand(t.Context(), trust.Command{Sum: trust.SumOf(c)}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if _, commands, err := s.List(); len(commands) != 8 || err != nil {
		t.Errorf("%d commands, %v", len(commands), err)
	}
	info, err := os.Stat(s.Path())
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}
