package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/server/mcp"
)

// typist is a client that writes lines by hand.
type typist struct {
	t   *testing.T
	to  io.Writer
	out *bufio.Scanner
}

// typing starts Serve and initializes a session of a revision.
func (h *house) typing(t *testing.T, version, first string) *typist {
	t.Helper()
	host := mcp.New(mcp.Options{Engine: h.eng, Version: "1.2.3"})
	in, to := io.Pipe()
	from, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- host.Serve(context.Background(), in, out)
		_ = out.Close()
	}()
	t.Cleanup(func() {
		_ = to.Close()
		_ = from.Close()
		if err := <-ended; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	c := &typist{t: t, to: to, out: bufio.NewScanner(from)}
	c.out.Buffer(nil, 1<<20)
	c.send(first + `{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"` + version + `","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
	if got := c.next(); !strings.Contains(got, `"protocolVersion"`) {
		t.Fatalf("initialize gave %s", got)
	}
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c
}

func (c *typist) send(line string) {
	c.t.Helper()
	sent := make(chan error, 1)
	go func() {
		_, err := io.WriteString(c.to, line+"\n")
		sent <- err
	}()
	select {
	case err := <-sent:
		must(c.t, err)
	case <-time.After(patience):
		c.t.Fatalf("%.60q is not read", line)
	}
}

func (c *typist) next() string {
	c.t.Helper()
	if !c.out.Scan() {
		c.t.Fatalf("the stream ended: %v", c.out.Err())
	}
	return c.out.Text()
}

// Each line that is not a message gets an error, and the session continues.
func TestLinesThatAreNoMessages(t *testing.T) {
	t.Parallel()
	c := open(t, plan{}).typing(t, legacy, "\ufeff")
	const parse, invalid, params = -32700, -32600, -32602
	for _, bad := range []struct {
		line string
		id   string
		code int
	}{
		{"not json", "null", parse}, {"\x00", "null", parse}, {`{"jsonrpc":"2.0"`, "null", parse}, {strings.Repeat("[", 20_000), "null", parse},
		{"[]", "null", invalid}, {`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, "null", invalid},
		{"null", "null", invalid}, {"42", "null", invalid}, {`"x"`, "null", invalid}, {"{}", "null", invalid},
		{`{"jsonrpc":"1.0","id":3,"method":"ping"}`, "3", invalid}, {`{"jsonrpc":"2.0","id":"q","method":7}`, `"q"`, invalid},
		{`{"jsonrpc":"2.0","id":9}`, "9", invalid}, {`{"jsonrpc":"2.0","id":9,"method":"ping","params":5}`, "9", invalid},
		{`{"jsonrpc":"2.0","id":null,"method":"ping"}`, "null", invalid}, {`{"jsonrpc":"2.0","id":{},"method":"ping"}`, "null", invalid},
		{`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, "null", invalid}, {`{"jsonrpc":"2.0","id":1e400,"method":"ping"}`, "null", invalid},
		{`{"jsonrpc":"2.0","id":true,"method":"ping"}`, "null", invalid}, {`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":[1]}`, "9", params},
	} {
		c.send(bad.line)
		var got struct {
			ID    json.RawMessage
			Error struct{ Code int }
		}
		line := c.next()
		if err := json.Unmarshal([]byte(line), &got); err != nil || string(got.ID) != bad.id && !(bad.id == "null" && got.ID == nil) || got.Error.Code != bad.code {
			t.Errorf("%.60q gives %s, want id %s and code %d", bad.line, line, bad.id, bad.code)
		}
	}
	for _, ignored := range []string{"", "  ", "\ufeff", `{"jsonrpc":"2.0","id":8,"result":{}}`, `{"jsonrpc":"2.0","id":8,"error":{"code":1,"message":"x"}}`} {
		c.send(ignored)
	}
	c.send(`{"jsonrpc":"2.0","id":"end","method":"ping"}`)
	if got := c.next(); got != `{"jsonrpc":"2.0","id":"end","result":{}}` {
		t.Errorf("the session gave %s", got)
	}
}

// Over HTTP each body that is not a message gets a JSON-RPC error.
func TestBodiesThatAreNoMessages(t *testing.T) {
	t.Parallel()
	address := open(t, plan{}).serve(nil)
	post := func(body, version string) (status int, kind, answer string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(body))
		must(t, err)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if version != "" {
			r.Header.Set("Mcp-Protocol-Version", version)
		}
		resp, err := http.DefaultClient.Do(r)
		must(t, err)
		defer resp.Body.Close()
		raw, err := io.ReadAll(resp.Body)
		must(t, err)
		return resp.StatusCode, resp.Header.Get("Content-Type"), string(raw)
	}
	for _, version := range []string{"", legacy, "2026-07-28"} {
		for _, bad := range []struct {
			body, id string
			code     int
		}{
			{"", "null", -32700}, {"\ufeff", "null", -32700}, {"not json", "null", -32700}, {`{"jsonrpc":"2.0"`, "null", -32700},
			{"null", "null", -32600}, {"5", "null", -32600}, {"[]", "null", -32600}, {"[1]", "null", -32600}, {"{}", "null", -32600},
			{`{"jsonrpc":"2.0","id":null,"method":"ping"}`, "null", -32600}, {`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, "null", -32600},
			{`{"jsonrpc":"2.0","id":{},"method":"ping"}`, "null", -32600}, {`{"jsonrpc":"1.0","id":3,"method":"ping"}`, "3", -32600},
			{`{"jsonrpc":"2.0","id":"q","method":7}`, `"q"`, -32600},
		} {
			status, kind, answer := post(bad.body, version)
			var got struct {
				ID    json.RawMessage
				Error struct{ Code int }
			}
			if err := json.Unmarshal([]byte(answer), &got); err != nil || status != http.StatusBadRequest || kind != "application/json" || got.Error.Code != bad.code || string(got.ID) != bad.id && !(bad.id == "null" && got.ID == nil) {
				t.Errorf("%q of %q gives %d %s %s", bad.body, version, status, kind, answer)
			}
		}
	}
	if status, _, answer := post(`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, legacy); status != http.StatusBadRequest || !strings.Contains(answer, "batches are not part of MCP") {
		t.Errorf("a batch gives %d %s", status, answer)
	}
	for _, id := range []string{"7", `"7"`, "9007199254740993", "123456789012345678901234567890"} {
		status, _, answer := post("\ufeff"+`{"jsonrpc":"2.0","id":`+id+`,"method":"initialize","params":{"protocolVersion":"`+legacy+`","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`, "")
		if status != http.StatusOK || !strings.Contains(answer, `"id":`+id+`,`) {
			t.Errorf("the id %s gives %d %s", id, status, answer)
		}
	}
}

func TestIDsKeepTheirType(t *testing.T) {
	t.Parallel()
	c := open(t, plan{}).typing(t, legacy, "")
	for _, id := range []string{"7", `"7"`, "-3", "0", `""`, "9007199254740993", "-9223372036854775809", "123456789012345678901234567890", `"\u0000fettle"`} {
		c.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`)
		var got struct{ ID json.RawMessage }
		if line := c.next(); json.Unmarshal([]byte(line), &got) != nil || string(got.ID) != id {
			t.Errorf("the id %s became %s", id, line)
		}
	}
}

// The revision that has batches gets them.
func TestBatchesOfTheOldestRevisions(t *testing.T) {
	t.Parallel()
	c := open(t, plan{}).typing(t, "2025-03-26", "")
	c.send(`[{"jsonrpc":"2.0","id":5,"method":"ping"},{"jsonrpc":"2.0","id":"6","method":"ping"}]`)
	if got := c.next(); got != `[{"jsonrpc":"2.0","id":5,"result":{}},{"jsonrpc":"2.0","id":"6","result":{}}]` {
		t.Errorf("the batch gave %s", got)
	}
	for _, bad := range []string{
		"[]", "[1]", `[{"jsonrpc":"2.0","id":5,"method":"ping"},{"jsonrpc":"2.0","id":5,"method":"ping"}]`, `[{"jsonrpc":"2.0","id":5,"method":"ping"},{}]`,
	} {
		c.send(bad)
		if got := c.next(); !strings.Contains(got, `"code":-32600`) {
			t.Errorf("%s gave %s", bad, got)
		}
	}
}
