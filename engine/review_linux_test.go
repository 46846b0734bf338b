package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/engine/workspace"
	"github.com/fettle-cli/fettle/toolset"
)

// reviewedCall is a request of a command whose changes are reviewed.
func reviewedCall(dir, line string) TurnRequest {
	req := command(dir, line)
	req.Policy, req.CanConfirm, req.CanReview = permission.Policy{Approvals: permission.Changes}, true, true
	return req
}

// reviewBench is an engine with layers, and a folder with the files a and b.
func reviewBench(t *testing.T) (b *bench, dir string) {
	t.Helper()
	b, dir = layeredBench(t), realPath(t, t.TempDir())
	save(t, dir, "a", "one\n")
	save(t, dir, "b", "two\n")
	return b, dir
}

// reviewed runs a command up to the question about its changes.
func (b *bench) reviewed(dir, line string) (store.TurnID, event.ConfirmRequest) {
	b.t.Helper()
	id := b.start(reviewedCall(dir, line))
	asked := b.firstOf(id, event.TypeConfirmRequest, event.TypeToolComplete)
	ask, ok := asked.Body.(event.ConfirmRequest)
	if !ok || ask.Review == nil {
		b.t.Fatalf("no review was asked for: %+v", asked.Body)
	}
	return id, ask
}

// decides answers the question of a turn, and returns the end of its call.
func (b *bench) decides(id store.TurnID, ask event.ConfirmRequest, a Confirmation) event.ToolComplete {
	b.t.Helper()
	a.ToolUseID = ask.ToolUseID
	if err := b.Confirm(context.Background(), id, a); err != nil {
		b.t.Fatal(err)
	}
	return find[event.ToolComplete](b.follow(id))
}

// fileKinds lists the files of a review.
func fileKinds(r *event.Review) string {
	var files []string
	for _, f := range r.Files {
		files = append(files, f.Kind+" "+f.Path)
	}
	return strings.Join(files, ", ")
}

const changesBoth = `echo three > a; rm b; mkdir new; echo four > new/c; echo "the output"`

func TestTheChangesOfACallAreReviewed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer  Confirmation
		a, b, c string // the files afterwards
		status  event.CallStatus
		told    []string
	}{
		"applied":            {Confirmation{Decision: event.Allow, All: true}, "three\n", "", "four\n", event.CallSuccess, []string{"the output"}},
		"applied in part":    {Confirmation{Decision: event.Allow, Only: []string{"new/c"}, Reason: "keep a"}, "one\n", "two\n", "four\n", event.CallSuccess, []string{"the output", "applied only new/c", "discarded 2 files", "keep a"}},
		"applied to nothing": {Confirmation{Decision: event.Allow, Only: []string{}}, "one\n", "two\n", "", event.CallError, []string{"the output", "discarded"}},
		"discarded":          {Confirmation{Decision: event.Deny, Reason: "not b"}, "one\n", "two\n", "", event.CallError, []string{"the output", "discarded", "not b"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, dir := reviewBench(t)
			id, ask := b.reviewed(dir, changesBoth)
			if got := fileKinds(ask.Review); got != "removed b, modified a, added new/c" {
				t.Errorf("the review lists %s", got)
			}
			if f := ask.Review.Files[1]; f.Diff != "@@ -1,1 +1,1 @@\n-one\n+three\n" || f.Added != 1 || f.Removed != 1 {
				t.Errorf("the diff is %+v", f)
			}
			if !strings.Contains(ask.Review.Output, "the output") || ask.Rule != "" {
				t.Errorf("the output is %q, the rule %q", ask.Review.Output, ask.Rule)
			}
			wantFile(t, dir, "a", "one\n")
			wantFile(t, dir, "b", "two\n")
			end := b.decides(id, ask, c.answer)
			wantFile(t, dir, "a", c.a)
			wantFile(t, dir, "b", c.b)
			wantFile(t, dir, "new/c", c.c)
			if end.Status != c.status {
				t.Errorf("the call ended with %s: %s", end.Status, end.Result)
			}
			for _, told := range c.told {
				if !strings.Contains(end.Result, told) {
					t.Errorf("the model is not told %q: %s", told, end.Result)
				}
			}
			b.noLayersLeft(t)
		})
	}
}

