package input

import "testing"

func TestSize(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		0: "0 bytes", 1: "1 byte", 1023: "1023 bytes", 1024: "1 KiB", 1536: "1.5 KiB", 16 << 20: "16 MiB", 50_000_000: "47.7 MiB", 5 << 30: "5 GiB",
	} {
		if got := size(n); got != want {
			t.Errorf("size(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestQuote(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"a/b-c_d.txt": "a/b-c_d.txt", "a b": "'a b'", "it's": `'it'\''s'`, "-rf": "./-rf", "": "''",
		"$(x)": "'$(x)'", "é.md": "é.md", "a\x1bb": "'a\ufffdb'",
	} {
		if got := quote(in); got != want {
			t.Errorf("quote(%q) = %q, want %q", in, got, want)
		}
	}
}
