package wire

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestHalves(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pieces []string // of JSON
		want   string
	}{
		"nothing to mend":        {[]string{`{"t":"a"}`, `{"t":"é\n"}`}, "aé\n"},
		"whole":                  {[]string{`{"t":"\ud83d\ude00!"}`}, "😀!"},
		"cut":                    {[]string{`{"t":"a\ud83d"}`, `{"t":"\ude00b"}`}, "a😀b"},
		"cut, alone":             {[]string{`{"t":"\uD83D"}`, `{"t":"\uDE00"}`}, "😀"},
		"cut, something between": {[]string{`{"t":"a\ud83d"}`, `{"t":""}`, `{"t":"\ude00"}`}, "a😀"},
		"cut twice":              {[]string{`{"t":"\ud83d"}`, `{"t":"\ude00\ud83d"}`, `{"t":"\ude01"}`}, "😀😁"},
		"a backslash before":     {[]string{`{"t":"\\ud83d"}`, `{"t":"\\ude00"}`}, `\ud83d\ude00`},
		"a quote after":          {[]string{`{"t":"\ud83d\""}`}, "\uFFFD\""},
		"a second half alone":    {[]string{`{"t":"\ude00"}`}, "\uFFFD"},
		"in the middle":          {[]string{`{"t":"a\ud83db"}`}, "a\uFFFDb"},
		"half an escape":         {[]string{`{"t":"\ud8"`}, ""},
		"another escape before":  {[]string{`{"t":"\"\ud83d"}`, `{"t":"\ude00\n"}`}, "\"😀\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var h Halves
			var got strings.Builder
			for _, p := range c.pieces {
				var v struct{ T string }
				if json.Unmarshal(h.Join([]byte(p)), &v) == nil {
					got.WriteString(v.T)
				}
			}
			if got.String() != c.want {
				t.Errorf("got %q, want %q", got.String(), c.want)
			}
		})
	}
}

// What is JSON stays JSON, and what has no halves stays as it is.
func FuzzHalves(f *testing.F) {
	f.Add([]byte(`{"t":"a\ud83d"}`), []byte(`{"t":"\ude00b"}`))
	f.Add([]byte(`"\\\ud83d"`), []byte(`"\u0041\uDE00"`))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		var h Halves
		for _, p := range [][]byte{a, b} {
			was, out := string(p), h.Join(p)
			if string(p) != was {
				t.Fatalf("it wrote into %q", was)
			}
			if json.Valid(p) && !json.Valid(out) {
				t.Fatalf("%q became %q", p, out)
			}
			if !strings.Contains(was, `\u`) && string(out) != was {
				t.Fatalf("%q became %q", p, out)
			}
		}
	})
}
