package commands_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/commands/commandtest"
)

// authority is a certificate authority of the test's own, and a server's
// certificate that it signed.
type authority struct {
	pem    string
	server tls.Certificate
}

func newAuthority(t *testing.T, host string) authority {
	t.Helper()
	make := func(serial int64, template x509.Certificate, parent *x509.Certificate, signer *ecdsa.PrivateKey) ([]byte, *ecdsa.PrivateKey) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		template.SerialNumber, template.Subject = big.NewInt(serial), pkix.Name{CommonName: fmt.Sprint("test ", serial)}
		template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
		if parent == nil {
			parent, signer = &template, key
		}
		der, err := x509.CreateCertificate(rand.Reader, &template, parent, &key.PublicKey, signer)
		if err != nil {
			t.Fatal(err)
		}
		return der, key
	}
	root, rootKey := make(1, x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}, nil, nil)
	parent, err := x509.ParseCertificate(root)
	if err != nil {
		t.Fatal(err)
	}
	leaf, leafKey := make(2, x509.Certificate{
		DNSNames: []string{host}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, parent, rootKey)
	return authority{
		pem:    string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root})),
		server: tls.Certificate{Certificate: [][]byte{leaf}, PrivateKey: leafKey},
	}
}

// tunnel is a proxy that leads every CONNECT to one address.
type tunnel struct {
	to string

	mu    sync.Mutex
	asked []string
}

func (p *tunnel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.asked = append(p.asked, r.Method+" "+r.Host)
	p.mu.Unlock()
	if strings.HasPrefix(r.Host, "forbidden.") {
		w.WriteHeader(http.StatusProxyAuthRequired)
		return
	}
	if r.Method != http.MethodConnect || r.Header.Get("Authorization")+r.Header.Get("X-Api-Key") != "" {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	var d net.Dialer
	server, err := d.DialContext(r.Context(), "tcp", p.to)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer server.Close()
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer client.Close()
	_, _ = io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n")
	done := make(chan struct{}, 2)
	go func() { _, _ = io.Copy(server, buffered); done <- struct{}{} }()
	go func() { _, _ = io.Copy(client, server); done <- struct{}{} }()
	<-done
}

func (p *tunnel) seen() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.asked)
}

// An authority of one's own and a proxy, as net/http takes them from the
// environment, by HTTP/2; without either the failure says what is wrong, and
// the key goes nowhere.
func TestOwnAuthoritiesAndProxies(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("SSL_CERT_FILE is read on Linux and the BSDs alone")
	}
	const host = "models.fettle.invalid" // which no resolver knows
	ca := newAuthority(t, host)
	l := &lab{}
	srv := httptest.NewUnstartedServer(l)
	srv.EnableHTTP2 = true
	srv.TLS = &tls.Config{Certificates: []tls.Certificate{ca.server}}
	srv.Config.ErrorLog = quiet()
	srv.StartTLS()
	t.Cleanup(srv.Close)
	proxy := &tunnel{to: srv.Listener.Addr().String()}
	through := httptest.NewServer(proxy)
	t.Cleanup(through.Close)

	ask := func(base string, status int, env ...string) string {
		t.Helper()
		w := labWorld(t, base)
		cert := filepath.Join(w.Dir, "ca.pem")
		commandtest.Put(t, cert, ca.pem)
		for _, e := range env {
			w.Env = append(w.Env, strings.ReplaceAll(e, "@ca", cert))
		}
		out, errs := w.Run(status, "ask", "--no-stdin", "-m", "an/m", "hi")
		if strings.Contains(errs, labKey) {
			t.Errorf("it shows the key: %s", errs)
		}
		return out + errs
	}
	proxied := []string{"SSL_CERT_FILE=@ca", "HTTPS_PROXY=" + through.URL}
	named := "https://" + host

	if out := ask(srv.URL, 0, "SSL_CERT_FILE=@ca"); !strings.HasPrefix(out, "answer") || len(proxy.seen()) > 0 {
		t.Errorf("by its authority: %s; the proxy saw %v", out, proxy.seen())
	}
	if got := l.last(t); got.Header.Get("X-Api-Key") != labKey {
		t.Errorf("the key came as %v", got.Header)
	}
	before := len(l.seen())
	if out := ask(srv.URL, 4); !strings.Contains(out, "unknown authority") {
		t.Errorf("without its authority: %s", out)
	}
	if len(l.seen()) > before {
		t.Error("a server that isn't trusted was sent a request")
	}
	if out := ask(named, 0, proxied...); !strings.HasPrefix(out, "answer") {
		t.Errorf("through the proxy: %s", out)
	}
	if got := proxy.seen(); len(got) != 1 || got[0] != "CONNECT "+host+":443" {
		t.Errorf("the proxy saw %v", got)
	}
	if out := ask(named, 4, append(proxied, "NO_PROXY="+host)...); !strings.Contains(out, "can't be reached") || len(proxy.seen()) != 1 {
		t.Errorf("past the proxy: %s; it saw %v", out, proxy.seen())
	}
	secret := strings.Replace(through.URL, "http://", "http://me:proxy-password@", 1)
	if out := ask("https://forbidden.invalid", 4, "HTTPS_PROXY="+secret); !strings.Contains(out, "407 Proxy Authentication") || strings.Contains(out, "proxy-password") {
		t.Errorf("with a proxy that refuses: %s", out)
	}
	through.Close()
	if out := ask(named, 4, proxied...); !strings.Contains(out, "proxy") {
		t.Errorf("with a proxy that is gone: %s", out)
	}
}

// quiet drops what a server would say of connections that a test breaks.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

// A connection that a server gives up by HTTP/2's GOAWAY, or resets in the
// middle, is asked again where nothing was shown.
func TestAServerThatGoesAway(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("SSL_CERT_FILE is read on Linux and the BSDs alone")
	}
	ca := newAuthority(t, "localhost")
	l := &lab{}
	var mu sync.Mutex
	var versions []string
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		versions = append(versions, r.Proto)
		n := len(versions)
		mu.Unlock()
		if n == 1 {
			w.Header().Set("Content-Type", "text/event-stream")
			w.Header().Set("Connection", "close") // by HTTP/2 that is GOAWAY
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
		l.ServeHTTP(w, r)
	}))
	srv.EnableHTTP2 = true
	srv.TLS = &tls.Config{Certificates: []tls.Certificate{ca.server}}
	srv.Config.ErrorLog = quiet()
	srv.StartTLS()
	t.Cleanup(srv.Close)
	w := labWorld(t, srv.URL)
	commandtest.Put(t, filepath.Join(w.Dir, "ca.pem"), ca.pem)
	w.Env = append(w.Env, "SSL_CERT_FILE="+filepath.Join(w.Dir, "ca.pem"))
	if out, _ := w.Run(0, "ask", "--no-stdin", "-m", "an/m", "hi"); !strings.HasPrefix(out, "answer") {
		t.Errorf("it said %q", out)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(versions) != 2 || versions[0] != "HTTP/2.0" {
		t.Errorf("it was asked by %v", versions)
	}
}
