package provider

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	t.Parallel()
	long := "enterprise-knowledge-base:" + strings.Repeat("search_", 12)
	for name, c := range map[string]struct {
		in   []string
		want []string
	}{
		"fits already":      {[]string{"read_file", "a-b_9"}, []string{"read_file", "a-b_9"}},
		"toolset prefix":    {[]string{"my-tools:analyze"}, []string{"my-tools_analyze"}},
		"starts with digit": {[]string{"2fa", "_x", ""}, []string{"t2fa", "t_x", "t"}},
		"other letters":     {[]string{"größe"}, []string{"gr____e"}},
		"fitting one wins":  {[]string{"a:b", "a_b"}, []string{"a_b_6783a31e", "a_b"}},
		"two look alike":    {[]string{"a:b", "a.b"}, []string{"a_b_6783a31e", "a_b_2e7336dc"}},
		"too long":          {[]string{long}, []string{"enterprise-knowledge-base_search_search_search_search_s_92ef3dd1"}},
		"called like another's hash": {
			[]string{"a:b", "a.b", "a_b_6783a31e"},
			[]string{"a_b_cfc849f6", "a_b_2e7336dc", "a_b_6783a31e"},
		},
		"repeated": {[]string{"a:b", "a:b"}, []string{"a_b", "a_b"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := NewNames(c.in...)
			r := slices.Clone(c.in)
			slices.Reverse(r)
			reversed := NewNames(r...)
			for i, in := range c.in {
				if got := n.Wire(in); got != c.want[i] {
					t.Errorf("%q became %q, want %q", in, got, c.want[i])
				}
				if n.Wire(in) != reversed.Wire(in) {
					t.Errorf("%q depends on the order: %q, %q", in, n.Wire(in), reversed.Wire(in))
				}
				if got := n.Tool(n.Wire(in)); got != in {
					t.Errorf("%q came back as %q", in, got)
				}
			}
		})
	}
}

func TestNamesThatWereNeverGiven(t *testing.T) {
	t.Parallel()
	n := NewNames("my-tools:analyze")
	if got := n.Tool("delete_all"); got != "delete_all" {
		t.Errorf("a made-up name came back as %q", got)
	}
	if got := n.Tool("my-tools:analyze"); got != "my-tools:analyze" {
		t.Errorf("the original name came back as %q", got)
	}
	if got := n.Wire("old:gone"); got != "old_gone" {
		t.Errorf("a name of the history became %q", got)
	}
}

func FuzzNames(f *testing.F) {
	f.Add("a:b", "a_b", "a.b")
	f.Add("", "t", strings.Repeat("x", 70))
	ok := regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_-]{0,63}$`)
	f.Fuzz(func(t *testing.T, a, b, c string) {
		n := NewNames(a, b, c)
		seen := map[string]string{}
		for _, name := range []string{a, b, c} {
			w := n.Wire(name)
			if !ok.MatchString(w) {
				t.Fatalf("%q became %q", name, w)
			}
			if other, taken := seen[w]; taken && other != name {
				t.Fatalf("%q and %q both became %q", other, name, w)
			}
			seen[w] = name
			if n.Tool(w) != name {
				t.Fatalf("%q became %q and came back as %q", name, w, n.Tool(w))
			}
		}
	})
}
