package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/token"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/models"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/script"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/builtin"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashEnv); dir != "" {
		crashChild(dir)
		return
	}
	if task := os.Getenv(childEnv); task != "" {
		if err := child(strings.Fields(task)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	unheld := new(unheldWrites)
	store.OnUnheldWrite(unheld.note)
	goleak.VerifyTestMain(withUnheld{m, unheld})
}

// unheldWrites are the places of the program, its tests left out, that have written to
// the store without the lock of the data directory.
type unheldWrites struct {
	mu     sync.Mutex
	places map[string]bool
}

const module = "github.com/fettle-cli/fettle/"

// note records which exported function of the program writes. A test that writes
// itself, or through functions that are not exported, does not need the lock.
func (u *unheldWrites) note() {
	frames := runtime.CallersFrames(callers())
	first := "" // the innermost function, for a goroutine that no test has started
	for {
		f, more := frames.Next()
		if strings.HasSuffix(f.File, "_test.go") {
			return
		}
		if !more {
			u.add(first)
			return
		}
		here := strings.HasPrefix(f.Function, module+"engine.") || strings.HasPrefix(f.Function, module+"toolset/registry.")
		name, _, _ := strings.Cut(f.Function[strings.LastIndex(f.Function, ").")+1:], "-")
		if !here || strings.HasSuffix(f.Function, ".holdWrite") || strings.Contains(f.Function, ".(*unheldWrites)") {
			continue
		}
		at := fmt.Sprintf("%s (%s:%d)", f.Function, filepath.Base(f.File), f.Line)
		first = cmp.Or(first, at)
		if token.IsExported(strings.TrimPrefix(name, ".")) {
			u.add(at)
			return
		}
	}
}

func (u *unheldWrites) add(place string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.places == nil {
		u.places = map[string]bool{}
	}
	if place != "" {
		u.places[place] = true
	}
}

func callers() []uintptr {
	pcs := make([]uintptr, 64)
	return pcs[:runtime.Callers(3, pcs)]
}

// withUnheld runs the tests, and fails if something wrote without the lock.
type withUnheld struct {
	*testing.M
	unheld *unheldWrites
}

func (w withUnheld) Run() int {
	code := w.M.Run()
	w.unheld.mu.Lock()
	defer w.unheld.mu.Unlock()
	for _, place := range slices.Sorted(maps.Keys(w.unheld.places)) {
		fmt.Fprintln(os.Stderr, "FAIL: the store was written without the lock of the data directory, which shareData takes, by "+place)
		code = 1
	}
	return code
}

// bench is an engine on a scripted model, in folders of the test's own.
type bench struct {
	*Engine
	t   testing.TB
	dir string

	mu   sync.Mutex
	told []string // what Notice was told
}

func (b *bench) notice(s string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.told = append(b.told, s)
}

// notices are what Notice has been told, in one text.
func (b *bench) notices() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Join(b.told, "\n")
}

// newBench makes an engine whose model `script/m.yaml` plays the script.
func newBench(t testing.TB, yaml string, tools ...toolset.Entry) *bench {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "m.yaml"), []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	return openBench(t, dir, tools...)
}

func openBench(t testing.TB, dir string, tools ...toolset.Entry) *bench {
	t.Helper()
	b := &bench{t: t, dir: dir}
	b.Engine = New(testOptions(t, dir, tools))
	b.o.Notice = b.notice
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return b
}

