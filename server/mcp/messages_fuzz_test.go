package mcp

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// Every line is passed on or answered, and what is passed on is one that the SDK reads.
func FuzzMessages(f *testing.F) {
	for _, s := range []string{`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `[1]`, "\ufeff{}", `{"jsonrpc":"2.0","id":9007199254740993,"method":"x","params":{}}`, "x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		var passed, answered bytes.Buffer
		l := &messages{out: &answered}
		if err := l.copyMessages(&passed, strings.NewReader(in)); err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(passed.Bytes()) {
			var m struct{ Jsonrpc string }
			if json.Unmarshal(line, &m) != nil {
				t.Errorf("passed on %q", line)
			}
		}
		for line := range bytes.Lines(answered.Bytes()) {
			if !json.Valid(line) || !bytes.Contains(line, []byte(`"code":-32`)) {
				t.Errorf("answered %q", line)
			}
		}
	})
}
