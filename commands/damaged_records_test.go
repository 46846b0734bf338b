package commands_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/commands/commandtest"
	"github.com/fettle-cli/fettle/internal/kv"
)

// damage makes the records of a table unreadable whose key or content has a text.
func (w *world) damage(table, text string, indexes ...string) {
	w.T.Helper()
	store := kv.Open(filepath.Join(w.Dir, "data", "store"), kv.Options{})
	defer func() {
		if err := store.Close(); err != nil {
			w.T.Error(err)
		}
	}()
	var at kv.Key
	var none []kv.Index[string]
	for _, name := range indexes {
		none = append(none, kv.On(name, func(*string) kv.Key { return nil }))
	}
	spoiled := kv.NewTable(table, func(*string) kv.Key { return at }, none...)
	err := store.UpdateSync(w.T.Context(), func(tx *kv.Tx) error {
		var keys []kv.Key
		for item, err := range kv.NewRawTable(table).Scan(tx, kv.Range{}) {
			if err != nil {
				return err
			}
			if bytes.Contains(item.Key, []byte(text)) || bytes.Contains(item.Value, []byte(text)) {
				keys = append(keys, bytes.Clone(item.Key))
			}
		}
		if len(keys) == 0 {
			w.T.Errorf("%s has no record with %q", table, text)
		}
		for _, at = range keys {
			rubbish := "not such a record"
			if err := spoiled.Put(tx, &rubbish); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		w.T.Fatal(err)
	}
}

// With one damaged record each of a chat's messages, the toolsets, the MCP servers and
// the documents, all commands about the others work, and name what is damaged.
func TestCommandsWorkWithDamagedRecords(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{responses: [{when: "", text: Hi.}]}`)
	for _, question := range []string{"first question", "second question"} {
		w.Run(0, "ask", "--no-stdin", question)
	}
	for _, name := range []string{"board", "reviews"} {
		w.Run(0, "toolset", "import", "--yes", commandtest.Toolset(t, name))
	}
	for _, name := range []string{"one", "two"} {
		w.Run(0, "mcp", "add", "--no-test", "server-"+name, "--", "no-such-program")
		commandtest.Put(t, filepath.Join(w.Dir, name+".txt"), "text of "+name)
	}
	w.Run(0, "docs", "add", "one.txt", "two.txt")
	w.Run(0, "chats", "list") // which stores the turns
	w.damage("messages", "first question")
	w.damage("toolsets", "board")
	w.damage("mcp_servers", "server-one")
	w.damage("documents", "one.txt", "name")
	if err := os.Remove(filepath.Join(w.Dir, "data", "toolsets.json")); err != nil { // which is written again from the records
		t.Fatal(err)
	}
	for command, wants := range map[string]struct{ has, names string }{
		"chats list":                      {"second question", ""},
		"chats search question":           {"second question", ""},
		"chats export --all -o json":      {"second question", "damaged"},
		"chats export 2":                  {"second question", ""},
		"toolset list":                    {"reviews", "damaged"},
		"tool list":                       {"reviews", ""},
		"mcp list":                        {"server-two", "server-one"},
		"docs list":                       {"two.txt", "damaged"},
		"doctor":                          {"", ""},
		"usage":                           {"", ""},
		"__complete bash -- = chats show": {"2", ""},
		"ask --no-stdin again":            {"Hi.", ""},
	} {
		args := strings.Fields(command)
		cmd := w.Command(args...)
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		err := cmd.Run()
		code := cmd.ProcessState.ExitCode()
		all := out.String() + errs.String()
		if !strings.Contains(out.String(), wants.has) || !strings.Contains(all, wants.names) || strings.Contains(errs.String(), "panic") {
			t.Errorf("fettle %s: %v: %s", command, err, all)
		}
		if tolerated := args[0] == "doctor" || wants.names != "" && args[0] == "chats"; code != 0 && !tolerated {
			t.Errorf("fettle %s: status %d: %s", command, code, all)
		}
	}
	w.servesDespiteDamage()
	// importing and adding again repairs
	w.Run(0, "toolset", "import", "--yes", commandtest.Toolset(t, "board"))
	w.Run(0, "mcp", "add", "--replace", "--no-test", "server-one", "--", "no-such-program")
	for _, list := range []string{"toolset", "mcp"} {
		if out, _ := w.Run(0, list, "list"); strings.Contains(out, "damaged") {
			t.Errorf("%s list after the repair: %s", list, out)
		}
	}
}

// servesDespiteDamage starts a server and reads its lists.
func (w *world) servesDespiteDamage() {
	w.T.Helper()
	url, token := startServe(w.T, w)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for path, has := range map[string]string{
		"/api/chats": "second question", "/api/toolsets": "reviews", "/api/tools": "reviews", "/api/available-tools": "reviews",
		"/api/chats/2/messages": "second question", "/api/search?q=question": "second question",
	} {
		res, err := client.Get(url + "/t/" + token + path)
		if err != nil {
			w.T.Errorf("%s: %v", path, err)
			continue
		}
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close() // it was read to its end
		if err != nil || res.StatusCode != http.StatusOK || !json.Valid(body) || !strings.Contains(string(body), has) {
			w.T.Errorf("%s: status %d, %v: %.500s", path, res.StatusCode, err, body)
		}
	}
}
