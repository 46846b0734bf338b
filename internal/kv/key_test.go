package kv

import (
	"bytes"
	"cmp"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// parts draws the components of a key, with strings and integers that are
// close to each other and to the encoding's own bytes.
func parts(least, most int) *rapid.Generator[[]any] {
	text := nearText(5)
	number := rapid.OneOf(rapid.Int64Range(-3, 3), rapid.Int64())
	part := rapid.Custom(func(t *rapid.T) any {
		if rapid.Bool().Draw(t, "string") {
			return text.Draw(t, "text")
		}
		return number.Draw(t, "number")
	})
	return rapid.SliceOfN(part, least, most)
}

// nearText draws strings of few letters and of the encoding's own bytes.
func nearText(most int) *rapid.Generator[string] {
	letters := rapid.SampledFrom([]byte{'a', 'b', 0, 1, 2, 0xFE, 0xFF})
	return rapid.Map(rapid.SliceOfN(letters, 0, most), func(b []byte) string { return string(b) })
}

func keyOf(components []any) Key {
	var k Key
	for _, p := range components {
		switch v := p.(type) {
		case string:
			k = k.Str(v)
		case int64:
			k = k.Int(v)
		}
	}
	return k
}

// compareParts is the order that Key promises.
func compareParts(a, b []any) int {
	for i := range min(len(a), len(b)) {
		switch x := a[i].(type) {
		case string:
			y, ok := b[i].(string)
			if !ok {
				return 1
			}
			if c := cmp.Compare(x, y); c != 0 {
				return c
			}
		case int64:
			y, ok := b[i].(int64)
			if !ok {
				return -1
			}
			if c := cmp.Compare(x, y); c != 0 {
				return c
			}
		}
	}
	return cmp.Compare(len(a), len(b))
}

func TestKeysSortAsTheirTuples(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := parts(0, 4).Draw(t, "a"), parts(0, 4).Draw(t, "b")
		if rapid.Bool().Draw(t, "related") {
			b = append(append([]any{}, a[:len(a)/2]...), b...)
		}
		if got, want := bytes.Compare(keyOf(a), keyOf(b)), compareParts(a, b); got != want {
			t.Fatalf("keys compare as %d, tuples as %d: %q %q", got, want, a, b)
		}
	})
}

func TestKeysGiveTheirPartsBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := parts(1, 5).Draw(t, "parts")
		got, err := keyOf(want).Parts()
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("got %q, %v; want %q", got, err, want)
		}
	})
}

func TestKeyPrefixes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := parts(0, 3).Draw(t, "a"), parts(0, 3).Draw(t, "b")
		whole := len(a) <= len(b) && compareParts(a, b[:min(len(a), len(b))]) == 0
		if got := bytes.HasPrefix(keyOf(b), keyOf(a)); got != whole {
			t.Fatalf("prefix by bytes %v, by components %v: %q %q", got, whole, a, b)
		}
		s := nearText(2).Draw(t, "s")
		long := nearText(4).Draw(t, "long")
		begins := len(s) <= len(long) && long[:len(s)] == s
		if got := bytes.HasPrefix(Str(long), StrPrefix(s)); got != begins {
			t.Fatalf("StrPrefix(%q) of %q: %v", s, long, got)
		}
	})
}

func TestKeysShareNoBytes(t *testing.T) {
	t.Parallel()
	base := make(Key, 0, 100)
	base = append(base, Str("chat")...)
	one, two, three := base.Int(1), base.Int(2), base.Str("x")
	for k, want := range map[*Key]string{&one: `("chat", 1)`, &two: `("chat", 2)`, &three: `("chat", "x")`} {
		if got := k.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestAfterIsTheLeastBoundOfAPrefix(t *testing.T) {
	t.Parallel()
	for in, want := range map[string][]byte{
		"a": []byte("b"), "a\xff": []byte("b"), "\x02x\x00": []byte("\x02x\x01"), "\xff": nil, "": nil,
	} {
		if got := after([]byte(in)); !bytes.Equal(got, want) {
			t.Errorf("after(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzKeyParts(f *testing.F) {
	f.Add([]byte(Str("a\x00b").Int(-1)))
	f.Add([]byte{tagStr, 0})
	f.Add([]byte{tagInt, 1})
	f.Add([]byte(StrPrefix("a")))
	f.Fuzz(func(t *testing.T, in []byte) {
		k := Key(in)
		_ = k.String()
		_ = describe(in)
		components, err := k.Parts()
		if err == nil && !bytes.Equal(keyOf(components), k) {
			t.Errorf("%x decodes to %q, which encodes to %x", in, components, keyOf(components))
		}
	})
}
