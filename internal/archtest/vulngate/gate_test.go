package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// reports are as govulncheck prints them, cut down to what is read.
const (
	start     = `{"config":{"scanner_version":"v1.9.0","go_version":"go1.26.8","scan_level":"symbol"}}` + "\n"
	sbom      = `{"SBOM":{"go_version":"go1.26.8","modules":[{"path":"m"},{"path":"stdlib","version":"v1.26.8"}]}}` + "\n"
	osvOld    = `{"osv":{"id":"GO-2021-0001","summary":"Long mended"}}` + "\n"
	config    = start + sbom + osvOld
	osvNet    = `{"osv":{"id":"GO-2026-1111","summary":"Loop without\u001b[31m end in example.com/net"}}` + "\n"
	inNet     = `{"finding":{"osv":"GO-2026-1111","fixed_version":"v0.9.0","trace":[{"module":"example.com/net","version":"v0.8.0","package":"example.com/net/http2","function":"Read","receiver":"*Framer"},{"module":"m","package":"m","function":"main"}]}}` + "\n"
	onlyModul = `{"finding":{"osv":"GO-2026-2222","trace":[{"module":"example.com/net","version":"v0.8.0"}]}}` + "\n"
	onlyPkg   = `{"finding":{"osv":"GO-2026-2222","trace":[{"module":"example.com/net","version":"v0.8.0","package":"example.com/net/html"}]}}` + "\n"
	inStd     = `{"finding":{"osv":"GO-2026-3333","fixed_version":"v1.26.9","trace":[{"module":"stdlib","version":"v1.26.8","package":"net/http","function":"Get"}]}}` + "\n"
	inStdOpen = `{"finding":{"osv":"GO-2026-4444","trace":[{"module":"stdlib","version":"v1.26.8","package":"net/http","function":"Get"}]}}` + "\n"
)

func TestGate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, report, allow string
		passes              bool
		prints              []string
	}{
		{"nothing found passes", config, "", true, []string{"govulncheck v1.9.0, go1.26.8: 2 modules, 1 known faults", "0 that fail"}},
		{"a reachable fault fails, with what it is", config + osvNet + inNet, "", false,
			[]string{"fails      GO-2026-1111 example.com/net v0.8.0, example.com/net/http2.Framer.Read, mended in v0.9.0: Loop without[31m end in example.com/net\n"}},
		{"the same fault by two ways is one", config + inNet + inNet, "", false, []string{"1 that fail"}},
		{"what can't be reached passes", config + onlyModul + onlyPkg, "", true, []string{"0 that fail, 0 that a newer Go mends, 0 allowed"}},
		{"an allowed fault passes with its reason", config + inNet, "# why\n\nGO-2026-1111 example.com/net we never read frames", true,
			[]string{"allowed    GO-2026-1111 example.com/net: we never read frames"}},
		{"allowed is by module too", config + inNet, "GO-2026-1111 example.com/other we never read frames", false,
			[]string{"fails      GO-2026-1111", "unused     GO-2026-1111 example.com/other is allowed and wasn't found"}},
		{"a newer Go mends it", config + inStd, "", true, []string{"toolchain  GO-2026-3333 stdlib v1.26.8"}},
		{"no Go mends it", config + inStdOpen, "", false, []string{"fails      GO-2026-4444 stdlib v1.26.8, net/http.Get, no version mends it yet"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			ok, err := gate(strings.NewReader(c.report), allowFile(t, c.allow), &out)
			if err != nil {
				t.Fatal(err)
			}
			if ok != c.passes {
				t.Errorf("passes = %v, want %v", ok, c.passes)
			}
			for _, want := range c.prints {
				if !strings.Contains(out.String(), want) {
					t.Errorf("output lacks %q:\n%s", want, out.String())
				}
			}
			if strings.ContainsRune(out.String(), '\x1b') {
				t.Errorf("output holds an escape: %q", out.String())
			}
		})
	}
}

func TestGateRefusesWhatIsNoReport(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]string{
		"empty":         "",
		"cut":           config + inNet[:40],
		"text":          "No vulnerabilities found.",
		"by module":     `{"config":{"scan_level":"module"}}` + sbom + osvOld,
		"without level": sbom + osvOld + inNet,
		"not loaded":    start + osvOld,
		"an empty list": start + sbom,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			if ok, err := gate(strings.NewReader(in), allowFile(t, ""), &out); ok || err == nil {
				t.Errorf("gate = %v, %v; want false and an error", ok, err)
			}
		})
	}
}

func TestParseAllowRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"GO-2026-1 example.com/net",
		"CVE-2026-1 example.com/net because",
		"GO-2026-1 a b\nGO-2026-1 a c",
	} {
		if _, err := parseAllow(text); err == nil {
			t.Errorf("parseAllow(%q) gave no error", text)
		}
	}
	if _, err := readAllowFile(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a list that isn't there gave no error")
	}
}

// TestOwnList reads the list that the project's CI uses.
func TestOwnList(t *testing.T) {
	t.Parallel()
	list, err := readAllowFile(filepath.Join("..", "..", "..", ".ci", "vuln-allow.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range list {
		if len(strings.Fields(a.reason)) < 4 {
			t.Errorf("%s: %q is no reason", a.id, a.reason)
		}
	}
}

func allowFile(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "allow.txt")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}
