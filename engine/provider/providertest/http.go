package providertest

import (
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/engine/provider"
)

// Wire tells how a wire format that is served over HTTP puts things.
type Wire struct {
	// New makes the provider; its key is Key.
	New func(t *testing.T, base string, c Config, client *http.Client) provider.Provider
	// Chat is the path of a request for a response.
	Chat        string
	ContentType string
	// Piece gives a piece's bytes.
	Piece func(Piece) string
	// Finish gives the bytes that end a whole response.
	Finish func(Play) string
	// Refuse gives the status and the body of a refusal.
	Refuse func(RefusalWhy) (status int, body string)
	// Seen reads the body of a request.
	Seen func(body []byte) (Seen, error)
	// Idle are bytes that keep a connection alive and say nothing.
	Idle string
	// Facts answers requests to other paths; nil answers them with 404.
	Facts http.HandlerFunc
	// Key reads the key that a request came with, in the form of an
	// Authorization header; nil reads that header.
	Key func(http.Header) string
}

// Key is the key that providers of the suite send, and ModelName the model
// that they are asked for.
const (
	Key       = "sk-test-0123456789abcdef"
	ModelName = "tiny-test"
)

// HTTP makes a Harness that plays on a loopback server.
func HTTP(w Wire) Harness {
	return Harness{HTTP: true, Start: func(t *testing.T, c Config, plays ...Play) *Session {
		s := &stage{wire: w, plays: plays, gone: make(chan struct{}, 64), closing: make(chan struct{})}
		srv, other := httptest.NewServer(s), httptest.NewServer(http.HandlerFunc(s.stray))
		s.other = other.URL
		transport := &http.Transport{ReadBufferSize: 32 << 10, DisableCompression: true, MaxResponseHeaderBytes: 64 << 10}
		t.Cleanup(func() {
			close(s.closing)
			transport.CloseIdleConnections()
			srv.Close()
			other.Close()
		})
		return &Session{
			Provider: w.New(t, srv.URL, c, &http.Client{Transport: transport}),
			Model:    ModelName, Seen: s.requests, Gone: s.gone, Strayed: s.strayed,
		}
	}}
}

// stage is the other side.
type stage struct {
	wire    Wire
	gone    chan struct{}
	closing chan struct{}

	other string // the address of another host

	mu     sync.Mutex
	plays  []Play
	seen   []Seen
	astray []http.Header
}

// stray is another host, which nothing should come to.
func (s *stage) stray(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.astray = append(s.astray, r.Header.Clone())
	w.WriteHeader(http.StatusNoContent)
}

func (s *stage) strayed() []http.Header {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.astray)
}

func (s *stage) requests() []Seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Seen(nil), s.seen...)
}

// take notes a request and gives its play.
func (s *stage) take(seen Seen) Play {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, seen)
	return s.plays[min(len(s.seen), len(s.plays))-1]
}

// ServeHTTP answers one request.
func (s *stage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != s.wire.Chat {
		if s.wire.Facts == nil {
			http.NotFound(w, r)
			return
		}
		s.wire.Facts(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	seen, err := s.wire.Seen(body)
	if err != nil {
		http.Error(w, "the suite can't read the request: "+err.Error(), http.StatusTeapot)
		return
	}
	seen.Key = r.Header.Get("Authorization")
	if s.wire.Key != nil {
		seen.Key = s.wire.Key(r.Header)
	}
	s.play(w, r, s.take(seen))
}

func (s *stage) play(w http.ResponseWriter, r *http.Request, p Play) {
	if p.Refuse != nil {
		s.refuse(w, p.Refuse)
		return
	}
	w.Header().Set("Content-Type", s.wire.ContentType)
	var out io.Writer = w
	flush := http.NewResponseController(w).Flush
	if h := p.HTTP; h != nil {
		if h.Redirect {
			http.Redirect(w, r, s.other+r.URL.Path, http.StatusTemporaryRedirect)
			return
		}
		for k, v := range h.Header {
			w.Header().Set(k, v)
		}
		if h.ContentType != "" {
			w.Header().Set("Content-Type", h.ContentType)
			_, _ = io.WriteString(w, h.Body)
			return
		}
		if h.Gzip {
			w.Header().Set("Content-Encoding", "gzip")
			zip := gzip.NewWriter(w)
			defer zip.Close()
			out, flush = zip, func() error { return errors.Join(zip.Flush(), http.NewResponseController(w).Flush()) }
		}
	}
	for _, pieces := range p.Writes {
		var text string
		for _, piece := range pieces {
			text += s.wire.Piece(piece)
		}
		if _, err := io.WriteString(out, text); err != nil || flush() != nil {
			s.gone <- struct{}{}
			return
		}
	}
	if p.HTTP != nil && p.HTTP.Drip {
		s.drip(w, r)
		return
	}
	switch p.End {
	case Whole:
		_, _ = io.WriteString(out, s.wire.Finish(p))
	case Cut:
		panic(http.ErrAbortHandler)
	case Linger:
		_, _ = io.WriteString(out, s.wire.Finish(p))
		_ = flush()
		s.hang(r)
	case Hang:
		s.hang(r)
	}
}

func (s *stage) refuse(w http.ResponseWriter, r *Refusal) {
	status, body := s.wire.Refuse(r.Why)
	if r.Status != 0 {
		status = r.Status
	}
	if r.RetryAfter != "" {
		w.Header().Set("Retry-After", r.RetryAfter)
	}
	for k, v := range r.Header {
		w.Header().Set(k, v)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

// hang waits for the provider to hang up.
func (s *stage) hang(r *http.Request) {
	select {
	case <-r.Context().Done():
		s.gone <- struct{}{}
	case <-s.closing:
	}
}

// drip keeps a connection alive, a byte at a time, until the provider hangs up.
func (s *stage) drip(w http.ResponseWriter, r *http.Request) {
	for i := 0; ; i++ {
		select {
		case <-r.Context().Done():
			s.gone <- struct{}{}
			return
		case <-s.closing:
			return
		case <-time.After(short / 20):
			_, _ = io.WriteString(w, s.wire.Idle[i%len(s.wire.Idle):][:1])
			_ = http.NewResponseController(w).Flush()
		}
	}
}
