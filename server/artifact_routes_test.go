package server

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/server/artifacts"
)

// What a proxy for MCP Apps says is for one origin, and its policy holds what was
// granted and nothing else.
func TestAppPolicy(t *testing.T) {
	t.Parallel()
	const host = "http://127.0.0.1:8217"
	want := "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:; media-src data: blob:; " +
		"connect-src 'none'; frame-src 'none'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors " + host
	if got := appPolicy(appCSPJSON{}, host); got != want {
		t.Errorf("without a wish\n%s\nwant\n%s", got, want)
	}
	if got := appPolicy(appCSPJSON{}, "http://[::1]:8217"); !strings.HasSuffix(got, "; frame-ancestors http:") {
		t.Errorf("a host by IPv6: %s", got)
	}
	hostile := []string{
		"https://api.example.com", "https://*.example.com:8443", "wss://push.example.com", "cdn.example.com", // the public ones
		"*", "https:", "https://*", "https://*.com;script-src *", "http://example.com", "http://127.0.0.1:8217", "https://127.0.0.1", "https://localhost",
		"https://[::1]", "https://10.0.0.1", "https://169.254.169.254", "https://metadata.internal", "https://printer.local", "https://a.example.com/path",
		"https://user@example.com", "data:", "blob:", "'unsafe-eval'", "'self'", "https://example.com 'unsafe-eval'", "https://example.com\nx", "https://exa mple.com",
		"https://example.com:99999999", "https://example.com:", "javascript:alert(1)", "filesystem:", "https://ex\u0430mple.com", "https://2130706433", "https://0x7f.1", "",
	}
	if got := fmt.Sprint(artifacts.GrantOrigins(hostile, true)); got != "[https://api.example.com https://*.example.com:8443 wss://push.example.com https://cdn.example.com]" {
		t.Errorf("granted to connect to: %s", got)
	}
	if got := fmt.Sprint(artifacts.GrantOrigins(hostile, false)); strings.Contains(got, "wss") {
		t.Errorf("granted to load from: %s", got)
	}
	policy := appPolicy(appCSPJSON{ConnectDomains: []string{"https://api.example.com"}, ResourceDomains: []string{"https://cdn.example.com"}}, host)
	for _, part := range []string{"connect-src https://api.example.com;", "script-src 'unsafe-inline' https://cdn.example.com;", "font-src data: https://cdn.example.com;"} {
		if !strings.Contains(policy, part) {
			t.Errorf("no %s in %s", part, policy)
		}
	}
	page := string(proxyPage(`http://a"</script><script>alert(1)</script>`))
	if strings.Count(page, "<script") != 2 || strings.Contains(page, "alert(1)</script>") {
		t.Errorf("an origin breaks out: %s", page)
	}
}

// Strangers' pages have none of the origins that the server goes by or lets in.
func TestArtifactsHaveAnOriginOfTheirOwn(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"127.0.0.1", "localhost", "[::1]"} {
		tcp, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		_, port, _ := net.SplitHostPort(tcp.Addr().String())
		_, err = Listen(ListenOptions{TCP: tcp, DataDir: t.TempDir(), Artifacts: "127.0.0.1:0", ArtifactsURL: "http://" + name + ":" + port})
		if err == nil || !strings.Contains(err.Error(), "an origin of their own") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, g := range map[string]*gate{
		"trusted": {trust: "https://b.example"}, "let in": {allow: map[string]bool{"https://b.example": true}},
	} {
		if err := (&Listening{artifactOrigin: "https://b.example"}).apart(g); err == nil {
			t.Errorf("%s: it may be the artifacts'", name)
		}
	}
	if err := (&Listening{artifactOrigin: "https://b.example"}).apart(&gate{trust: "https://a.example"}); err != nil {
		t.Error(err)
	}
}

// Where the second listener is, and when there is none.
func TestWhereArtifactsAre(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		o      ListenOptions
		origin string // a beginning; empty is none
		wrong  string // what the error says
	}{
		"beside the first":            {ListenOptions{Address: "127.0.0.1:0"}, "http://127.0.0.1:", ""},
		"by TLS":                      {ListenOptions{Address: "127.0.0.1:0", TLS: true}, "https://127.0.0.1:", ""},
		"where it is told":            {ListenOptions{Address: "127.0.0.1:0", Artifacts: "127.0.0.1:0"}, "http://127.0.0.1:", ""},
		"behind a proxy":              {ListenOptions{Address: "127.0.0.1:0", Behind: "https://a.example", Artifacts: "127.0.0.1:0", ArtifactsURL: "https://b.example"}, "https://b.example", ""},
		"behind one that says less":   {ListenOptions{Address: "127.0.0.1:0", Behind: "https://a.example"}, "", ""},
		"a proxy without its address": {ListenOptions{Address: "127.0.0.1:0", Behind: "https://a.example", Artifacts: "127.0.0.1:0"}, "", "behind a proxy"},
		"the same origin":             {ListenOptions{Address: "127.0.0.1:0", Behind: "https://a.example", ArtifactsURL: "https://a.example/"}, "", "an origin of their own"},
		"no certificate":              {ListenOptions{Address: "127.0.0.1:0", Artifacts: "0.0.0.0:0"}, "", "unencrypted"},
		"no address":                  {ListenOptions{Address: "127.0.0.1:0", Artifacts: "here"}, "", "no address"},
		"this machine by IPv6":        {ListenOptions{Address: "[::1]:0"}, "http://localhost:", ""},
		"by IPv6 behind a port":       {ListenOptions{Address: "127.0.0.1:0", Artifacts: "127.0.0.1:0", ArtifactsURL: "http://[::1]:8001"}, "http://localhost:8001", ""},
		"another's IPv6":              {ListenOptions{Address: "127.0.0.1:0", Artifacts: "127.0.0.1:0", ArtifactsURL: "https://[2001:db8::1]:8001"}, "", "needs a name"},
		"the port that goes unsaid":   {ListenOptions{Address: "127.0.0.1:0", Artifacts: "127.0.0.1:0", ArtifactsURL: "https://B.example:443"}, "https://b.example", ""},
		"the same by its port":        {ListenOptions{Address: "127.0.0.1:0", Behind: "https://a.example", Artifacts: "127.0.0.1:0", ArtifactsURL: "https://a.example:443"}, "", "an origin of their own"},
		"the same, behind by a port":  {ListenOptions{Address: "127.0.0.1:0", Behind: "https://A.example:443", Artifacts: "127.0.0.1:0", ArtifactsURL: "https://a.example"}, "", "an origin of their own"},
		"no origin":                   {ListenOptions{Address: "127.0.0.1:0", Artifacts: "127.0.0.1:0", ArtifactsURL: "https://a.example/path"}, "", "no origin"},
	} {
		if c.o.Address == "[::1]:0" && !hasIPv6() {
			t.Log("this machine has no IPv6")
			continue
		}
		c.o.DataDir = t.TempDir()
		l, err := Listen(c.o)
		if c.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if (l.artifactOrigin == "") != (c.origin == "") || !strings.HasPrefix(l.artifactOrigin, c.origin) || (l.Artifacts == nil) != (c.origin == "") {
			t.Errorf("%s: at %q", name, l.artifactOrigin)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}

func hasIPv6() bool {
	l, err := net.Listen("tcp", "[::1]:0")
	return err == nil && l.Close() == nil
}
