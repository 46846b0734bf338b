package wire

import (
	"fmt"
	"testing"
)

func TestIDs(t *testing.T) {
	t.Parallel()
	short := func(id string) string { // a server that takes four letters
		if len(id) == 4 {
			return id
		}
		return Digest(id)[:4]
	}
	ids := NewIDs(short)
	seen := map[string]bool{}
	for turn := range 3 {
		for _, id := range []string{"abcd", "call_1", "call_2", "", short("call_1"), fmt.Sprint("turn", turn)} {
			sent := ids.Call(id)
			if seen[sent] || len(sent) != 4 {
				t.Errorf("turn %d: %q is sent as %q, which is no id or was sent before", turn, id, sent)
			}
			seen[sent] = true
			if got := ids.Result(id); got != sent {
				t.Errorf("turn %d: the result of %q is sent for %q, want %q", turn, id, got, sent)
			}
			if turn == 0 && id == "abcd" && sent != id {
				t.Errorf("an id that fits is sent as %q", sent)
			}
		}
	}
	if got := ids.Result("never called"); got != short("never called") {
		t.Errorf("a result without a call is sent for %q", got)
	}
	again := NewIDs(short)
	if a, b := again.Call("call_1"), NewIDs(short).Call("call_1"); a != b {
		t.Errorf("two requests send one id as %q and %q", a, b)
	}
}

func TestDigest(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for i := range 10_000 {
		s := fmt.Sprint("call_", i)
		d := Digest(s)
		if len(d) != 16 || seen[d] != "" || d != Digest(s) {
			t.Fatalf("%q is %q, like %q", s, d, seen[d])
		}
		seen[d] = s
	}
}
