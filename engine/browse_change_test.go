package engine

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/workspace"
	"github.com/fettle-cli/fettle/internal/needtest"
)

// atBound makes a chat that works in a folder of the person's, which has some files.
func atBound(t *testing.T, files map[string]string) (b *bench, dir string) {
	t.Helper()
	b, dir = changer(t, t.TempDir()), realPath(t, t.TempDir())
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	req := ask(`{"put":{"a.txt":"1"}}`)
	req.Workspace, req.Policy.AllowAll = dir, true
	last[event.Complete](t, b.run(req))
	return b, dir
}

// A repository's own records are no file that a put writes, whatever it is under and
// whether or not it is conditional; a link leads nowhere else.
func TestNoPutWritesWhatGitKeeps(t *testing.T) {
	t.Parallel()
	b, dir := atBound(t, map[string]string{".git/hooks/x": "old", "sub/.GIT/config": "old"})
	if err := os.Symlink(".git", filepath.Join(dir, "g")); err != nil {
		needtest.Lacking(t, "symbolic links: "+err.Error())
	}
	records := func() map[string]string {
		out := tree(t, filepath.Join(dir, ".git"))
		maps.Copy(out, tree(t, filepath.Join(dir, "sub")))
		return out
	}
	before := records()
	for _, name := range []string{".git/hooks/pre-commit", ".git/hooks/x", "sub/.GIT/config", "sub/../.git/x", ".git", "g/hooks/pre-commit", "g/hooks/x"} {
		for _, put := range []workspace.Put{{}, {New: true}, {Was: strings.Repeat("0", 64)}} {
			put.Name, put.Content = name, strings.NewReader("evil")
			if _, err := b.PutFile(t.Context(), workspace.RestoreRequest{Chat: lastChat}, put); fault.CodeOf(err) != fault.Usage {
				t.Errorf("put %s (%+v): %v", name, put, err)
			}
		}
		if _, err := b.PutFile(t.Context(), workspace.RestoreRequest{Chat: lastChat}, workspace.Put{Name: name, Content: strings.NewReader("evil")}); fault.CodeOf(err) != fault.Usage {
			t.Errorf("put %s: %v", name, err)
		}
		req := ask("go")
		req.Chat, req.Uploads = lastChat, []Upload{{Name: name, Data: []byte("evil")}}
		if id, err := b.Start(context.Background(), req); err == nil {
			last[event.Error](t, b.follow(id))
		}
	}
	if now := records(); !maps.Equal(now, before) {
		t.Errorf("there are %q", now)
	}
}

// What no state has is not written over: undo could not bring it back. A put of a
// new file looks into the folder itself.
func TestNoPutReplacesWhatNoStateHas(t *testing.T) {
	t.Parallel()
	b, dir := atBound(t, map[string]string{
		".fettleignore": "kept-out/\n*.log\n", "kept-out/a": "mine", "b.log": "mine", "node_modules/p/c": "mine", "package.json": "{}",
	})
	for _, name := range []string{"kept-out/a", "kept-out/new", "b.log", "node_modules/p/c", "node_modules/p/new"} {
		for _, put := range []workspace.Put{{}, {New: true}} {
			put.Name, put.Content = name, strings.NewReader("other")
			if _, err := b.PutFile(t.Context(), workspace.RestoreRequest{Chat: lastChat}, put); fault.CodeOf(err) != fault.Usage {
				t.Errorf("put %s (%+v): %v", name, put, err)
			}
		}
	}
	want := map[string]string{
		".fettleignore": "kept-out/\n*.log\n", "kept-out/a": "mine", "b.log": "mine", "node_modules/p/c": "mine", "package.json": "{}", "a.txt": "1",
	}
	if got := tree(t, dir); !maps.Equal(got, want) {
		t.Errorf("the folder has %q", got)
	}
}