func TestACallWithoutChangesAsksNothing(t *testing.T) {
	t.Parallel()
	b, dir := reviewBench(t)
	for _, line := range []string{"cat a", "echo x > c; rm c"} {
		events := b.run(reviewedCall(dir, line))
		if find[event.ConfirmRequest](events).Tool != "" {
			t.Errorf("%s: %s", line, outline(events))
		}
		if end := completed(t, events); end.Status != event.CallSuccess {
			t.Errorf("%s: %s", line, end.Result)
		}
	}
}

// While the question is open the folder is free: what the user changes then stays, also a
// repository, and the time of the question is not the call's.
func TestTheUserCanWorkWhileAReviewIsOpen(t *testing.T) {
	t.Parallel()
	b, dir := reviewBench(t)
	var later atomic.Int64
	now := b.o.Now
	b.o.Now = func() time.Time { return now().Add(time.Duration(later.Load())) }
	id, ask := b.reviewed(dir, "echo three > a; echo four > b")
	save(t, dir, "a", "mine\n")
	save(t, dir, "own/.git/HEAD", "ref: refs/heads/main\n")
	save(t, dir, "own/.git/objects/x", "")
	save(t, dir, "own/.git/refs/x", "")
	if end := completed(t, b.run(command(dir, "echo other > other"))); end.Status != event.CallSuccess {
		t.Errorf("another chat's call: %s", end.Result)
	}
	later.Store(int64(time.Hour))
	end := b.decides(id, ask, Confirmation{Decision: event.Allow, All: true})
	wantFile(t, dir, "a", "mine\n")
	wantFile(t, dir, "b", "four\n")
	wantFile(t, dir, "other", "other\n")
	if _, err := os.Stat(filepath.Join(dir, "own", ".git", "HEAD")); err != nil {
		t.Errorf("the user's repository: %v", err)
	}
	if len(end.Conflicts) != 1 || end.Conflicts[0].Path != "a" {
		t.Errorf("the conflicts are %+v", end.Conflicts)
	}
	if end.DurationMS > (30 * time.Minute).Milliseconds() {
		t.Errorf("the call took %d ms", end.DurationMS)
	}
}

