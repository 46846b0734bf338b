package server

import (
	"encoding/json"
	"os"
	"regexp"
	"testing"

	"github.com/fettle-cli/fettle/engine/event"
)

// TestEveryEventIsDescribed decodes an event of each type that is described: one
// that package event doesn't know is none of its own, and one that it knows and
// that isn't described would be missing in the schema that clients are made of.
func TestEveryEventIsDescribed(t *testing.T) {
	t.Parallel()
	described := map[event.Type]bool{}
	for _, b := range eventBodies() {
		described[b.Type()] = true
		var e event.Event
		if err := json.Unmarshal([]byte(`{"type":"`+string(b.Type())+`","turn_id":"t","seq":1,"time":"2026-01-02T03:04:05Z"}`), &e); err != nil {
			t.Fatal(err)
		}
		if _, unknown := e.Body.(event.Unknown); unknown {
			t.Errorf("%s is described, but no event", b.Type())
		}
	}
	source, err := os.ReadFile("../engine/event/bodies.go")
	if err != nil {
		t.Fatal(err)
	}
	declared := regexp.MustCompile(`(?m)^\tType\w+ +Type = "(\w+)"$`).FindAllStringSubmatch(string(source), -1)
	if len(declared) < 19 {
		t.Fatalf("only %d types of events found in the source", len(declared))
	}
	for _, m := range declared {
		if !described[event.Type(m[1])] {
			t.Errorf("%s is not described", m[1])
		}
	}
}
