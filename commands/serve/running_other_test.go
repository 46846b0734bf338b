package serve_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/commands/commandtest"
)

// A server of another version is not spoken to: what needs no store runs as ever,
// and what needs it says at once who has it.
func TestServeOfAnotherVersion(t *testing.T) {
	t.Parallel()
	needSocket(t)
	w := through(t)
	w.Run(0, "ask", "--no-stdin", "what?")
	w.serve("--log", "off")
	note := filepath.Join(w.Dir, "data", "serve.json")
	raw, err := os.ReadFile(note)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(raw, &fields); err != nil {
		t.Fatal(err)
	}
	for name, answer := range map[string]string{
		"another version":       `{"api":1,"version":"0.0.1"}`,
		"another API":           `{"api":999}`,
		"one that knows no API": ``,
	} {
		fields["socket"] = otherServer(t, answer)
		raw, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		commandtest.Put(t, note, string(raw))
		if got := w.with("", "ask", "again?"); got.status != 0 || !strings.HasPrefix(got.out, "Some words") {
			t.Errorf("%s: ask: %d %s%s", name, got.status, got.out, got.err)
		}
		begun := time.Now()
		got := w.with("", "ask", "-c", "and?")
		if got.status != 1 || !strings.Contains(got.err, "has the store open, and is another version of fettle") || !strings.Contains(got.err, "kill ") {
			t.Errorf("%s: ask -c: %d %s%s", name, got.status, got.out, got.err)
		}
		if took := time.Since(begun); took > 9*time.Second { // which is how long an unknown holder is waited for
			t.Errorf("%s: it waited %s", name, took)
		}
	}
}

// otherServer answers every request with one text, by a socket.
func otherServer(t *testing.T, text string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "fettle-other-") // a short path
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if text == "" {
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(`{"error":{"code":"not_found","message":"there is nothing at this address"}}`))
			return
		}
		_, _ = w.Write([]byte(text))
	})}
	done := make(chan struct{})
	go func() { defer close(done); _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close(); <-done; _ = os.RemoveAll(dir) })
	return path
}

// A server elsewhere answers by its own configuration, to who has its token, and
// works in no folder of this machine.
func TestAskAnotherServer(t *testing.T) {
	t.Parallel()
	there, here := through(t), newWorld(t, "responses: [{when: \"\", text: Not here.}]")
	s := there.serve("--log", "json")
	address := s.url + "/#token=" + s.token
	tokenFile := filepath.Join(here.Dir, "token")
	commandtest.Put(t, tokenFile, s.token+"\n")
	alone := through(t)
	for _, c := range [][]string{
		{"", "what is this?"}, {"piped in", "what is this?"}, {"", "-c", "and then?"}, {"", "--chat", "1", "--fork", "another way?"},
		{"", "-f", filepath.Join(there.Dir, "p.png"), "-f", filepath.Join(there.Dir, "notes.md"), "a picture?"},
		{"", "--schema", `{"type":"array"}`, "list them"}, {"", "--no-tools", "-s", "Be short.", "short?"},
		{"", "write"}, {"", "--tool", "list_files", "write"}, {"", "--yes", "write"}, {"", "--ephemeral", "kept nowhere?"}, {"", "--chat", "99", "who?"},
	} {
		args := append([]string{"ask"}, c[1:]...)
		want, got := alone.with(c[0], args...), here.with(c[0], append(args, "--server", address)...)
		if got.out != want.out || got.status != want.status {
			t.Errorf("%q there: status %d\n%s%s\nby itself: status %d\n%s%s", c, got.status, got.out, got.err, want.status, want.out, want.err)
		}
	}
	if got := here.with("", "ask", "--server", s.url, "--token-file", tokenFile, "what?"); got.status != 0 || !strings.HasPrefix(got.out, "Some words") {
		t.Errorf("--token-file: %d %s%s", got.status, got.out, got.err)
	}
	configured := *here
	configured.Env = append(append([]string{}, here.Env...), "FETTLE_SERVER="+s.url, "FETTLE_TOKEN="+s.token)
	if got := configured.with("", "ask", "what?"); got.status != 0 || !strings.HasPrefix(got.out, "Some words") {
		t.Errorf("FETTLE_SERVER: %d %s%s", got.status, got.out, got.err)
	}
	if got := configured.with("", "ask", "--server", "off", "what?"); got.status != 0 || got.out != "Not here.\n" {
		t.Errorf("--server off: %d %s%s", got.status, got.out, got.err)
	}
	if _, err := os.Stat(filepath.Join(here.Dir, "data", "serve.token")); !os.IsNotExist(err) {
		t.Errorf("a token was made here: %v", err)
	}
	r := here.begins("Half an", "ask", "--server", address, "slow")
	if err := r.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if got := r.ends(); got.status != 130 || got.out != "Half an answer\n" {
		t.Errorf("Ctrl-C: %d %q %s", got.status, got.out, got.err)
	}
	if log := s.ends(); strings.Contains(log, s.token) || !strings.Contains(log, `"end":"cancelled"`) {
		t.Errorf("the server says\n%s", log)
	}
}