func TestNothingOfAReviewLandsThatIsCancelled(t *testing.T) {
	t.Parallel()
	b, dir := reviewBench(t)
	id, _ := b.reviewed(dir, "echo three > a")
	if err := b.Cancel(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	b.follow(id)
	wantFile(t, dir, "a", "one\n")
	b.noLayersLeft(t)
}

// An answer that allows names what it allows, and each change of a group is chosen with the
// others. The question stays until an answer fits.
func TestAReviewRefusesAnswersThatDoNotFit(t *testing.T) {
	t.Parallel()
	b, dir := reviewBench(t)
	save(t, dir, "d/x", "x\n")
	id, ask := b.reviewed(dir, "echo three > a; rm -r d; mkdir d; echo n > d/n")
	for name, a := range map[string]Confirmation{
		"a plain yes":       {Decision: event.Allow},
		"all and some":      {Decision: event.Allow, All: true, Only: []string{"a"}},
		"a rule":            {Decision: event.AllowAlways, All: true},
		"another file":      {Decision: event.Allow, Only: []string{"b"}},
		"a part of a group": {Decision: event.Allow, Only: []string{"a", "d/n"}},
	} {
		a.ToolUseID = ask.ToolUseID
		if err := b.Confirm(t.Context(), id, a); fault.CodeOf(err) != fault.Usage {
			t.Errorf("%s: %v", name, err)
		}
	}
	wantFile(t, dir, "a", "one\n")
	b.decides(id, ask, Confirmation{Decision: event.Allow, Only: []string{"d/n", "d/x"}})
	wantFile(t, dir, "a", "one\n")
	wantFile(t, dir, "d/n", "n\n")
	wantFile(t, dir, "d/x", "")
}

// A review lists each removal, removals first, and leaves a removed folder where not all of
// it was chosen. Undo brings back exactly what landed.
func TestAReviewOfManyRemovals(t *testing.T) {
	t.Parallel()
	b, dir := reviewBench(t)
	const many = maxReviewed + 50
	for i := range many {
		save(t, dir, fmt.Sprintf("d/sub/%04d", i), "")
	}
	id, ask := b.reviewed(dir, "rm -r d b; echo three > a; mkdir n; for i in $(seq 2000); do : > n/$i; done")
	r := ask.Review
	var only []string
	for i, f := range r.Files {
		if (f.Kind == "removed") != (i <= many) {
			t.Fatalf("file %d is %s %s", i, f.Kind, f.Path)
		}
		if f.Kind == "removed" && f.Path != "d/sub/0007" {
			only = append(only, f.Path)
		}
	}
	if len(r.Files) != many+1+maxReviewed || r.More != 2001-maxReviewed {
		t.Errorf("it lists %d files, and %d are not listed", len(r.Files), r.More)
	}
	end := b.decides(id, ask, Confirmation{Decision: event.Allow, Only: only})
	if left, err := filepath.Glob(filepath.Join(dir, "d", "sub", "*")); err != nil || len(left) != 1 {
		t.Errorf("%d files are left in d/sub: %v", len(left), err)
	}
	wantFile(t, dir, "a", "one\n")
	wantFile(t, dir, "b", "")
	if !strings.Contains(end.Result, "discarded 2002 files") {
		t.Errorf("the model is told %s", end.Result)
	}
	if _, err := b.Undo(t.Context(), workspace.RestoreRequest{Chat: store.ChatRef{Last: true}}); err != nil {
		t.Fatal(err)
	}
	if back, err := filepath.Glob(filepath.Join(dir, "d", "sub", "*")); err != nil || len(back) != many {
		t.Errorf("%d files are back in d/sub: %v", len(back), err)
	}
	wantFile(t, dir, "b", "two\n")
}

// What has no lines to show is described: contents that are no text, permission bits, links,
// and folders that states leave out.
func TestAReviewDescribesWhatHasNoDiff(t *testing.T) {
	t.Parallel()
	b, dir := reviewBench(t)
	save(t, dir, "package.json", "{}")
	save(t, dir, "bin", "\x00")
	id, ask := b.reviewed(dir, `printf '\0\0\0' > bin; chmod 600 a; ln -s a link; mkdir node_modules; echo m > node_modules/m; mkdir empty; seq 100000 > long`)
	notes := make(map[string]string)
	for _, f := range ask.Review.Files {
		notes[f.Path] = f.Note
	}
	for path, want := range map[string]string{
		"bin": "3 bytes, before 1 byte, not a text", "a": "mode 0644 → 0600", "link": "a link", "empty": "a folder", "long": "is not shown",
		"node_modules": "1 file written, 2 bytes; undo does not restore them",
	} {
		if !strings.Contains(notes[path], want) {
			t.Errorf("%s: %q, want %q", path, notes[path], want)
		}
	}
	b.decides(id, ask, Confirmation{Decision: event.Allow, Only: []string{"node_modules", "a"}})
	wantFile(t, dir, "node_modules/m", "m\n")
	wantFile(t, dir, "bin", "\x00")
	wantFile(t, dir, "long", "")
}

// What the user changed while the call ran is shown as a conflict, which no answer applies.
func TestAReviewShowsConflicts(t *testing.T) {
	t.Parallel()
	b, dir := reviewBench(t)
	b.first(t, dir)
	save(t, dir, "go", "no")
	id := b.start(next(reviewedCall("", "echo three > a; echo four > b; until grep -q yes go; do sleep 0.01; done")))
	b.waitForCall(t)
	save(t, dir, "a", "mine\n")
	save(t, dir, "go", "yes")
	ask := b.waitFor(id, event.TypeConfirmRequest).Body.(event.ConfirmRequest)
	if c := ask.Review.Conflicts; len(c) != 1 || c[0].Path != "a" || len(ask.Review.Files) != 1 {
		t.Errorf("the review is %+v", ask.Review)
	}
	b.decides(id, ask, Confirmation{Decision: event.Allow, All: true})
	wantFile(t, dir, "a", "mine\n")
	wantFile(t, dir, "b", "four\n")
}

// A command that can't be taken back asks before it runs, and the question has the reason. So
// does one that an ask rule concerns; a rule that denies refuses it.
func TestOnlyContainedCommandsRunFirst(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*bench, *TurnRequest)
		asks   bool
		why    string
	}{
		"an ask rule":                    {func(_ *bench, r *TurnRequest) { r.Policy.Ask = []string{"run_command(echo *)"} }, true, "the rule ask"},
		"a deny rule":                    {func(_ *bench, r *TurnRequest) { r.Policy.Deny = []string{"run_command(echo *)"} }, false, ""},
		"the network":                    {func(b *bench, _ *TurnRequest) { b.opensCommands() }, true, "other systems"},
		"repositories":                   {func(b *bench, _ *TurnRequest) { b.o.CommandsWriteGit = true }, true, "repositories"},
		"a client without reviews":       {func(_ *bench, r *TurnRequest) { r.CanReview = false }, true, "does not review"},
		"a turn that nothing is kept of": {func(_ *bench, r *TurnRequest) { r.Ephemeral = true }, true, "no state"},
		"no overlays":                    {func(b *bench, _ *TurnRequest) { b.o.Layers = nil }, true, "kept apart from the folder: there are no sandboxes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, dir := reviewBench(t)
			req := reviewedCall(dir, "echo three > a")
			c.change(b, &req)
			id := b.start(req)
			first := b.firstOf(id, event.TypeConfirmRequest, event.TypeToolStart)
			ask, asked := first.Body.(event.ConfirmRequest)
			if asked != c.asks || asked && (ask.Review != nil || !strings.Contains(ask.Reason, c.why)) {
				t.Errorf("it began with %+v", first.Body)
			}
			b.Cancel(t.Context(), id)
			b.follow(id)
			wantFile(t, dir, "a", "one\n")
		})
	}
}

