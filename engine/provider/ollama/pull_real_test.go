package ollama

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/ollamatest"
)

// registry serves one model on this machine as Ollama's own registry does. It
// is begun before the server that pulls from it, which has to know its
// certificate, and gets the model from it afterwards.
type registry struct {
	srv   *httptest.Server
	store *httptest.Server // where it sends those who want a blob

	mu       sync.Mutex
	manifest []byte
	blobs    map[string][]byte
	hold     bool     // a large blob stops half way
	ranges   []string // the Range headers that were asked for, of large blobs
}

// large tells the blob that is worth an interruption.
const large = 1 << 20

func newRegistry(t *testing.T) *registry {
	t.Helper()
	r := &registry{blobs: map[string][]byte{}}
	r.srv = httptest.NewTLSServer(http.HandlerFunc(r.serve))
	r.store = httptest.NewServer(http.HandlerFunc(r.serveBlob))
	t.Cleanup(func() { r.srv.Close(); r.store.Close() })
	file := filepath.Join(t.TempDir(), "registry.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: r.srv.Certificate().Raw})
	if err := os.WriteFile(file, block, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SSL_CERT_FILE", file) // for the server that is started next
	return r
}

func (r *registry) serve(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, digest, isBlob := strings.Cut(req.URL.Path, "/blobs/")
	blob, known := r.blobs[digest]
	switch {
	case isBlob && known && req.Method == http.MethodHead:
		w.Header().Set("Content-Length", strconv.Itoa(len(blob)))
	case isBlob && known:
		// It follows a redirect to a host of another name only.
		store := strings.Replace(r.store.URL, "127.0.0.1", "localhost", 1)
		http.Redirect(w, req, store+"/"+digest, http.StatusTemporaryRedirect)
	case strings.HasSuffix(req.URL.Path, "/manifests/latest") && strings.Contains(req.URL.Path, "/tiny/"):
		_, _ = w.Write(r.manifest)
	default:
		http.NotFound(w, req)
	}
}

func (r *registry) serveBlob(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	blob, hold := r.blobs[strings.TrimPrefix(req.URL.Path, "/")], r.hold
	if len(blob) > large {
		r.ranges = append(r.ranges, req.Header.Get("Range"))
	}
	r.mu.Unlock()
	body := io.ReadSeeker(bytes.NewReader(blob))
	if hold && len(blob) > large {
		body = &holding{ReadSeeker: body, left: len(blob) / 2, ctx: req.Context()}
	}
	http.ServeContent(w, req, "", time.Time{}, body)
}

// holding gives so many bytes and then nothing more until the client goes.
type holding struct {
	io.ReadSeeker
	left int
	ctx  context.Context
}

func (h *holding) Read(p []byte) (int, error) {
	if h.left <= 0 {
		<-h.ctx.Done()
		return 0, h.ctx.Err()
	}
	n, err := h.ReadSeeker.Read(p[:min(len(p), h.left)])
	h.left -= n
	return n, err
}

// take reads the tiny model out of a server's folder.
func (r *registry) take(t *testing.T, srv *ollamatest.Server) {
	t.Helper()
	dir := ""
	for _, kv := range srv.Env {
		if v, ok := strings.CutPrefix(kv, "OLLAMA_MODELS="); ok {
			dir = v
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var err error
	r.manifest, err = os.ReadFile(filepath.Join(dir, "manifests", "registry.ollama.ai", "library", ollamatest.Model, "latest"))
	if err != nil {
		t.Fatal(err)
	}
	var m struct {
		Config struct{ Digest string }
		Layers []struct{ Digest string }
	}
	if err := json.Unmarshal(r.manifest, &m); err != nil {
		t.Fatal(err)
	}
	digests := []string{m.Config.Digest}
	for _, l := range m.Layers {
		digests = append(digests, l.Digest)
	}
	for _, d := range digests {
		if r.blobs[d], err = os.ReadFile(filepath.Join(dir, "blobs", strings.Replace(d, ":", "-", 1))); err != nil {
			t.Fatal(err)
		}
	}
}

func (r *registry) set(hold bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hold = hold
}

func (r *registry) asked() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.ranges...)
}

// TestRealPull has a real Ollama pull from a registry on this machine: stopped
// half way, gone on with from there, listed, described and removed.
func TestRealPull(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("Go takes a certificate from SSL_CERT_FILE on Linux")
	}
	reg := newRegistry(t)
	srv := ollamatest.Start(t)
	reg.take(t, srv)
	p := real{srv.Host}.provider(t, Options{})
	if err := p.Remove(t.Context(), ollamatest.Model); err != nil {
		t.Fatal(err)
	}
	if err := p.Remove(t.Context(), ollamatest.Model); kindOf(err) != provider.UnknownModel {
		t.Errorf("removed again: %v", err)
	}
	name := strings.TrimPrefix(reg.srv.URL, "https://") + "/library/tiny"

	reg.set(true)
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	var half provider.Progress
	err := p.Pull(ctx, name, func(at provider.Progress) {
		half = at
		if at.Total > large && at.Done > at.Total/3 {
			cancel(enough)
		}
	})
	if !errors.Is(err, enough) || half.Done == half.Total {
		t.Fatalf("stopped at %+v with %v", half, err)
	}

	reg.set(false)
	var first, last provider.Progress
	err = p.Pull(t.Context(), name, func(at provider.Progress) {
		if first.Total <= large {
			first = at
		}
		last = at
	})
	if err != nil || last.Stage != "success" || last.Done != last.Total {
		t.Fatalf("gone on to %+v with %v", last, err)
	}
	t.Logf("stopped at %d bytes, went on at %d of %d", half.Done, first.Done, last.Total)
	resumed := false
	for _, asked := range reg.asked() {
		resumed = resumed || asked != "" && !strings.HasPrefix(asked, "bytes=0-")
	}
	if !resumed {
		t.Errorf("nothing was asked for from its middle: %q", reg.asked())
	}

	models, err := p.Models(t.Context())
	if err != nil || len(models) != 1 || models[0].Size < large || models[0].Remote {
		t.Fatalf("it has %+v, %v", models, err)
	}
	m, err := p.Model(t.Context(), models[0].Name)
	if err != nil || m.ContextLength != ollamatest.ContextLength || m.Tools != provider.Yes {
		t.Errorf("it knows %+v, %v", m, err)
	}
	if err := p.Pull(t.Context(), name, func(at provider.Progress) { last = at }); err != nil || last.Fetched != 0 {
		t.Errorf("pulled again: %+v, %v", last, err)
	}
	err = p.Pull(t.Context(), strings.Replace(name, "/tiny", "/nosuch", 1), func(provider.Progress) {})
	if kindOf(err) != provider.UnknownModel {
		t.Errorf("a model that the registry lacks: %v", err)
	}
	if err := p.Remove(t.Context(), models[0].Name); err != nil {
		t.Error(err)
	}
}
