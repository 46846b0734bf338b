package netguard

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/internal/needtest"
)

func sharedLines(t *testing.T, name string) []string {
	t.Helper()
	raw, err := os.ReadFile(needtest.Shared(t, "security", "web", name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(raw)), "\n")
}

func TestAddressesOfTheSharedLists(t *testing.T) {
	t.Parallel()
	for _, raw := range sharedLines(t, "urls-deny.txt") {
		if u, err := CheckURL(raw); err == nil {
			t.Errorf("%s is let through as %s", raw, u)
		}
	}
	for _, raw := range sharedLines(t, "urls-allow.txt") {
		if _, err := CheckURL(raw); err != nil {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

func TestCheckURL(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		"", "https:", "https://", "//example.com/", "example.com", "https://a b.example.com/", "https://example.com\t/", "https:example.com",
		"https://[::1", "https://[fe80::1%25eth0]/", "https://0x7f.1/", "https://127.0.0.1./", "https://a..example.com/", "https://.example.com/",
		"https://2001:db8::1/", "https://[2002:7f00:1::]/", "https://[64:ff9b::a00:1]/", "https://255.255.255.255/", "https://lvh.me/", "https://x.test/",
		"https://example.com:0/", "https://example.com:80443/", "https://" + strings.Repeat("a", 250) + ".com/", "https://example.com/" + strings.Repeat("a", 5000),
		"https://ex\u00adample.local/", "https://localhost./", "https://metadata.google.internal./",
	} {
		if u, err := CheckURL(raw); err == nil {
			t.Errorf("%q is let through as %s", raw, u)
		}
	}
	for _, raw := range []string{"https://example.com", "https://EXAMPLE.com./x", "http://example.com:80/", "https://8.8.8.8/", "https://a-b.example.com/"} {
		if _, err := CheckURL(raw); err != nil {
			t.Errorf("%q: %v", raw, err)
		}
	}
}

// fakeNet answers lookups by a table and connects every public address to one
// test server, so that redirects and names can be tried without a network.
type fakeNet struct {
	names map[string][]string
	to    string
	dials []string
}

func (f *fakeNet) lookup(_ context.Context, _, host string) ([]netip.Addr, error) {
	var out []netip.Addr
	for _, s := range f.names[host] {
		out = append(out, netip.MustParseAddr(s))
	}
	if out == nil {
		return nil, errors.New("no such host")
	}
	return out, nil
}

func (f *fakeNet) dial(ctx context.Context, network, address string) (net.Conn, error) {
	f.dials = append(f.dials, address)
	if err := controlDial(network, address, nil); err != nil {
		return nil, err
	}
	return (&net.Dialer{}).DialContext(ctx, network, f.to)
}

func (f *fakeNet) client() *http.Client {
	c := Client()
	c.Transport.(*gate).next.(*http.Transport).DialContext = (&dialer{dial: f.dial, lookup: f.lookup}).dialPublic
	return c
}

func TestClient(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Referer") != "" || r.Header.Get("Cookie") != "" {
			t.Errorf("%s sends %v", r.URL, r.Header)
		}
		if r.Host == "other.example.com" && r.Header.Get("Authorization") != "" {
			t.Error("a redirect carries the first host's credentials")
		}
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "b", Path: "/"})
		if to := r.URL.Query().Get("to"); to != "" {
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
		_, _ = w.Write([]byte("there"))
	}))
	t.Cleanup(server.Close) // after the parallel cases
	for _, tt := range []struct{ name, url, err string }{
		{"a public name", "http://a.example.com/", ""},
		{"a redirect to another public name", "http://a.example.com/?to=http://other.example.com/", ""},
		{"a redirect to loopback", "http://a.example.com/?to=http://127.0.0.1/", "private or reserved"},
		{"a redirect to a file", "http://a.example.com/?to=file:///etc/passwd", "begins with"},
		{"a name that means loopback", "http://rebound.example.com/", "private or reserved"},
		{"one private answer of two", "http://mixed.example.com/", "private or reserved"},
		{"a mapped private answer", "http://mapped.example.com/", "private or reserved"},
		{"no such name", "http://nowhere.example.com/", "no such host"},
		{"a redirect to a private name", "http://a.example.com/?to=http://router.lan/", "private network"},
		{"a redirect to another port", "http://a.example.com/?to=http://a.example.com:6379/", "port 6379"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := &fakeNet{to: server.Listener.Addr().String(), names: map[string][]string{
				"a.example.com": {"93.184.216.34"}, "other.example.com": {"2606:4700:4700::1111", "1.1.1.1"}, "rebound.example.com": {"127.0.0.1"},
				"mixed.example.com": {"93.184.216.34", "10.0.0.1"}, "mapped.example.com": {"::ffff:10.0.0.1"},
			}}
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, tt.url, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "secret")
			res, err := f.client().Do(req)
			if err == nil {
				res.Body.Close()
			}
			if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
				t.Errorf("got %v, want %q", err, tt.err)
			}
			for _, d := range f.dials {
				if strings.HasPrefix(d, "127.") || strings.HasPrefix(d, "10.") {
					t.Errorf("dialled %s", d)
				}
			}
		})
	}
	t.Run("redirects without end", func(t *testing.T) {
		t.Parallel()
		endless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/again", http.StatusFound) }))
		defer endless.Close()
		f := &fakeNet{to: endless.Listener.Addr().String(), names: map[string][]string{"a.example.com": {"93.184.216.34"}}}
		_, err := f.client().Get("http://a.example.com/")
		if err == nil || !strings.Contains(err.Error(), "after 5 redirects") {
			t.Errorf("got %v", err)
		}
	})
}

func TestRedirectsKeepHTTPS(t *testing.T) {
	t.Parallel()
	at := func(s string) *http.Request {
		u, err := url.Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		return &http.Request{URL: u}
	}
	if err := checkRedirect(at("http://a.example.com/"), []*http.Request{at("https://a.example.com/")}); err == nil {
		t.Error("a redirect leads from https to http")
	}
	if err := checkRedirect(at("https://a.example.com/"), []*http.Request{at("http://a.example.com/")}); err != nil {
		t.Error(err)
	}
}

func TestControlDial(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"127.0.0.1:443", "[::1]:443", "[::ffff:10.0.0.1]:443", "169.254.169.254:80", "8.8.8.8:22", "8.8.8.8", "name:443", "[fe80::1%lo]:443"} {
		if controlDial("tcp", bad, nil) == nil {
			t.Errorf("%s would be dialled", bad)
		}
	}
	if err := controlDial("tcp", "8.8.8.8:443", nil); err != nil {
		t.Error(err)
	}
}

func FuzzCheckURL(f *testing.F) {
	for _, s := range []string{"https://example.com/", "http://127.1/", "https://[::ffff:7f00:1]/", "http://⑫⑦.⓪.⓪.①/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := CheckURL(raw)
		if err != nil {
			return
		}
		if a, err := netip.ParseAddr(u.Hostname()); err == nil && CheckAddr(a) != nil {
			t.Errorf("%q leads to %s", raw, a)
		}
		if u.User != nil || u.Hostname() == "" {
			t.Errorf("%q became %v", raw, u)
		}
	})
}
