package server_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/server"
	"github.com/fettle-cli/fettle/toolset"
)

// Work that ignores its context does not hold Run up: it is reported and left.
func TestRunEndsThoughAToolIgnoresItsContext(t *testing.T) {
	t.Parallel()
	begun, release, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	deaf := toolset.RunnerFunc(func(context.Context, toolset.Call) (toolset.Result, error) {
		close(begun)
		<-release
		close(ended)
		return toolset.Result{Text: "late"}, nil
	})
	h := &house{t: t, dir: t.TempDir(), log: &safeBuffer{}}
	must(t, os.WriteFile(filepath.Join(h.dir, "m.yaml"), []byte(`responses: [{when: "", step: 0, calls: [{name: deaf, args: {}}]}, {when: "", text: x}]`), 0o600))
	s, l := h.build(plan{
		tools: []toolset.Entry{{Tool: toolset.Tool{ID: "deaf", Name: "Deaf", Category: "test", Enabled: true, InputSchema: json.RawMessage(`{"type":"object"}`), Annotations: toolset.Annotations{ReadOnly: true}}, Runner: deaf}},
	})
	ctx, stop := context.WithCancel(t.Context())
	ready, result := make(chan struct{}), make(chan error, 1)
	go func() {
		result <- s.Run(ctx, l, server.RunOptions{Drain: -1, End: 200 * time.Millisecond, Ready: func() { close(ready) }})
	}()
	<-ready
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+l.TCP.Addr().String()+"/api/turns", strings.NewReader(`{"message":"go","allow":["*"]}`))
	must(t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+h.token)
	res, err := h.client.Do(r)
	must(t, err)
	_ = res.Body.Close()
	select {
	case <-begun:
	case <-time.After(30 * time.Second):
		t.Fatal("the tool does not run")
	}
	stop()
	select {
	case err := <-result:
		if err == nil || !strings.Contains(err.Error(), "some of its work had not") {
			t.Errorf("it ended with %v", err)
		}
	case <-time.After(30 * time.Second):
		t.Error("it waits for the tool")
	}
	close(release)
	<-ended
	must(t, h.eng.Close())
	h.client.CloseIdleConnections()
}
