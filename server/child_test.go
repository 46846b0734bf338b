package server_test

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/models"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/script"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/server"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/builtin"
)

// serveChild is a server as a process of its own; it prints its address.
func serveChild(dir string) error {
	reg := new(provider.Registry)
	if err := reg.Add("script", func() (provider.Provider, error) { return script.New(script.Options{Dir: dir}), nil }); err != nil {
		return err
	}
	set, err := toolset.NewSet(builtin.Entries(builtin.Options{})...)
	if err != nil {
		return err
	}
	data := filepath.Join(dir, "data")
	eng := engine.New(engine.Options{
		Options: store.Options{DataDir: data, Hold: true},
		Sources: catalog.Sources{Tools: set},
		Models:  &models.Catalog{Registry: reg, Configured: "script/m.yaml"},
	})
	token, err := server.Token(data)
	if err != nil {
		return err
	}
	s, err := server.New(server.Options{Engine: eng, Models: noModels{}, Token: token, DataDir: data, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	l, err := server.Listen(server.ListenOptions{Address: "127.0.0.1:0", DataDir: data})
	if err != nil {
		return err
	}
	return s.Run(context.Background(), l, server.RunOptions{Ready: func() { fmt.Println("http://" + l.TCP.Addr().String()) }})
}

// spawn starts a server as a process and gives a house without an engine.
func spawn(t *testing.T, dir string) (*house, *exec.Cmd) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), serveEnv+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	must(t, err)
	h := &house{t: t, dir: dir, url: strings.TrimSpace(line), log: &safeBuffer{}, client: &http.Client{Transport: &http.Transport{}}}
	h.token, err = server.Token(filepath.Join(dir, "data"))
	must(t, err)
	t.Cleanup(h.client.CloseIdleConnections)
	return h, cmd
}

const manyScript = `
pace: 2ms
responses:
  - {when: hang, deltas: [{content: one }, {content: two }, {content: three}], hang: true}
  - {when: write, step: 0, text: I write., calls: [{name: write_file, args: {path: a.txt, content: "one\n"}}]}
  - {when: "", text: one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen}
`

// A server that is killed among many turns loses nothing that a client has seen,
// and every client that comes back to the next one has a stream that ends.
func TestKilledAmongTurns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "m.yaml"), []byte(manyScript), 0o600))
	h, cmd := spawn(t, dir)
	const turns = 50
	seen := make([][]doc, turns)
	ids, last := make([]string, turns), make([]string, turns)
	var all, some sync.WaitGroup
	some.Add(turns)
	for i := range turns {
		ids[i], _ = h.start(doc{"message": []string{"hang", "write", "count"}[i%3], "model": "script/m.yaml"})
		all.Add(1)
		go func() {
			defer all.Done()
			first := sync.OnceFunc(some.Done)
			defer first()
			res, err := h.client.Do(h.request("GET", "/api/turns/"+ids[i]+"/events", nil))
			if err != nil {
				return // killed before it answered
			}
			defer res.Body.Close()
			seen[i], last[i] = readBroken(res, first)
		}()
	}
	some.Wait()
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	all.Wait()
	h, _ = spawn(t, dir)
	for i, id := range ids {
		s := h.follow("GET", "/api/turns/"+id+"/events", nil, "Last-Event-ID", last[i])
		switch s.res.StatusCode {
		case http.StatusNoContent: // it had ended, and the client has all of it
		case http.StatusOK:
			seen[i] = append(seen[i], s.all()...)
		default:
			t.Fatalf("turn %d: status %d", i, s.res.StatusCode)
		}
		end := ""
		for n, e := range seen[i] {
			if int(e["seq"].(float64)) != n+1 {
				t.Fatalf("turn %d: event %d has seq %v", i, n+1, e["seq"])
			}
			end = fmt.Sprint(e["type"])
		}
		if end != "complete" && end != "error" {
			t.Errorf("turn %d ends with %q after %d events", i, end, len(seen[i]))
		}
		// What was shown before the crash is what is kept.
		whole := h.follow("GET", "/api/turns/"+id+"/events", nil).all()
		if diff := cmp.Diff(seen[i], whole); diff != "" {
			t.Errorf("turn %d is kept otherwise than it was shown (-shown +kept):\n%s", i, diff)
		}
	}
}

// readBroken reads a stream that may be cut anywhere; half an event counts for
// nothing.
func readBroken(res *http.Response, first func()) (seen []doc, last string) {
	return readBrokenUntil(res, func() bool { first(); return false })
}

// readBrokenUntil is readBroken up to where enough says so, which is asked after
// each event.
func readBrokenUntil(res *http.Response, enough func() bool) (seen []doc, last string) {
	id, data := "", ""
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		line := lines.Text()
		switch {
		case strings.HasPrefix(line, "id: "):
			id = line[4:]
		case strings.HasPrefix(line, "data: "):
			data = line[6:]
		case line == "" && data != "":
			var e doc
			if jsonUnmarshal(data, &e) != nil {
				return seen, last
			}
			seen, last, data = append(seen, e), id, ""
			if enough() {
				return seen, last
			}
		}
	}
	return seen, last
}
