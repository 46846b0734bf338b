package supervisor

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestFrames(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	long := strings.Repeat("x", 100_000)
	for _, v := range []any{Order{Signal: "INT"}, Spec{Args: []string{long}}, Notice{Failed: &Failure{Step: "a\nb"}}} {
		if err := Send(&b, v); err != nil {
			t.Fatal(err)
		}
	}
	in := NewFrames(&b)
	var o Order
	var s Spec
	var n Notice
	for _, v := range []any{&o, &s, &n} {
		if err := in.Next(v); err != nil {
			t.Fatal(err)
		}
	}
	if o.Signal != "INT" || s.Args[0] != long || n.Failed.Step != "a\nb" {
		t.Errorf("%v %d %v", o, len(s.Args[0]), n.Failed)
	}
	if err := in.Next(&o); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

func TestFramesThatAreNone(t *testing.T) {
	t.Parallel()
	var o Order
	for name, text := range map[string]string{
		"cut": `{"signal":"INT"}`, "no JSON": "hello\n", "another type": "[1]\n", "empty": "\n",
		"without end": strings.Repeat("x", maxFrame+10),
	} {
		if err := NewFrames(strings.NewReader(text)).Next(&o); err == nil {
			t.Errorf("%s: %+v", name, o)
		}
	}
	if err := Send(io.Discard, Spec{Args: []string{strings.Repeat("x", maxFrame)}}); !errors.Is(err, errFrame) {
		t.Error(err)
	}
}

// FuzzFrames wants no panic, and no frame beyond the bound.
func FuzzFrames(f *testing.F) {
	f.Add([]byte("{\"started\":true}\n"))
	f.Add([]byte("{\"failed\":{\"lack\":true}}\n{\"ended\":null}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		in := NewFrames(bytes.NewReader(data))
		for range len(data) + 1 {
			var n Notice
			if in.Next(&n) == io.EOF {
				return
			}
		}
		t.Error("more frames than bytes")
	})
}
