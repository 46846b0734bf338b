package config

import (
	"os"
	"strings"
	"testing"
)

// A setting's former name works in files and in the environment, and a warning has the
// present one.
func TestFormerNamesOfSettings(t *testing.T) {
	t.Parallel()
	variable := func(name, value string) func(string) (string, bool) {
		return func(n string) (string, bool) {
			if n == name {
				return value, true
			}
			return "", false
		}
	}
	for _, tt := range []struct {
		text   string
		env    func(string) (string, bool)
		want   int
		warned string
	}{
		{"limits: {max_turns: 7}", nil, 7, "1:10: limits.max_turns is called limits.max_steps now"},
		{"profile: p\nprofiles: {p: {limits: {max_turns: 8}}}", nil, 8, "2:25: profiles.p.limits.max_turns is called limits.max_steps now"},
		{"limits: {max_steps: 9}", nil, 9, ""},
		{"", variable("FETTLE_LIMITS_MAX_TURNS", "3"), 3, "FETTLE_LIMITS_MAX_TURNS: it is called FETTLE_LIMITS_MAX_STEPS now"},
		{"", variable("FETTLE_LIMITS_MAX_STEPS", "4"), 4, ""},
	} {
		file := userFile(t, tt.text)
		c, err := Load(Options{File: file, Env: tt.env})
		if err != nil {
			t.Fatalf("%s: %v", tt.text, err)
		}
		var warnings []string
		for _, w := range c.Warnings {
			warnings = append(warnings, strings.TrimPrefix(w.String(), file+":"))
		}
		if c.Limits.MaxSteps != tt.want || strings.Join(warnings, "|") != tt.warned {
			t.Errorf("%q: %d steps, warnings %q, want %d and %q", tt.text, c.Limits.MaxSteps, warnings, tt.want, tt.warned)
		}
	}
	_, err := Load(Options{File: userFile(t, "limits: {max_steps: 1, max_turns: 2}")})
	if err == nil || !strings.Contains(err.Error(), "limits.max_turns is set twice") {
		t.Errorf("both names: %v", err)
	}
}

// A change of a setting takes its former name out of the file.
func TestAChangeReplacesTheFormerName(t *testing.T) {
	t.Parallel()
	const before = "limits:\n  max_turns: 3\n  timeout: 1m\n"
	for name, change := range map[string]func(UserFile, Key) error{
		"limits:\n  timeout: 1m\n  max_steps: 5\n": func(f UserFile, k Key) error { return f.Set(t.Context(), k, []string{"5"}) },
		"limits:\n  timeout: 1m\n":                 func(f UserFile, k Key) error { return f.Unset(t.Context(), k) },
	} {
		for _, key := range []string{"limits.max_turns", "limits.max_steps"} {
			path := userFile(t, before)
			f := OpenUserFile(path)
			k, err := f.Key(key)
			if err != nil || k.String() != "limits.max_steps" {
				t.Fatalf("%s is the key %s, %v", key, k, err)
			}
			if err := change(f, k); err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(path); err != nil || string(got) != name {
				t.Errorf("%s: the file has %q, %v; want %q", key, got, err, name)
			}
		}
	}
}
