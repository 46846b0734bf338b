package providertest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

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
	return Harness{Start: func(t *testing.T, c Config, plays ...Play) *Session {
		s := &stage{wire: w, plays: plays, gone: make(chan struct{}, 64), closing: make(chan struct{})}
		srv := httptest.NewServer(s)
		transport := &http.Transport{ReadBufferSize: 32 << 10, DisableCompression: true}
		t.Cleanup(func() {
			close(s.closing)
			transport.CloseIdleConnections()
			srv.Close()
		})
		return &Session{
			Provider: w.New(t, srv.URL, c, &http.Client{Transport: transport}),
			Model:    ModelName, Seen: s.requests, Gone: s.gone,
		}
	}}
}

// stage is the other side.
type stage struct {
	wire    Wire
	gone    chan struct{}
	closing chan struct{}

	mu    sync.Mutex
	plays []Play
	seen  []Seen
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
		status, body := s.wire.Refuse(p.Refuse.Why)
		if p.Refuse.RetryAfter != "" {
			w.Header().Set("Retry-After", p.Refuse.RetryAfter)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
		return
	}
	w.Header().Set("Content-Type", s.wire.ContentType)
	flush := http.NewResponseController(w).Flush
	for _, pieces := range p.Writes {
		var out string
		for _, piece := range pieces {
			out += s.wire.Piece(piece)
		}
		if _, err := io.WriteString(w, out); err != nil || flush() != nil {
			s.gone <- struct{}{}
			return
		}
	}
	switch p.End {
	case Whole:
		_, _ = io.WriteString(w, s.wire.Finish(p))
	case Cut:
		panic(http.ErrAbortHandler)
	case Hang:
		select {
		case <-r.Context().Done():
			s.gone <- struct{}{}
		case <-s.closing:
		}
	}
}
