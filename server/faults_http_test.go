package server_test

import (
	"strings"
	"testing"
)

// A wrong field of a request is named by the API's own name, and what to do by its
// operations; kinds and arguments are for clients with terms of their own.
func TestAWrongFieldIsNamedWithoutAFlag(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	for _, c := range []struct {
		body              doc
		input, hint, kind string
	}{
		{doc{"message": "hi", "tools": []string{"nothing_*"}}, "tools", "the field tools of POST /api/turns", "select_tools"},
		{doc{"message": "hi", "schema": doc{"type": 1}}, "schema", "the field schema of POST /api/turns", "write_schema"},
	} {
		var got struct {
			Error struct {
				Message, Input string
				Hints          []string
				Remedies       []struct{ Kind, Text string }
			}
		}
		a := h.call("POST", "/api/turns", c.body).is(400, &got)
		e := got.Error
		if !strings.HasPrefix(e.Message, c.input+": ") || e.Input != c.input || len(e.Hints) != 1 || !strings.HasSuffix(e.Hints[0], c.hint) ||
			len(e.Remedies) != 1 || e.Remedies[0].Kind != c.kind || !strings.HasPrefix(e.Hints[0], e.Remedies[0].Text) {
			t.Errorf("%s: %s", c.input, a.body)
		}
		for _, shell := range []string{"--", "fettle ask", " -"} {
			if strings.Contains(string(a.body), shell) {
				t.Errorf("%s: %q in %s", c.input, shell, a.body)
			}
		}
	}
}