// opensCommands gives commands the network.
func (b *bench) opensCommands() {
	entries := slices.Collect(b.o.Tools.All())
	for i := range entries {
		entries[i].Tool.Annotations.OpenWorld = entries[i].Tool.Annotations.OpenWorld || entries[i].Tool.ID == commandTool
	}
	set, err := toolset.NewSet(entries...)
	if err != nil {
		b.t.Fatal(err)
	}
	b.o.Tools = set
}

// Where layers can't be mounted after all, a call that was to run first does not run. The
// next time the user is asked before it.
func TestACallThatGetsNoLayerDoesNotRunUnasked(t *testing.T) {
	t.Parallel()
	b, dir := reviewBench(t)
	b.first(t, dir)
	b.o.Layers = func(context.Context, string, string) (string, error) { return "", nil }
	b.Pause = func(step string) {
		if step == "layer:made" { // as on a file system that can't be one
			made, _ := filepath.Glob(filepath.Join(b.LayersDir(), "*", "work"))
			for _, work := range made {
				os.Remove(work)
			}
		}
	}
	end := completed(t, b.run(next(reviewedCall("", "echo three > a"))))
	wantFile(t, dir, "a", "one\n")
	if end.Status != event.CallError {
		t.Errorf("the call ended with %s: %s", end.Status, end.Result)
	}
	id := b.start(next(reviewedCall("", "echo three > a")))
	ask := b.waitFor(id, event.TypeConfirmRequest).Body.(event.ConfirmRequest)
	if ask.Review != nil {
		t.Error("it ran before the question")
	}
	b.decides(id, ask, Confirmation{Decision: event.Allow})
	wantFile(t, dir, "a", "three\n")
	b.noLayersLeft(t)
}