// Who sends a file slowly keeps nobody waiting: the chat and its folder are taken
// when all of it is there.
func TestASlowPutHoldsNothing(t *testing.T) {
	t.Parallel()
	b, dir := atBound(t, nil)
	from, to := io.Pipe()
	done := make(chan error, 1)
	go func() {
		_, err := b.PutFile(context.Background(), workspace.RestoreRequest{Chat: lastChat}, workspace.Put{Name: "slow.txt", Content: from})
		done <- err
	}()
	if _, err := io.WriteString(to, "be"); err != nil { // it has begun to read
		t.Fatal(err)
	}
	waits := func(what string) { t.Errorf("the quick one waits: %s", what) }
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := b.PutFile(ctx, workspace.RestoreRequest{Chat: lastChat, OnWait: func(what string) { waits(what); cancel() }}, workspace.Put{Name: "quick.txt", Content: strings.NewReader("q")})
	if err != nil {
		t.Errorf("the quick one: %v", err)
	}
	_, _ = io.WriteString(to, "gun")
	_ = to.Close()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got, want := tree(t, dir), map[string]string{"a.txt": "1", "quick.txt": "q", "slow.txt": "begun"}; !maps.Equal(got, want) {
		t.Errorf("the folder has %q", got)
	}
	if left := files(t, filepath.Join(b.dir, "blobs", "tmp")); len(left) > 0 {
		t.Errorf("left over: %q", left)
	}
}

// Half of a file is none, and leaves nothing.
func TestAPutThatBreaksOff(t *testing.T) {
	t.Parallel()
	b, dir := atBound(t, nil)
	broken := errors.New("gone")
	_, err := b.PutFile(t.Context(), workspace.RestoreRequest{Chat: lastChat}, workspace.Put{Name: "a.txt", Content: io.MultiReader(strings.NewReader("half"), iotest.ErrReader(broken))})
	if !errors.Is(err, broken) {
		t.Errorf("it gave %v", err)
	}
	if got := tree(t, dir); !maps.Equal(got, map[string]string{"a.txt": "1"}) {
		t.Errorf("the folder has %q", got)
	}
	if left := files(t, filepath.Join(b.dir, "blobs", "tmp")); len(left) > 0 {
		t.Errorf("left over: %q", left)
	}
}

// An edit whose changes can't be read any more once it is made was made all the same:
// it is told as done, and undo takes it back.
func TestAnEditIsDoneWhereItsChangesCannotBeTold(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(*bench, context.Context) (*workspace.Restored, error){
		"put": func(b *bench, ctx context.Context) (*workspace.Restored, error) {
			return b.PutFile(ctx, workspace.RestoreRequest{Chat: lastChat}, workspace.Put{Name: "a.txt", Content: strings.NewReader("2")})
		},
		"remove": func(b *bench, ctx context.Context) (*workspace.Restored, error) {
			return b.RemoveFile(ctx, workspace.RestoreRequest{Chat: lastChat}, "a.txt")
		},
		"move": func(b *bench, ctx context.Context) (*workspace.Restored, error) {
			return b.MoveFile(ctx, workspace.RestoreRequest{Chat: lastChat}, "a.txt", "b.txt")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, dir := atBound(t, nil)
			before := tree(t, dir)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			b.Pause = func(step string) {
				if step == "edit:kept" { // the folder and the chat have it now
					cancel()
				}
			}
			done, err := edit(b, ctx)
			if err != nil {
				t.Fatalf("the edit was made, and told as %v", err)
			}
			if done.Untold == nil || done.Changes != nil || done.Before.ID == done.After.ID {
				t.Errorf("it tells %+v", done)
			}
			if maps.Equal(tree(t, dir), before) {
				t.Error("it wasn't made")
			}
			if _, err := b.Undo(t.Context(), workspace.RestoreRequest{Chat: lastChat}); err != nil {
				t.Fatal(err)
			}
			if now := tree(t, dir); !maps.Equal(now, before) {
				t.Errorf("undone there are %q, before %q", now, before)
			}
		})
	}
}
