package engine

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/toolset"
)

// reviewing is a request of a command whose changes are reviewed.
func reviewing(dir, line string) TurnRequest {
	req := command(dir, line)
	req.Policy, req.CanConfirm = permission.Policy{Approvals: permission.Changes}, true
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
func (b *bench) reviewed(dir, line string) (TurnID, event.ConfirmRequest) {
	b.t.Helper()
	id := b.start(reviewing(dir, line))
	asked := b.firstOf(id, event.TypeConfirmRequest, event.TypeToolComplete)
	ask, ok := asked.Body.(event.ConfirmRequest)
	if !ok || ask.Review == nil {
		b.t.Fatalf("no review was asked for: %+v", asked.Body)
	}
	return id, ask
}

// decides answers the question of a turn, and returns the end of its call.
func (b *bench) decides(id TurnID, ask event.ConfirmRequest, a Confirmation) event.ToolComplete {
	b.t.Helper()
	a.ToolUseID = ask.ToolUseID
	if err := b.Confirm(context.Background(), id, a); err != nil {
		b.t.Fatal(err)
	}
	return find[event.ToolComplete](b.follow(id))
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
		"applied":            {Confirmation{Decision: event.Allow}, "three\n", "", "four\n", event.CallSuccess, []string{"the output"}},
		"applied in part":    {Confirmation{Decision: event.Allow, Only: []string{"new/c"}, Reason: "keep a"}, "one\n", "two\n", "four\n", event.CallSuccess, []string{"the output", "applied only new/c", "discarded 2 files", "keep a"}},
		"applied to nothing": {Confirmation{Decision: event.Allow, Only: []string{}}, "one\n", "two\n", "", event.CallError, []string{"the output", "discarded"}},
		"discarded":          {Confirmation{Decision: event.Deny, Reason: "not b"}, "one\n", "two\n", "", event.CallError, []string{"the output", "discarded", "not b"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, dir := reviewBench(t)
			id, ask := b.reviewed(dir, changesBoth)
			var files []string
			for _, f := range ask.Review.Files {
				files = append(files, f.Kind+" "+f.Path)
			}
			if got := strings.Join(files, ", "); got != "removed b, modified a, added new/c" {
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
		events := b.run(reviewing(dir, line))
		if find[event.ConfirmRequest](events).Tool != "" {
			t.Errorf("%s: %s", line, outline(events))
		}
		if end := completed(t, events); end.Status != event.CallSuccess {
			t.Errorf("%s: %s", line, end.Result)
		}
	}
}

// While the question is open the folder is free: what the user changes then stays.
func TestTheUserCanWorkWhileAReviewIsOpen(t *testing.T) {
	t.Parallel()
	b, dir := reviewBench(t)
	id, ask := b.reviewed(dir, "echo three > a; echo four > b")
	save(t, dir, "a", "mine\n")
	if end := completed(t, b.run(command(dir, "echo other > other"))); end.Status != event.CallSuccess {
		t.Errorf("another chat's call: %s", end.Result)
	}
	end := b.decides(id, ask, Confirmation{Decision: event.Allow})
	wantFile(t, dir, "a", "mine\n")
	wantFile(t, dir, "b", "four\n")
	wantFile(t, dir, "other", "other\n")
	if len(end.Conflicts) != 1 || end.Conflicts[0].Path != "a" {
		t.Errorf("the conflicts are %+v", end.Conflicts)
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

func TestAReviewIsAnsweredWithItsOwnFiles(t *testing.T) {
	t.Parallel()
	b, dir := reviewBench(t)
	id, ask := b.reviewed(dir, "echo three > a")
	err := b.Confirm(t.Context(), id, Confirmation{ToolUseID: ask.ToolUseID, Decision: event.Allow, Only: []string{"b"}})
	if fault.CodeOf(err) != fault.Usage {
		t.Errorf("another file: %v", err)
	}
	b.decides(id, ask, Confirmation{Decision: event.Allow, Only: []string{"a"}})
	wantFile(t, dir, "a", "three\n")
}

// A command that reaches the network asks before it runs, and so does one that an ask rule
// concerns; a rule that denies refuses it.
func TestOnlyContainedCommandsRunFirst(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		policy  permission.Policy
		network bool
		asks    bool
	}{
		"an ask rule": {permission.Policy{Ask: []string{"run_command(echo *)"}}, false, true},
		"a deny rule": {permission.Policy{Deny: []string{"run_command(echo *)"}}, false, false},
		"the network": {permission.Policy{}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, dir := reviewBench(t)
			if c.network {
				entries := slices.Collect(b.o.Tools.All())
				for i := range entries {
					entries[i].Tool.Annotations.OpenWorld = entries[i].Tool.Annotations.OpenWorld || entries[i].Tool.ID == commandTool
				}
				set, err := toolset.NewSet(entries...)
				if err != nil {
					t.Fatal(err)
				}
				b.o.Tools = set
			}
			req := reviewing(dir, "echo three > a")
			req.Policy = c.policy.With(req.Policy)
			id := b.start(req)
			first := b.firstOf(id, event.TypeConfirmRequest, event.TypeToolStart)
			if ask, asked := first.Body.(event.ConfirmRequest); asked != c.asks || asked && ask.Review != nil {
				t.Errorf("it began with %+v", first.Body)
			}
			b.Cancel(t.Context(), id)
			b.follow(id)
			wantFile(t, dir, "a", "one\n")
		})
	}
}

// Where layers can't be mounted after all, a call that was to run first does not run. The
// next time the user is asked before it.
func TestACallThatGetsNoLayerDoesNotRunUnasked(t *testing.T) {
	t.Parallel()
	b, dir := reviewBench(t)
	b.first(t, dir)
	b.o.Layers = func(context.Context, string, string) (string, error) { return "", nil }
	b.pause = func(step string) {
		if step == "layer:made" { // as on a file system that can't be one
			made, _ := filepath.Glob(filepath.Join(b.layersDir(), "*", "work"))
			for _, work := range made {
				os.Remove(work)
			}
		}
	}
	end := completed(t, b.run(next(reviewing("", "echo three > a"))))
	wantFile(t, dir, "a", "one\n")
	if end.Status != event.CallError {
		t.Errorf("the call ended with %s: %s", end.Status, end.Result)
	}
	id := b.start(next(reviewing("", "echo three > a")))
	ask := b.waitFor(id, event.TypeConfirmRequest).Body.(event.ConfirmRequest)
	if ask.Review != nil {
		t.Error("it ran before the question")
	}
	b.decides(id, ask, Confirmation{Decision: event.Allow})
	wantFile(t, dir, "a", "three\n")
	b.noLayersLeft(t)
}

// The user is told once why calls ask before they run.
func TestWithoutLayersTheModeSaysSoOnce(t *testing.T) {
	t.Parallel()
	b, dir := reviewBench(t)
	b.o.Layers = nil
	said := 0
	for range 2 {
		req := reviewing(dir, "echo three > a")
		if said > 0 {
			req = next(req)
		}
		id := b.start(req)
		ask := b.waitFor(id, event.TypeConfirmRequest).Body.(event.ConfirmRequest)
		if ask.Review != nil {
			t.Error("it ran before the question")
		}
		b.decides(id, ask, Confirmation{Decision: event.Deny})
		for _, e := range b.follow(id) {
			if note, ok := e.Body.(event.Footnote); ok && strings.Contains(note.Text, "approvals: changes") {
				said++
			}
		}
	}
	if said != 1 {
		t.Errorf("it is said %d times", said)
	}
}
