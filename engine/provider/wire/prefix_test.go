package wire

import (
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/provider"
)

// The text that a response repeats is left out, in whatever pieces it comes. A response that
// does not repeat it is passed on whole.
func TestARepeatedBeginningIsLeftOut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pieces []string
		want   string
	}{
		"repeated at once":        {[]string{"It is ok"}, "ok"},
		"repeated in pieces":      {[]string{"It", " i", "s o", "k"}, "ok"},
		"repeated alone":          {[]string{"It is "}, ""},
		"not repeated":            {[]string{"ok"}, "ok"},
		"begun alike":             {[]string{"It ", "was"}, "It was"},
		"ended within":            {[]string{"It i"}, "It i"},
		"repeated, and once more": {[]string{"It is It is "}, "It is "},
	} {
		var got strings.Builder
		ended := false
		pass := Unprefixed("It is ", func(batch []provider.Delta) bool {
			for _, d := range batch {
				got.WriteString(d.Text)
				ended = ended || d.Kind == provider.Meta
			}
			return true
		})
		for _, p := range c.pieces {
			pass([]provider.Delta{{Kind: provider.Content, Text: p}})
		}
		pass([]provider.Delta{{Kind: provider.Meta, Meta: &event.Meta{}}})
		if got.String() != c.want || !ended {
			t.Errorf("%s: %q, ended %v; want %q", name, got.String(), ended, c.want)
		}
	}
}