// What another server can't do, and what is wrong with its address, is said at
// once.
func TestAskAnotherServerWrongly(t *testing.T) {
	t.Parallel()
	there, here := through(t), newWorld(t, "{}")
	s := there.serve("--log", "off")
	address := s.url + "/#token=" + s.token
	for name, c := range map[string]struct {
		args   []string
		status int
		says   string
	}{
		"a folder":        {[]string{"--server", address, "-w", ".", "x"}, 2, "it can't reach a folder of this machine"},
		"a recording":     {[]string{"--server", address, "--record", "t.jsonl", "x"}, 2, "--record can't be given"},
		"a time limit":    {[]string{"--server", address, "--timeout", "3s", "x"}, 2, "--timeout can't be given"},
		"again":           {[]string{"--server", address, "--retry"}, 2, "--retry and --at can't be given"},
		"no token":        {[]string{"--server", s.url, "x"}, 2, "there is no token for the server"},
		"a wrong token":   {[]string{"--server", s.url + "/#token=" + strings.Repeat("A", 40), "x"}, 5, "the token is not this server's"},
		"a broken token":  {[]string{"--server", s.url, "--token-file", filepath.Join(there.Dir, "notes.md"), "x"}, 2, "the token should be one word"},
		"no such file":    {[]string{"--server", s.url, "--token-file", "none", "x"}, 2, "--token-file: read none"},
		"no encryption":   {[]string{"--server", "http://fettle.example.com/#token=x", "x"}, 2, "has to be https"},
		"no address":      {[]string{"--server", "somewhere", "x"}, 2, "it should look like https://HOST"},
		"user and secret": {[]string{"--server", "https://me:x@127.0.0.1/", "x"}, 2, "it should look like https://HOST"},
		"nobody there":    {[]string{"--server", "http://127.0.0.1:1/#token=x", "x"}, 4, "can't be reached"},
		"not TLS":         {[]string{"--server", strings.Replace(address, "http:", "https:", 1), "x"}, 4, "can't be reached"},
		"nothing named":   {[]string{"--token-file", "x", "x"}, 2, "none is named"},
	} {
		got := here.with("", append([]string{"ask"}, c.args...)...)
		if got.status != c.status || !strings.Contains(got.err, c.says) || got.out != "" {
			t.Errorf("%s: %d %s%s", name, got.status, got.out, got.err)
		}
		if strings.Contains(got.err, s.token) {
			t.Errorf("%s: the token is in %s", name, got.err)
		}
	}
}

// A certificate that nobody vouches for is no server's.
func TestAskAnotherServerByTLS(t *testing.T) {
	t.Parallel()
	there, here := through(t), newWorld(t, "{}")
	cert, key := certificate(t, there.Dir)
	s := there.serve("--log", "off", "--tls-cert", cert, "--tls-key", key)
	address := s.url + "/#token=" + s.token
	if got := here.with("", "ask", "--server", address, "what?"); got.status != 4 || !strings.Contains(got.err, "certificate") {
		t.Errorf("an unknown certificate: %d %s%s", got.status, got.out, got.err)
	}
	if runtime.GOOS != "linux" { // others ask their system whom to trust
		return
	}
	here.Env = append(here.Env, "SSL_CERT_FILE="+cert)
	if got := here.with("", "ask", "--server", address, "what?"); got.status != 0 || !strings.HasPrefix(got.out, "Some words") {
		t.Errorf("a known certificate: %d %s%s", got.status, got.out, got.err)
	}
}

// certificate makes one for this machine's loopback address.
func certificate(t *testing.T, dir string) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "fettle test"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	commandtest.Put(t, cert, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	commandtest.Put(t, key, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})))
	return cert, key
}
