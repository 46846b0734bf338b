package mcp

import (
	"context"
	"fmt"
	"testing"

	"github.com/fettle-cli/fettle/toolset"
)

// What a call has looked up isn't taken away before it is used, and what isn't used
// makes room.
func TestRoomIsMadeOfWhatNobodyUses(t *testing.T) {
	t.Parallel()
	m := New(Options{})
	defer m.Close(context.Background())
	links := map[string]*link{}
	for i := range 2 * MaxConnections {
		s := Server{ID: fmt.Sprintf("s%d", i), URL: "https://example.com/mcp"}
		l, err := m.link(s, nil)
		if err != nil {
			t.Fatal(err)
		}
		links[s.ID] = l
	}
	if n := len(m.links); n != 2*MaxConnections {
		t.Fatalf("%d links of %d that are used", n, 2*MaxConnections)
	}
	for _, l := range links {
		l.release()
	}
	if _, err := m.link(Server{ID: "new", URL: "https://example.com/mcp"}, nil); err != nil {
		t.Fatal(err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if n := len(m.links); n != MaxConnections {
		t.Errorf("%d links", n)
	}
}

// The tools that were approved are hashed when they change, and not at each call.
func TestPinsAreLookedAtOnce(t *testing.T) {
	t.Parallel()
	tools := []toolset.Tool{{ID: "a:b"}}
	for name, c := range map[string]struct {
		a, b []toolset.Tool
		same bool
	}{
		"the same list":         {tools, tools, true},
		"an equal one":          {tools, []toolset.Tool{{ID: "a:b"}}, false},
		"none and any":          {[]toolset.Tool{}, nil, false},
		"none twice":            {[]toolset.Tool{}, []toolset.Tool{}, true},
		"any twice":             {nil, nil, true},
		"a longer one of it":    {tools[:0], tools, false},
		"from any to this list": {nil, tools, false},
	} {
		if sameList(c.a, c.b) != c.same {
			t.Errorf("%s: %t", name, !c.same)
		}
	}
}
