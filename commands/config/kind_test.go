package config

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParseHost(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ in, want string }{
		{"127.0.0.1", "http://127.0.0.1:11434"},
		{"example.com:80", "http://example.com:80"},
		{":8080", "http://127.0.0.1:8080"},
		{"0.0.0.0", "http://127.0.0.1:11434"},
		{"0.0.0.0:5", "http://127.0.0.1:5"},
		{"[::]:5", "http://[::1]:5"},
		{"::1", "http://[::1]:11434"},
		{"[::1]", "http://[::1]:11434"},
		{"[fe80::1%eth0]:5", "http://[fe80::1%25eth0]:5"},
		{"http://box", "http://box:80"},
		{"https://box", "https://box:443"},
		{"https://box/ollama/", "https://box:443/ollama"},
		{"http://Box.Example:1/", "http://Box.Example:1"},
		{"ollama.com", "https://ollama.com:443"},
		{"", ""},
		{"box:0", ""},
		{"box:70000", ""},
		{"box:x", ""},
		{"ftp://box", ""},
		{"unix:///x", ""},
		{"user:pw@box", ""},
		{"box/?q=1", ""},
		{"a b", ""},
		{"b\x1bx", ""},
	} {
		got, err := parseHost(tt.in)
		if got != tt.want || (err != nil) != (tt.want == "") {
			t.Errorf("parseHost(%q) = %q, %v; want %q", tt.in, got, err, tt.want)
		}
	}
}

func TestParseSize(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in   string
		want int64
	}{
		{"0", 0}, {"17", 17}, {"17B", 17}, {"16MiB", 16 << 20}, {"16 mib", 16 << 20}, {"2G", 2 << 30},
		{"500kB", 500_000}, {"1K", 1024}, {"1MB", 1_000_000}, {"3GB", 3_000_000_000},
		{"", -1}, {"MiB", -1}, {"-1", -1}, {"+1", -1}, {"1.5MiB", -1}, {"1TiB", -1}, {"9223372036854775807KiB", -1}, {"1x2", -1},
	} {
		got, ok := parseSize(tt.in)
		if ok != (tt.want >= 0) || ok && got != tt.want {
			t.Errorf("parseSize(%q) = %d, %v; want %d", tt.in, got, ok, tt.want)
		}
	}
	for _, n := range []int64{0, 1, 1023, 1024, 1025, 1 << 20, 16 << 20, 1<<30 + 1, math.MaxInt64} {
		if got, ok := parseSize(FormatSize(n)); !ok || got != n {
			t.Errorf("%s reads back as %d", FormatSize(n), got)
		}
	}
}

func TestShortDurations(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0", time.Second: "1s", 2 * time.Minute: "2m", 90 * time.Second: "1m30s", 24 * time.Hour: "24h", time.Hour + time.Second: "1h0m1s",
	} {
		if got := short(d); got != want {
			t.Errorf("short(%v) = %q, want %q", d, got, want)
		}
		if back, err := time.ParseDuration(want); err != nil || back != d {
			t.Errorf("%q reads back as %v, %v", want, back, err)
		}
	}
}

func TestNumbersAreDecimal(t *testing.T) {
	t.Parallel()
	k := countKind(0, 100, "")
	for _, s := range []string{"010", "0x10", "1_0", "1e1", "-1", "101", " 1", "", "1.0"} {
		if v, err := k.parse(s); err == nil {
			t.Errorf("%q reads as %v", s, v)
		}
	}
	for s, want := range map[string]int{"0": 0, "7": 7, "100": 100} {
		if v, err := k.parse(s); err != nil || v != want {
			t.Errorf("%q reads as %v, %v", s, v, err)
		}
	}
}

// The table is what documentation, help and defaults are made of.
func TestTheTableHolds(t *testing.T) {
	t.Parallel()
	var keys, vars []string
	for _, s := range table() {
		keys = append(keys, s.Key)
		vars = append(vars, s.Env...)
		if _, ok := defaultOf(s); !ok && s.Default != "" {
			t.Errorf("the default of %s, %q, can't be read", s.Key, s.Default)
		}
		if s.Meaning == "" || s.kind.name == "" {
			t.Errorf("%s isn't described", s.Key)
		}
		if !s.Project && s.refused == "" {
			t.Errorf("%s is refused in a project without a reason", s.Key)
		}
		want := "FETTLE_" + strings.ToUpper(strings.ReplaceAll(s.Key, ".", "_"))
		if scalar := !s.adds; scalar && (len(s.Env) == 0 || s.Env[0] != want) {
			t.Errorf("%s has the variables %v, want %s first", s.Key, s.Env, want)
		}
	}
	for _, list := range [][]string{keys, vars} {
		sorted := slices.Clone(list)
		slices.Sort(sorted)
		if len(slices.Compact(sorted)) != len(list) {
			t.Errorf("the table has something twice: %v", list)
		}
	}
	public := Settings()
	if len(public) != len(keys) {
		t.Fatalf("Settings has %d rows, want %d", len(public), len(keys))
	}
	public[0].Env[0] = "changed"
	if table()[0].Env[0] == "changed" {
		t.Error("a caller can change the table")
	}
	for _, v := range Variables() {
		if v.Name == "" || v.Meaning == "" {
			t.Errorf("a variable isn't described: %+v", v)
		}
	}
	for _, m := range Maps() {
		_, field, _ := strings.Cut(m.Key, ">.")
		field, _, _ = strings.Cut(field, ".<")
		if strings.HasPrefix(m.Key, "providers") && !slices.Contains(providerFields(), field) ||
			strings.HasPrefix(m.Key, "models") && !slices.Contains(modelFields(), field) ||
			strings.HasPrefix(m.Key, "agents") && !slices.Contains(agentFields(), field) ||
			strings.HasPrefix(m.Key, "prices") && !slices.Contains(priceFields(), field) {
			t.Errorf("%s isn't a field", m.Key)
		}
	}
	if len(Maps()) != len(providerFields())+len(modelFields())+len(priceFields())+len(agentFields()) {
		t.Error("a field of a map isn't described")
	}
}
