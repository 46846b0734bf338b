package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

func TestSecretsAreNotPrinted(t *testing.T) {
	t.Parallel()
	const value = "sk-EXAMPLEnotreal"
	s := NewSecret(value)
	type outer struct {
		Public  Secret
		private Secret
		m       map[string]Secret
		p       *Secret
		inside  any
	}
	o := outer{s, s, map[string]Secret{"k": s}, &s, s}
	var out bytes.Buffer
	for _, v := range []any{s, &s, o, &o, []Secret{s}, map[string]Secret{"k": s}, Provider{Key: s}, &Config{Providers: map[string]Provider{"p": {Key: s}}}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%p", "%T", "%t", "%e", "%U"} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
		if b, err := json.Marshal(v); err == nil {
			out.Write(b)
		}
		if b, err := yaml.Marshal(v); err == nil {
			out.Write(b)
		}
		slog.New(slog.NewTextHandler(&out, nil)).Info("m", "v", v)
		slog.New(slog.NewJSONHandler(&out, nil)).Info("m", "v", v)
	}
	fmt.Fprintln(&out, fmt.Errorf("wrapped: %v", s), o.private, o.m, o.p, o.inside)
	for _, leak := range []string{value, fmt.Sprintf("%x", value), fmt.Sprintf("%X", value), "notreal"} {
		if i := strings.Index(out.String(), leak); i >= 0 {
			t.Errorf("%q is printed: …%s", leak, out.String()[max(0, i-60):i+20])
		}
	}
	if !strings.Contains(out.String(), redacted) {
		t.Error("nothing says that there is a secret")
	}
}

func TestSecretValues(t *testing.T) {
	t.Parallel()
	var none Secret
	if !none.Empty() || none.Reveal() != "" || none.String() != "" || !NewSecret("").Empty() {
		t.Error("the zero Secret isn't empty")
	}
	s := NewSecret("x")
	if s.Empty() || s.Reveal() != "x" || !s.Equal(NewSecret("x")) || s.Equal(NewSecret("y")) || s.Equal(none) || !none.Equal(NewSecret("")) {
		t.Error("a Secret doesn't hold or compare its value")
	}
	if b, _ := json.Marshal(map[string]any{"a": s, "b": none}); string(b) != `{"a":"[redacted]","b":""}` {
		t.Errorf("JSON is %s", b)
	}
}

func TestLooksLikeKey(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{
		"sk-EXAMPLEnotreal": true, "ghp_EXAMPLEnotreal": true, "AKIAEXAMPLENOTREAL00": true, "eyJhbGciOiJIUzI1NiJ9": true,
		"c2stYW50LWFwaTAzLUVYQU1QTEVub3RyZWFs": true, "x.AbCdEfGhIjKlMnOpQrStUvWx": true,
		"openai": false, "sk-1": false, "COMPANY_OPENAI_API_KEY_2024": false, "my-very-long-provider-name-of-the-company": false,
		"AWS_ACCESS_KEY_ID": false, "OPENAI_API_KEY": false, "hf_local": false, "LM_Studio": false, "": false,
	} {
		if got := LooksLikeKey(s); got != want {
			t.Errorf("LooksLikeKey(%s) = %v", s, got)
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	file := userFile(b, everything)
	o := Options{File: file, WorkDir: b.TempDir(), Env: env("FETTLE_MODEL", "a/b")}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Load(o); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLoadNothing(b *testing.B) {
	o := Options{File: b.TempDir() + "/none.yaml", WorkDir: b.TempDir(), Env: env()}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Load(o); err != nil {
			b.Fatal(err)
		}
	}
}
