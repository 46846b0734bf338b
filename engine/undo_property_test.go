package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fettle-cli/fettle/engine/fault"
)

// someonesFolder is a chat's folder and what a test knows of it.
type someonesFolder struct {
	t   *rapid.T
	b   *bench
	dir string
	// call has a tool call write and remove files of the folder.
	call func(put map[string]string, rm []string)
	// hers has the paths that the user changed last, by hand.
	hers map[string]bool
	n    int // makes each content another one
}

// TestNothingOfTheUsersIsChangedUnasked runs calls, edits by hand, undo, redo and restores
// in any order. Without Overwrite no path that the user changed last becomes another one,
// and what Overwrite replaces is one undo or redo away.
func TestNothingOfTheUsersIsChangedUnasked(t *testing.T) {
	t.Parallel()
	for _, place := range []string{"its own", "the user's"} {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			round := 0
			rapid.Check(t, func(rt *rapid.T) {
				const rounds = 12 // each starts an engine
				if round++; round > rounds {
					return
				}
				b := changer(t, t.TempDir())
				if place == "its own" {
					b.did(ChatRef{}, `{"put":{"a":"ground"}}`)
				} else {
					b.boundTo(t.TempDir(), `{"put":{"a":"ground"}}`)
				}
				f := &someonesFolder{t: rt, b: b, dir: b.WorkspacePath(b.chat(1).Chat), hers: map[string]bool{}}
				f.call = func(put map[string]string, rm []string) {
					b.did(lastChat, callText(put, rm))
				}
				for range rapid.IntRange(3, 10).Draw(rt, "steps") {
					f.step()
				}
			})
		})
	}
}

func callText(put map[string]string, rm []string) string {
	text := `{"put":{`
	sep := ""
	for name, content := range put {
		text += fmt.Sprintf(`%s%q:%q`, sep, name, content)
		sep = ","
	}
	text += `}`
	if len(rm) > 0 {
		text += fmt.Sprintf(`,"rm":[%q]`, rm[0])
	}
	return text + `}`
}

func (f *someonesFolder) name() string {
	return rapid.SampledFrom([]string{"a", "b", "d/c"}).Draw(f.t, "name")
}

func (f *someonesFolder) must(err error) {
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *someonesFolder) step() {
	f.n++
	content := fmt.Sprint(f.n)
	switch rapid.SampledFrom([]string{"call", "edit", "undo", "redo", "restore"}).Draw(f.t, "what") {
	case "call":
		was, name := tree(f.b.t, f.dir), f.name()
		var rm []string
		if gone := f.name(); gone != name && was[gone] != "" && rapid.Bool().Draw(f.t, "rm") {
			rm = []string{gone}
		}
		f.call(map[string]string{name: "call " + content}, rm)
		delete(f.hers, name)
		for _, name := range rm {
			delete(f.hers, name)
		}
	case "edit":
		at := filepath.Join(f.dir, f.name())
		name, err := filepath.Rel(f.dir, at)
		f.must(err)
		f.hers[filepath.ToSlash(name)] = true
		if rapid.IntRange(0, 3).Draw(f.t, "remove") == 0 {
			if err := os.Remove(at); !errors.Is(err, fs.ErrNotExist) {
				f.must(err)
			}
			return
		}
		f.must(os.MkdirAll(filepath.Dir(at), 0o755))
		f.must(os.WriteFile(at, []byte("user "+content), 0o644))
	case "undo":
		f.restores(f.b.Undo, f.b.Redo)
	case "redo":
		f.restores(f.b.Redo, f.b.Undo)
	case "restore":
		to := fmt.Sprintf("@-%d", rapid.IntRange(0, 4).Draw(f.t, "state"))
		f.restores(func(ctx context.Context, req RestoreRequest) (*Restored, error) {
			req.Steps = 0
			return f.b.RestoreState(ctx, to, req)
		}, func(ctx context.Context, req RestoreRequest) (*Restored, error) {
			req.Steps = 1
			return f.b.Undo(ctx, req)
		})
	}
}

// restores does something that restores files, and with Overwrite also its inverse.
func (f *someonesFolder) restores(do, inverse func(context.Context, RestoreRequest) (*Restored, error)) {
	was := tree(f.b.t, f.dir)
	req := RestoreRequest{
		Chat: lastChat, Steps: rapid.IntRange(1, 3).Draw(f.t, "n"), Overwrite: rapid.Bool().Draw(f.t, "overwrite"),
	}
	done, err := do(f.b.t.Context(), req)
	now := tree(f.b.t, f.dir)
	if err != nil {
		if code := fault.CodeOf(err); code != fault.NotFound && code != fault.Failed {
			f.t.Fatal(err)
		}
		if diff := cmp.Diff(was, now); diff != "" {
			f.t.Fatalf("it failed, and changed the folder (-want +got):\n%s", diff)
		}
		return
	}
	if !req.Overwrite {
		for name := range f.hers {
			if was[name] != now[name] {
				f.t.Fatalf("%s was %q, as the user left it, and is %q", name, was[name], now[name])
			}
		}
		return
	}
	if done.After.ID == done.Before.ID {
		return // nothing had to be restored
	}
	req.Steps = len(done.Steps)
	if _, err := inverse(f.b.t.Context(), req); err != nil {
		f.t.Fatalf("the inverse: %v", err)
	}
	if diff := cmp.Diff(was, tree(f.b.t, f.dir)); diff != "" {
		f.t.Fatalf("after the inverse (-want +got):\n%s", diff)
	}
}
