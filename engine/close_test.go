package engine

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/toolset"
)

// An engine is closed at every stage of a turn: Close returns, nothing is left
// running (goleak looks), a turn that was accepted is there, ended, with a
// valid history, and one that was not has left nothing.
func TestCloseAtEveryStage(t *testing.T) {
	t.Parallel()
	for _, stage := range []string{
		"start:numbered", "start:created", "create:locked", "create:made", "publish:synced", "publish:renamed",
		"close:closed", "model", "retry", "tool", "approval", "workspace",
	} {
		t.Run(stage, func(t *testing.T) {
			t.Parallel()
			closeAt(t, stage)
		})
	}
}

func closeAt(t *testing.T, stage string) {
	closed := make(chan struct{})
	var b *bench
	reached := make(chan struct{}, 100)
	closing := func() { // the engine is closing when this returns
		reached <- struct{}{}
		<-b.base.Done()
	}
	b, _ = newRogue(t, func(ctx context.Context, step int, yield func([]provider.Delta, error) bool) {
		switch {
		case stage == "model":
			yield([]provider.Delta{says("Half")}, nil)
			closing()
			<-ctx.Done()
			yield(nil, ctx.Err())
		case stage == "retry":
			reached <- struct{}{}
			yield(nil, &provider.Error{Kind: provider.Overloaded, Provider: "rogue", Message: "busy", RetryAfter: time.Minute})
		case step == 0:
			yield([]provider.Delta{calls("1", "wait", `{}`), calls("2", "wait", `{}`), stops("tool_use")}, nil)
		default:
			yield([]provider.Delta{says("Done."), stops("stop")}, nil)
		}
	}, tool("wait", func(ctx context.Context, _ toolset.Call) (toolset.Result, error) {
		if stage == "tool" {
			closing()
			<-ctx.Done()
			return toolset.Result{}, ctx.Err()
		}
		return toolset.Result{Text: "ok"}, nil
	}))
	at := func(step string) {
		if step == stage {
			closing()
		}
	}
	b.Pause = at
	b.Journals.Hook(at)
	req := ask("go")
	if stage == "approval" || stage == "workspace" {
		req = bound(t, b)
	}
	if stage == "approval" {
		req.CanConfirm = true
	} else {
		req.Policy.AllowAll = true
	}
	if stage == "workspace" {
		release, err := b.LockWorkspace(t.Context(), &toolset.Workspace{Path: realPath(t, req.Workspace), Bound: true}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer release()
	}
	go func() {
		defer close(closed)
		<-reached
		if err := b.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}()
	id, err := b.Start(t.Context(), req)
	if err == nil && (stage == "approval" || stage == "workspace") {
		go func() {
			typ := event.TypeConfirmRequest
			if stage == "workspace" {
				typ = event.TypeStatus // that it waits
			}
			b.waitFor(id, typ)
			reached <- struct{}{}
		}()
	}
	<-closed
	checkClosed(t, b, id, err)
}

func checkClosed(t *testing.T, b *bench, id store.TurnID, err error) {
	t.Helper()
	if err != nil {
		if fault.CodeOf(err) != fault.Interrupted {
			t.Errorf("start: %v (%s)", err, fault.CodeOf(err))
		}
		for _, name := range files(t, b.o.DataDir) {
			if !strings.HasPrefix(name, "counter.json") {
				t.Errorf("left behind: %s", name)
			}
		}
		return
	}
	before := b.follow(id)
	other := b.reopen()
	if got := outline(other.follow(id)); got != outline(before) {
		t.Errorf("shown:\n%s\nkept:\n%s", outline(before), got)
	}
	switch end := before[len(before)-1].Body.(type) {
	case event.Complete:
	case event.Error:
		if end.Code != string(fault.Interrupted) || !end.Retryable {
			t.Errorf("ended with %+v", end)
		}
	default:
		t.Errorf("ended with %+v", end)
	}
	req := ask("on")
	req.Chat.Number, req.Model = 1, "script/m.yaml"
	put(t, other.dir+"/m.yaml", []byte(`{responses: [{when: "", text: Yes.}]}`))
	want(t, other.run(req), `"Yes."`, "meta stop", "complete")
}

// Close ends a start that waits for a live turn of another process.
func TestCloseWhileAStartWaits(t *testing.T) {
	t.Parallel()
	b := newBench(t, `{responses: [{when: one, deltas: [{content: Half}], hang: true}]}`)
	id := b.start(ask("one"))
	b.firstText(id)
	other := b.reopen()
	req := ask("two")
	req.Chat.Number = 1
	closed := make(chan error, 1)
	req.OnWait = func(string) { go func() { closed <- other.Close() }() }
	if _, err := other.Start(t.Context(), req); fault.CodeOf(err) != fault.Interrupted {
		t.Errorf("start: %v", err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	b.Cancel(t.Context(), id)
	b.follow(id)
}
