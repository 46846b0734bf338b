package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/mcp"
)

func TestACall(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mcp.Options{})
	s := server(t, "normal")
	res, err := w.call(t, s, "echo", `{"a":1}`)
	if err != nil {
		t.Fatal(err)
	}
	if res.Text != `you said {"a":1}` {
		t.Errorf("text %q", res.Text)
	}
	if _, err := w.call(t, s, "echo", `{}`); err != nil || w.launcher.count() != 1 {
		t.Errorf("a second call: %v, and %d starts", err, w.launcher.count())
	}
	if !slices.Equal(w.Running(), []string{"fix"}) {
		t.Errorf("running: %v", w.Running())
	}
}

func TestKindsOfResults(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mcp.Options{})
	s := server(t, "normal")
	res, err := w.call(t, s, "kinds", `{}`)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"a[2Jb", "[image, image/png, 3 bytes", "[audio, audio/wav", "[resource x at file:///x: an x]", "[resource mem://y]\nwhy"} {
		if !strings.Contains(res.Text, want) {
			t.Errorf("the text lacks %q:\n%s", want, res.Text)
		}
	}
	if !strings.Contains(string(res.Data), `"data":"cG5n"`) {
		t.Errorf("the picture is not kept: %s", res.Data)
	}
	res, err = w.call(t, s, "structured", `{}`)
	if err != nil || string(res.Data) != `{"n":5}` || res.Text == "" {
		t.Errorf("structured: %q, %s, %v", res.Text, res.Data, err)
	}
	var own *toolset.ToolError
	if _, err = w.call(t, s, "fail", `{}`); !errors.As(err, &own) || !strings.Contains(own.Message, "the MCP server fix: the file is locked") {
		t.Errorf("a failure: %v", err)
	}
}

func TestNamesAreFittedAndTurnedBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mcp.Options{})
	s := server(t, "normal")
	res, err := w.call(t, s, mcp.ToolName("odd name: ü"), `{}`)
	if err != nil || res.Text != "odd name: ü" {
		t.Errorf("got %q, %v", res.Text, err)
	}
	report, err := w.Look(t.Context(), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range report.Tools {
		if tool.Name == "only for pages" || tool.Name == "fetches" {
			t.Errorf("%s is listed", tool.Name)
		}
		if !tool.RequiresConfirmation {
			t.Errorf("%s asks nobody", tool.ID)
		}
	}
	if !strings.Contains(strings.Join(report.Notes, " "), `"fetches" is left out`) {
		t.Errorf("notes: %q", report.Notes)
	}
	if report.Name != "fixture" || report.Instructions != "Be kind." || len(report.Resources) != 1 || len(report.Prompts) != 1 {
		t.Errorf("report: %+v", report)
	}
}

func TestProgressIsPassedOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mcp.Options{})
	var seen []string
	ws := managed(t)
	_, err := w.Runner(server(t, "normal"), toolset.Tool{ID: "fix:steps"}).Run(t.Context(), toolset.Call{
		Args: json.RawMessage(`{}`), Workspace: ws, Progress: func(p toolset.Progress) {
			if seen = append(seen, p.Message); p.Progress != nil {
				if err := ws.Root.WriteFile("heard", nil, 0o600); err != nil {
					t.Error(err)
				}
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(seen, func(s string) bool { return strings.HasPrefix(s, "step ") && strings.HasSuffix(s, "[31m") }) {
		t.Errorf("progress: %q", seen)
	}
}

func TestAServerThatDiesInACallIsStartedAgain(t *testing.T) {
	t.Parallel()
	now := newClock()
	w := newWorld(t, mcp.Options{Now: now.now})
	s := server(t, "normal")
	_, err := w.call(t, s, "die", `{}`)
	if err == nil || !strings.Contains(err.Error(), "the MCP server fix: it ended during the call") || !strings.Contains(err.Error(), "out of cheese") {
		t.Fatalf("error: %v", err)
	}
	_, err = w.call(t, s, "echo", `{}`)
	var pause *mcp.PauseError
	if err == nil || !errors.As(errors.Unwrap(err), &pause) && !strings.Contains(err.Error(), "is tried again in") {
		t.Fatalf("at once: %v", err)
	}
	now.pass(time.Minute)
	if _, err := w.call(t, s, "echo", `{}`); err != nil {
		t.Fatalf("after the pause: %v", err)
	}
}

func TestAServerThatCantStart(t *testing.T) {
	t.Parallel()
	now := newClock()
	w := newWorld(t, mcp.Options{Now: now.now})
	s := server(t, "crash")
	_, err := w.call(t, s, "echo", `{}`)
	if err == nil || !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), "no database here") {
		t.Errorf("error: %v", err)
	}
	started := w.launcher.count()
	for range 5 {
		if _, err := w.call(t, s, "echo", `{}`); err == nil {
			t.Error("it works")
		}
	}
	if w.launcher.count() != started {
		t.Errorf("%d starts within the pause", w.launcher.count()-started)
	}
	gone := server(t, "normal")
	gone.Command = filepath.Join(t.TempDir(), "no-such-program")
	if _, err := w.call(t, gone, "echo", `{}`); err == nil || !strings.Contains(err.Error(), "no-such-program") {
		t.Errorf("no program: %v", err)
	}
}

func TestOneThatNeverAnswersHoldsNobodyElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mcp.Options{})
	mute := server(t, "mute")
	mute.ID = "mute"
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := w.Runner(mute, toolset.Tool{ID: "mute:x"}).Run(ctx, toolset.Call{Args: json.RawMessage(`{}`)})
		ended <- err
	}()
	if _, err := w.call(t, server(t, "normal"), "echo", `{}`); err != nil {
		t.Errorf("beside it: %v", err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("its own call: %v", err)
	}
}

func TestACancelReachesTheServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mcp.Options{})
	ws := managed(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	run := w.Runner(server(t, "normal"), toolset.Tool{ID: "fix:hang"})
	reported := make(chan bool, 10)
	go func() {
		_, err := run.Run(ctx, toolset.Call{Args: json.RawMessage(`{}`), Workspace: ws, Progress: func(toolset.Progress) { reported <- true }})
		ended <- err
	}()
	<-reported
	await(t, func() bool { return len(w.Running()) == 1 })
	time.AfterFunc(50*time.Millisecond, cancel) // whether it came in before or after makes no difference
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the call: %v", err)
	}
	await(t, func() bool {
		_, err := os.Stat(filepath.Join(ws.Path, "noted-cancelled"))
		return err == nil || len(w.Running()) == 1
	})
}

func TestAFloodEndsTheServer(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"flood", "junk"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, mcp.Options{})
			_, err := w.call(t, server(t, kind), "echo", `{}`)
			if err == nil || !strings.Contains(err.Error(), "the MCP server fix: it floods") {
				t.Errorf("error: %v", err)
			}
			await(t, func() bool { return len(w.Running()) == 0 })
		})
	}
}

func TestABannerIsPassedOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mcp.Options{})
	if _, err := w.call(t, server(t, "banner"), "echo", `{}`); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(w.said(), "Starting the best server") {
		t.Errorf("log: %s", w.said())
	}
}

func TestAListOfThousands(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mcp.Options{})
	report, err := w.Look(t.Context(), server(t, "many"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Tools) != mcp.MaxTools || len(report.Notes) == 0 {
		t.Errorf("%d tools, notes %q", len(report.Tools), report.Notes)
	}
}

func TestAToolThatChangedIsHeldBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mcp.Options{})
	s := server(t, "normal")
	report, err := w.Look(t.Context(), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Pinned = report.Tools
	if _, err := w.call(t, s, "echo", `{}`); err != nil {
		t.Fatalf("unchanged: %v", err)
	}
	if told := w.told(); len(told) > 0 {
		t.Errorf("told of a change: %q", told)
	}
	changed := server(t, "changed")
	changed.Pinned = report.Tools
	_, err = w.call(t, changed, "echo", `{}`)
	if err == nil || !strings.Contains(err.Error(), "held back until the user has tested the MCP server fix") {
		t.Errorf("changed: %v", err)
	}
	if _, err := w.call(t, changed, "fail", `{}`); err == nil || !strings.Contains(err.Error(), "locked") {
		t.Errorf("another tool of it: %v", err)
	}
	if len(w.told()) == 0 {
		t.Error("nobody was told")
	}
	now, err := w.Look(t.Context(), changed, nil)
	if err != nil {
		t.Fatal(err)
	}
	changed.Pinned = now.Tools
	if _, err := w.call(t, changed, "echo", `{}`); err != nil {
		t.Errorf("approved: %v", err)
	}
}

func TestTheEraIsFoundAndRemembered(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mcp.Options{Probe: 2 * time.Second})
	s := server(t, "silent-discover")
	res, err := w.call(t, s, "echo", `{}`)
	if err != nil || res.Text != "old echo" {
		t.Fatalf("got %q, %v", res.Text, err)
	}
	dir := filepath.Join(w.dir, "mcp")
	files, _ := filepath.Glob(filepath.Join(dir, ".eras", "*"))
	if len(files) != 1 {
		t.Fatalf("remembered: %q", files)
	}
	w.Forget("fix")
	// One who asks for the era again would wait for an answer that never comes.
	later := newWorld(t, mcp.Options{Dir: dir, Probe: time.Hour})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	res, err = later.Runner(s, toolset.Tool{ID: s.ID + ":echo"}).Run(ctx, toolset.Call{Args: json.RawMessage(`{}`)})
	if err != nil || res.Text != "old echo" {
		t.Errorf("the second start: %q, %v", res.Text, err)
	}
}

func TestAServerHasTheWorkspaceAndNothingElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mcp.Options{})
	ws := managed(t)
	s := server(t, "normal")
	res, err := w.Runner(s, toolset.Tool{ID: "fix:write"}).Run(t.Context(), toolset.Call{Args: json.RawMessage(`{}`), Workspace: ws})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(res.Text, ws.Path+" ") {
		t.Errorf("it runs in %s", res.Text)
	}
	if _, err := os.Stat(filepath.Join(ws.Path, "noted-here")); err != nil {
		t.Error(err)
	}
	res, err = w.Runner(s, toolset.Tool{ID: "fix:roots"}).Run(t.Context(), toolset.Call{Args: json.RawMessage(`{}`), Workspace: ws})
	if err != nil || !strings.Contains(res.Text, "file://"+ws.Path) {
		t.Errorf("roots: %s, %v", res.Text, err)
	}
	other := managed(t)
	if _, err := w.Runner(s, toolset.Tool{ID: "fix:write"}).Run(t.Context(), toolset.Call{Args: json.RawMessage(`{}`), Workspace: other}); err != nil {
		t.Fatal(err)
	}
	if w.launcher.count() != 2 {
		t.Errorf("%d processes for two workspaces", w.launcher.count())
	}
}

func TestAQuestionForAPerson(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mcp.Options{Ask: func(_ context.Context, q mcp.Question) (mcp.Answer, error) {
		if q.Server != "fix" || q.Message != "who are you?" {
			t.Errorf("question: %+v", q)
		}
		return mcp.Answer{Action: mcp.Accept}, nil
	}})
	res, err := w.call(t, server(t, "normal"), "ask", `{}`)
	if err != nil || !strings.Contains(res.Text, "nobody") {
		t.Errorf("the default: %s, %v", res.Text, err)
	}
	none := newWorld(t, mcp.Options{})
	if res, err := none.call(t, server(t, "normal"), "ask", `{}`); err != nil || !strings.Contains(res.Text, "cancel") {
		t.Errorf("with nobody to ask: %q, %v", res.Text, err)
	}
}

func TestResourcesAndPrompts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mcp.Options{})
	s := server(t, "normal")
	parts, err := w.Read(t.Context(), s, nil, "mem://notes")
	if err != nil || len(parts) != 1 || parts[0].Text != "buy milk" {
		t.Errorf("resource: %+v, %v", parts, err)
	}
	if _, err := w.Read(t.Context(), s, nil, "mem://none"); err == nil || !strings.Contains(err.Error(), "it refused") {
		t.Errorf("no resource: %v", err)
	}
	texts, err := w.Fill(t.Context(), s, nil, "greet", map[string]string{"who": "Ada"})
	if err != nil || len(texts) != 1 || texts[0].Text != "greet Ada" || texts[0].Role != "user" {
		t.Errorf("prompt: %+v, %v", texts, err)
	}
}

func TestVariablesAreFilledInWhenItStarts(t *testing.T) {
	t.Parallel()
	set := map[string]string{"KIND": "normal"}
	look := func(_ context.Context, name string) (string, bool, error) { v, ok := set[name]; return v, ok, nil }
	w := newWorld(t, mcp.Options{Lookup: look})
	s := server(t, "${KIND}")
	if _, err := w.call(t, s, "echo", `{}`); err != nil {
		t.Error(err)
	}
	s.Args = []string{"${MISSING}"}
	if _, err := w.call(t, s, "echo", `{}`); err == nil || !strings.Contains(err.Error(), "the variable MISSING, which isn't set") {
		t.Errorf("unset: %v", err)
	}
	s.Args = []string{"${MISSING:-otherwise}"}
	if _, err := w.call(t, s, "echo", `{}`); err != nil {
		t.Error(err)
	}
}

func TestAChangedCommandReconnects(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mcp.Options{})
	s := server(t, "normal")
	if _, err := w.call(t, s, "echo", `{}`); err != nil {
		t.Fatal(err)
	}
	s.Args = []string{"another"}
	if _, err := w.call(t, s, "echo", `{}`); err != nil {
		t.Fatal(err)
	}
	if w.launcher.count() != 2 {
		t.Errorf("%d starts", w.launcher.count())
	}
}

func TestNothingStartsAfterClose(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mcp.Options{})
	if _, err := w.call(t, server(t, "normal"), "echo", `{}`); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := w.call(t, server(t, "normal"), "echo", `{}`); !strings.Contains(err.Error(), mcp.ErrClosed.Error()) {
		t.Errorf("after it: %v", err)
	}
	if w.launcher.count() != 1 {
		t.Errorf("%d starts", w.launcher.count())
	}
}

// Those who call while a server starts wait for that start, and begin no other.
func TestCallersShareAStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mcp.Options{})
	s := server(t, "normal")
	var calls sync.WaitGroup
	for range 8 {
		calls.Go(func() {
			if _, err := w.call(t, s, "echo", `{}`); err != nil {
				t.Error(err)
			}
		})
	}
	calls.Wait()
	if n := w.launcher.count(); n != 1 {
		t.Errorf("%d starts", n)
	}
}
