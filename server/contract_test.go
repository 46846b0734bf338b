package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/fettle-cli/fettle/internal/schema"
)

// contract is what the description promises of answers: the page's types and other
// programs' clients are made of it, and a list that is null breaks them.
type contract struct {
	operations []operation
	named      json.RawMessage // the schemas that others refer to

	mu      sync.Mutex
	schemas map[string]*schema.Schema // by the text that names them
}

// operation is one method of one path, with the schema of each answer that is JSON.
type operation struct {
	method  string
	path    *regexp.Regexp
	literal int // characters of the path that are no parameter
	answers map[string]json.RawMessage
}

var promised = sync.OnceValues(func() (*contract, error) {
	raw, err := os.ReadFile("web/openapi.json")
	if err != nil {
		return nil, err
	}
	raw = bytes.ReplaceAll(raw, []byte("#/components/schemas/"), []byte("#/$defs/"))
	var d struct {
		Paths map[string]map[string]struct {
			Responses map[string]struct {
				Content map[string]struct{ Schema json.RawMessage }
			}
		}
		Components struct{ Schemas json.RawMessage }
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		return nil, err
	}
	c := &contract{named: d.Components.Schemas, schemas: map[string]*schema.Schema{}}
	parameter := regexp.MustCompile(`\\\{(\w+)\\\}`)
	for path, methods := range d.Paths {
		quoted := parameter.ReplaceAllStringFunc(regexp.QuoteMeta(path), func(name string) string {
			if name == `\{path\}` {
				return ".+"
			}
			return "[^/]+"
		})
		for method, said := range methods {
			o := operation{
				method: strings.ToUpper(method), path: regexp.MustCompile("^" + quoted + "$"),
				literal: len(parameter.ReplaceAllString(regexp.QuoteMeta(path), "")), answers: map[string]json.RawMessage{},
			}
			for status, answer := range said.Responses {
				if j, ok := answer.Content["application/json"]; ok && j.Schema != nil {
					o.answers[status] = j.Schema
				}
			}
			c.operations = append(c.operations, o)
		}
	}
	return c, nil
})

// of gives the schema of an answer; nil where nothing is said of it.
func (c *contract) of(method, path string, status int) (*schema.Schema, error) {
	var best *operation
	for i := range c.operations {
		if o := &c.operations[i]; o.method == method && o.path.MatchString(path) && (best == nil || o.literal > best.literal) {
			best = o
		}
	}
	if best == nil {
		return nil, nil
	}
	text, ok := best.answers[strconv.Itoa(status)]
	if !ok {
		return nil, nil
	}
	return c.compile(text)
}

// compile makes a schema of a text that may refer to the named ones.
func (c *contract) compile(text json.RawMessage) (*schema.Schema, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.schemas[string(text)]; s != nil {
		return s, nil
	}
	whole, err := json.Marshal(map[string]any{"allOf": []any{text}, "$defs": c.named})
	if err != nil {
		return nil, err
	}
	s, err := schema.Compile(whole)
	c.schemas[string(text)] = s
	return s, err
}

// keeps holds an answer against the description.
func keeps(t testing.TB, req *http.Request, status int, kind string, body []byte) {
	t.Helper()
	if !strings.HasPrefix(kind, "application/json") {
		return
	}
	c, err := promised()
	must(t, err)
	path, err := url.PathUnescape(req.URL.EscapedPath())
	must(t, err)
	s, err := c.of(req.Method, path, status)
	must(t, err)
	if s == nil {
		return
	}
	if problems := s.Validate(body); len(problems) > 0 {
		t.Errorf("%s %s: the answer is not what the description says:\n%s\n%s", req.Method, path, schema.Explain(problems), body)
	}
}

// keepsEvent holds an event of a turn's stream against the description of its type.
func keepsEvent(t testing.TB, kind string, raw []byte) {
	t.Helper()
	name := "event_" + kind
	if kind == "approval" {
		name = kind
	}
	c, err := promised()
	must(t, err)
	s, err := c.compile(fmt.Appendf(nil, `{"$ref":"#/$defs/%s"}`, name))
	must(t, err)
	if problems := s.Validate(raw); len(problems) > 0 {
		t.Errorf("the event is not what the description says of %s:\n%s\n%s", kind, schema.Explain(problems), raw)
	}
}

// A new user's lists are empty, and are lists.
func TestNothingIsAListToo(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	c, err := promised()
	must(t, err)
	asked := 0
	for _, o := range c.operations {
		path := strings.TrimSuffix(strings.TrimPrefix(o.path.String(), "^"), "$")
		if o.method != http.MethodGet || o.answers["200"] == nil || strings.ContainsAny(path, "[+") {
			continue
		}
		h.call(o.method, strings.ReplaceAll(path, `\`, ""), nil) // held against the description
		asked++
	}
	if asked < 15 {
		t.Errorf("%d lists were asked for", asked)
	}
}
