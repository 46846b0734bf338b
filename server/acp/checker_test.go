package acp_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/fettle-cli/fettle/internal/schema"
)

// checker holds messages against the published schema. Without it nothing is
// checked but what the tests look at themselves.
type checker struct {
	mu   sync.Mutex
	defs map[string]json.RawMessage
	made map[string]*schema.Schema
}

// shared is the folder of the shared test data.
func shared() string {
	if dir := os.Getenv("FETTLE_SHARED"); dir != "" {
		return dir
	}
	return filepath.Join("..", "..", "..", "shared")
}

// definitions is one checker for all tests.
var definitions = func() func(testing.TB) *checker {
	load := sync.OnceValues(func() (*checker, error) {
		raw, err := os.ReadFile(filepath.Join(shared(), "data", "protocols", "acp", "v1.schema.json"))
		if err != nil {
			return nil, err
		}
		var doc struct {
			Defs map[string]json.RawMessage `json:"$defs"`
		}
		if err := json.Unmarshal(raw, &doc); err != nil {
			return nil, err
		}
		return &checker{defs: doc.Defs, made: map[string]*schema.Schema{}}, nil
	})
	return func(t testing.TB) *checker {
		c, err := load()
		switch {
		case err == nil:
			return c
		case os.Getenv("FETTLE_TEST_REQUIRE") == "all":
			t.Fatalf("FETTLE_TEST_REQUIRE=all, and the schema of ACP is missing: %v", err)
		}
		t.Logf("messages are not held against ACP's schema: FETTLE_SHARED has none")
		return nil
	}
}()

// named finds the definition of a method's parameters or result.
func (c *checker) named(side, method string, result bool) string {
	for name, raw := range c.defs {
		var d struct {
			Method string `json:"x-method"`
			Side   string `json:"x-side"`
		}
		if json.Unmarshal(raw, &d) == nil && d.Method == method && (d.Side == side || d.Side == "protocol") &&
			strings.HasSuffix(name, "Response") == result {
			return name
		}
	}
	return ""
}

func (c *checker) params(t testing.TB, side, method string, params []byte) {
	t.Helper()
	if c == nil {
		return
	}
	if name := c.named(side, method, false); name != "" {
		c.def(t, name, method, params)
		return
	}
	t.Errorf("the %s has no method %s", side, method)
}

func (c *checker) result(t testing.TB, side, method string, result []byte) {
	t.Helper()
	if c == nil {
		return
	}
	if name := c.named(side, method, true); name != "" {
		c.def(t, name, method, result)
		return
	}
	t.Errorf("nothing answers %q", method)
}

// def holds a value against one definition.
func (c *checker) def(t testing.TB, name, what string, value []byte) {
	t.Helper()
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.made[name]
	if s == nil {
		raw := mustJSON(t, obj{"$schema": "https://json-schema.org/draft/2020-12/schema", "$ref": "#/$defs/" + name, "$defs": c.needed(name)})
		var err error
		if s, err = schema.Compile(raw); err != nil {
			t.Errorf("compile %s: %v", name, err)
			return
		}
		c.made[name] = s
	}
	if problems := s.Validate(value); len(problems) > 0 {
		t.Errorf("%s is no valid %s: %s\n%s", what, name, schema.Explain(problems), value)
	}
}

// needed are the definitions that one leads to.
func (c *checker) needed(name string) obj {
	out := obj{}
	todo := []string{name}
	for len(todo) > 0 {
		name, todo = todo[0], todo[1:]
		if out[name] != nil {
			continue
		}
		out[name] = c.defs[name]
		for _, part := range strings.Split(string(c.defs[name]), `"#/$defs/`)[1:] {
			to, _, _ := strings.Cut(part, `"`)
			todo = append(todo, to)
		}
	}
	return out
}
