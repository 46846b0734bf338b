package server_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/server"
)

// certified makes a certificate for names until a time, and the pool that trusts it.
func certified(t *testing.T, until time.Time, names ...string) (*tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "fettle test"}, NotBefore: until.Add(-48 * time.Hour), NotAfter: until,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			c.IPAddresses = append(c.IPAddresses, ip)
		} else {
			c.DNSNames = append(c.DNSNames, name)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	must(t, err)
	parsed, err := x509.ParseCertificate(der)
	must(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// A server with a certificate is spoken to by clients that trust it and by no
// others, and by nobody in plain text.
func TestTLS(t *testing.T) {
	t.Parallel()
	tomorrow, yesterday := time.Now().Add(24*time.Hour), time.Now().Add(-24*time.Hour)
	for name, c := range map[string]struct {
		until time.Time
		name  string
		fails string // what the client says; empty is that all is well
	}{
		"good":       {tomorrow, "127.0.0.1", ""},
		"wrong name": {tomorrow, "example.org", "doesn't contain any IP SANs"},
		"expired":    {yesterday, "127.0.0.1", "expired"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cert, pool := certified(t, c.until, c.name)
			h := open(t, plan{
				listen: func(o *server.ListenOptions) { o.TLS = true }, run: server.RunOptions{Certificate: cert},
			})
			h.url = strings.Replace(h.url, "http:", "https:", 1)
			h.client.Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: pool}
			res, err := h.client.Do(h.request("GET", "/api/chats", nil))
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Errorf("the client says %v", err)
				}
				return
			}
			must(t, err)
			must(t, res.Body.Close())
			if res.StatusCode != 200 || res.TLS == nil || res.TLS.Version < tls.VersionTLS12 {
				t.Errorf("%d %+v", res.StatusCode, res.TLS)
			}
			turn, _ := h.start(doc{"message": "hi"})
			if k := kinds(h.follow("GET", "/api/turns/"+turn+"/events", nil).all()); !strings.HasSuffix(k, "complete") {
				t.Errorf("the stream is %s", k)
			}
			// Plain text gets no answer of ours, whoever asks.
			plain := h.request("GET", "/healthz", nil)
			plain.URL.Scheme = "http"
			if res, err := h.client.Do(plain); err == nil {
				must(t, res.Body.Close())
				if res.StatusCode != 400 {
					t.Errorf("plain text has status %d", res.StatusCode)
				}
			}
			old := &tls.Config{RootCAs: pool, MaxVersion: tls.VersionTLS11}
			if conn, err := tls.Dial("tcp", plain.URL.Host, old); err == nil {
				_ = conn.Close()
				t.Error("TLS 1.1 is spoken")
			}
			// An origin of the same address in plain text is another one.
			if a := h.call("GET", "/api/chats", nil, "Origin", strings.Replace(h.url, "https:", "http:", 1)); a.status != 403 {
				t.Errorf("another scheme has status %d", a.status)
			}
		})
	}
}

// behind is a house that a reverse proxy with a certificate is in front of.
func behind(t *testing.T) (h *house, public string) {
	t.Helper()
	var inner *url.URL
	proxy := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(inner)
		r.SetXForwarded()
		r.Out.Host = r.In.Host
		wholeBody(t, r)
	}}
	front := httptest.NewUnstartedServer(proxy)
	front.StartTLS()
	t.Cleanup(front.Close)
	transport := &http.Transport{}
	proxy.Transport = transport
	t.Cleanup(transport.CloseIdleConnections)
	h = open(t, plan{listen: func(o *server.ListenOptions) { o.Address, o.Behind = "0.0.0.0:0", front.URL }})
	var err error
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(h.url, "http://"))
	inner, err = url.Parse("http://127.0.0.1:" + port)
	must(t, err)
	h.client.Transport.(*http.Transport).TLSClientConfig = front.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	h.url = front.URL
	return h, inner.Host
}