func testOptions(t testing.TB, dir string, tools []toolset.Entry) Options {
	reg := new(provider.Registry)
	err := reg.Add("script", func() (provider.Provider, error) {
		return script.New(script.Options{Dir: dir}), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	set, err := toolset.NewSet(append(builtin.Entries(builtin.Options{}), tools...)...)
	if err != nil {
		t.Fatal(err)
	}
	return Options{
		Options: store.Options{DataDir: filepath.Join(dir, "data")},
		Sources: catalog.Sources{Tools: set},
		Models:  &models.Catalog{Registry: reg, Configured: "script/m.yaml"},
		Retry:   provider.RetryOptions{Attempts: 2, FirstWait: time.Millisecond},
	}
}

func ask(prompt string) TurnRequest {
	return TurnRequest{Parts: []provider.Part{{Kind: provider.TextPart, Text: prompt}}}
}

// start begins a turn that has to begin.
func (b *bench) start(req TurnRequest) store.TurnID {
	b.t.Helper()
	id, err := b.Start(context.Background(), req)
	if err != nil {
		b.t.Fatalf("start: %v", err)
	}
	return id
}

// follow gives all events of a turn, and checks what holds of every stream.
func (b *bench) follow(id store.TurnID) []event.Event {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	var events []event.Event
	for e, err := range b.Follow(ctx, id, 0) {
		if err != nil {
			b.t.Fatalf("follow: %v", err)
		}
		events = append(events, e)
	}
	checkStream(b.t, id, events)
	return events
}

func checkStream(t testing.TB, id store.TurnID, events []event.Event) {
	t.Helper()
	open := map[string]bool{}
	for i, e := range events {
		if e.Seq != event.Seq(i+1) || e.TurnID != string(id) {
			t.Errorf("event %d has seq %d of turn %s", i, e.Seq, e.TurnID)
		}
		if e.Ends() != (i == len(events)-1) {
			t.Errorf("event %d of %d: %s", i+1, len(events), e.Type())
		}
		switch b := e.Body.(type) {
		case event.ToolStart:
			open[b.ToolUseID] = !chat.IsClientTool(b.ToolID) // those have none where the turn is whole
		case event.ToolComplete:
			if _, began := open[b.ToolUseID]; !began {
				t.Errorf("call %s ended before it began", b.ToolUseID)
			}
			delete(open, b.ToolUseID)
		}
	}
	if slices.Contains(slices.Collect(maps.Values(open)), true) {
		t.Errorf("calls without an end: %v", open)
	}
}

// run does a whole turn.
func (b *bench) run(req TurnRequest) []event.Event {
	b.t.Helper()
	return b.follow(b.start(req))
}

// outline is a stream in words: types, with what matters of each.
func outline(events []event.Event) string {
	var out []string
	for _, e := range events {
		s := string(e.Type())
		switch b := e.Body.(type) {
		case event.TextDelta:
			s = fmt.Sprintf("%q", b.Text)
			if n := len(out); n > 0 && strings.HasPrefix(out[n-1], `"`) { // how text was cut says nothing
				out[n-1] = strings.TrimSuffix(out[n-1], `"`) + strings.TrimPrefix(s, `"`)
				continue
			}
		case event.ToolStart:
			s += " " + b.Tool
		case event.ToolComplete:
			s += " " + b.Tool + " " + string(b.Status)
		case event.Error:
			s += " " + b.Code
		case event.Meta:
			s += " " + b.StopReason
		}
		out = append(out, s)
	}
	return strings.Join(out, "\n")
}

func want(t testing.TB, events []event.Event, lines ...string) {
	t.Helper()
	if got, want := outline(events), strings.Join(lines, "\n"); got != want {
		t.Errorf("events:\n%s\nwant:\n%s", got, want)
	}
}

// last is the body of the last event.
func last[B event.Body](t testing.TB, events []event.Event) B {
	t.Helper()
	b, ok := events[len(events)-1].Body.(B)
	if !ok {
		t.Fatalf("the turn ended with %+v", events[len(events)-1].Body)
	}
	return b
}

// chat is the chat with a number, as it is kept.
func (b *bench) chat(number int64) store.Conversation {
	b.t.Helper()
	conv, err := b.Chat(context.Background(), store.ChatRef{Number: number})
	if err != nil {
		b.t.Fatalf("chat %d: %v", number, err)
	}
	return conv
}

// until waits for a condition that another goroutine brings about.
func until(t testing.TB, what string, cond func() bool) {
	t.Helper()
	for range 5000 {
		if cond() {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
	t.Fatalf("%s did not come", what)
}

// files are the files below a folder, by relative path.
func files(t testing.TB, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, os.ErrNotExist) {
				return nil
			}
			return err
		}
		if !d.IsDir() {
			rel, _ := filepath.Rel(dir, path)
			out = append(out, filepath.ToSlash(rel))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// rogue is a provider whose every response a test writes by hand.
type rogue struct {
	name   string // "rogue", where there is none
	model  provider.Model
	stream streamFunc

	mu    sync.Mutex
	asked []*provider.Request
}

type streamFunc func(ctx context.Context, step int, yield func([]provider.Delta, error) bool)

var _ provider.Provider = (*rogue)(nil)

func (r *rogue) Name() string { return cmp.Or(r.name, "rogue") }

func (r *rogue) Model(_ context.Context, name string) (provider.Model, error) {
	m := r.model
	m.Provider, m.Name = r.Name(), name
	return m, nil
}

// Stream plays stream, which is told how many requests came before.
func (r *rogue) Stream(ctx context.Context, req *provider.Request) iter.Seq2[[]provider.Delta, error] {
	return func(yield func([]provider.Delta, error) bool) {
		r.mu.Lock()
		step := len(r.asked)
		r.asked = append(r.asked, req)
		r.mu.Unlock()
		r.stream(ctx, step, yield)
	}
}

// requests are those that came so far.
func (r *rogue) requests() []*provider.Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.asked)
}

// newRogue makes an engine whose model is the function.
func newRogue(t testing.TB, stream streamFunc, tools ...toolset.Entry) (*bench, *rogue) {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir()}
	r := &rogue{stream: stream}
	b.Engine = New(rogueOptions(t, b.dir, r, tools))
	b.o.Notice = b.notice
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return b, r
}

func rogueOptions(t testing.TB, dir string, r *rogue, tools []toolset.Entry) Options {
	o := testOptions(t, dir, tools)
	reg := new(provider.Registry)
	if err := reg.Add("rogue", func() (provider.Provider, error) { return r, nil }); err != nil {
		t.Fatal(err)
	}
	o.Models = &models.Catalog{Registry: reg, Configured: "rogue/m"}
	return o
}

func says(text string) provider.Delta { return provider.Delta{Kind: provider.Content, Text: text} }

func calls(id, name, args string) provider.Delta {
	return provider.Delta{Kind: provider.CallDelta, Call: &provider.ToolCall{ID: id, Name: name, Args: []byte(args)}}
}

func stops(reason string) provider.Delta {
	return provider.Delta{Kind: provider.Meta, Meta: &event.Meta{StopReason: reason}}
}

// tool makes a tool of a function.
func tool(id string, run toolset.RunnerFunc) toolset.Entry {
	set, _, scoped := strings.Cut(id, ":")
	if !scoped {
		set = ""
	}
	return toolset.Entry{
		Tool: toolset.Tool{
			ID: id, ToolsetID: set, Name: id, Description: "For a test.", Category: "test", Enabled: true,
			InputSchema: []byte(`{"type":"object"}`),
		},
		Runner: run,
	}
}

// realPath is a path with its links resolved, as a workspace has it.
func realPath(t testing.TB, path string) string {
	t.Helper()
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	return real
}