// A server behind a reverse proxy is reached by the proxy's name alone, and what a
// client says of who it is counts for nothing.
func TestBehindAReverseProxy(t *testing.T) {
	t.Parallel()
	h, inside := behind(t)
	name := strings.TrimPrefix(h.url, "https://")
	turn, _ := h.start(doc{"message": "hi"})
	s := h.follow("GET", "/api/turns/"+turn+"/events", nil)
	if k := kinds(s.all()); !strings.HasSuffix(k, "complete") || s.res.TLS == nil {
		t.Errorf("the stream is %s", k)
	}
	none := []string{"Authorization", ""}
	for what, c := range map[string]struct {
		header []string
		want   int
	}{
		"its own page":               {[]string{"Origin", h.url, "Sec-Fetch-Site", "same-origin"}, 200},
		"another page":               {[]string{"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"}, 403},
		"the plain origin":           {[]string{"Origin", "http://" + name}, 403},
		"the inner origin":           {[]string{"Origin", "http://" + inside}, 403},
		"no token":                   {none, 401},
		"from this machine, it says": {append([]string{"X-Forwarded-For", "127.0.0.1", "X-Real-Ip", "127.0.0.1", "Forwarded", "for=127.0.0.1;host=localhost"}, none...), 401},
		"by a name, it says":         {append([]string{"X-Forwarded-Host", "localhost", "X-Forwarded-Proto", "http"}, none...), 401},
		"by a path, it says":         {append([]string{"X-Original-Url", "/healthz", "X-Rewrite-Url", "/healthz"}, none...), 401},
		"a name that is forwarded":   {[]string{"X-Forwarded-Host", "evil.example", "Origin", "https://evil.example"}, 403},
	} {
		if a := h.call("GET", "/api/chats", nil, c.header...); a.status != c.want {
			t.Errorf("%s: status %d, want %d: %s", what, a.status, c.want, a.body)
		}
	}
	// Past the proxy, its name is what counts, and other names are none.
	for host, want := range map[string]int{name: 200, inside: 403, "localhost": 403, "evil.example": 403} {
		req := h.request("GET", "/api/chats", nil)
		req.URL.Scheme, req.URL.Host, req.Host = "http", inside, host
		req.Header.Set("X-Forwarded-Host", name)
		res, err := h.client.Do(req)
		must(t, err)
		must(t, res.Body.Close())
		if res.StatusCode != want {
			t.Errorf("as %s: status %d, want %d", host, res.StatusCode, want)
		}
	}
	if log := h.log.String(); strings.Contains(log, h.token) {
		t.Error("the token is in the log")
	}
}

// A proxy without a certificate may be on this machine alone: the published port of
// a container goes by each name of it.
func TestAPublishedPort(t *testing.T) {
	t.Parallel()
	h := open(t, plan{listen: func(o *server.ListenOptions) { o.Address, o.Behind = "0.0.0.0:0", "http://localhost:8000" }})
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(h.url, "http://"))
	h.url = "http://127.0.0.1:" + port
	for host, want := range map[string]int{
		"localhost:8000": 200, "127.0.0.1:8000": 200, "[::1]:8000": 200, "localhost:" + port: 403, "example.org:8000": 403, "localhost": 403,
	} {
		req := h.request("GET", "/api/chats", nil, "Origin", "http://"+host)
		req.Host = host
		res, err := h.client.Do(req)
		must(t, err)
		must(t, res.Body.Close())
		if res.StatusCode != want {
			t.Errorf("as %s: status %d, want %d", host, res.StatusCode, want)
		}
	}
}

// The server ends within the time that it states: of two turns, the one that ends
// by itself is complete, and the one that hangs is interrupted.
func TestDrainInTime(t *testing.T) {
	t.Parallel()
	const drain = 300 * time.Millisecond
	h := open(t, plan{run: server.RunOptions{Drain: drain}})
	ends, _ := h.start(doc{"message": "hi"})
	hangs, _ := h.start(doc{"message": "slow"})
	s := h.follow("GET", "/api/turns/"+hangs+"/events", nil)
	s.until("text_delta")
	ended := make(chan error, 1)
	begun := time.Now()
	go func() { ended <- h.stop() }()
	rest := s.all()
	if k := kinds(rest); k != "error" || rest[0]["code"] != "interrupted" {
		t.Errorf("the one that hangs ends with %v", rest)
	}
	must(t, <-ended)
	if took := time.Since(begun); took < drain {
		t.Errorf("it was interrupted after %s", took)
	}
	e := open(t, plan{dir: h.dir})
	for id, want := range map[string]string{ends: "complete", hangs: "error"} {
		last := ""
		for ev, err := range e.eng.Follow(context.Background(), store.TurnID(id), event.Seq(0)) {
			must(t, err)
			last = string(ev.Type())
		}
		if last != want {
			t.Errorf("%s ended with %s, want %s", id, last, want)
		}
	}
	if log := h.log.String(); !strings.Contains(log, "turns are interrupted") || strings.Contains(log, "Hello") || strings.Contains(log, "Half") {
		t.Errorf("the log says %s", log)
	}
}
