package mcp

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fettle-cli/fettle/internal/sanitize"
)

const (
	// sessionHeader tells the sessions of one modern client apart. An address with
	// ?session=NAME sets it.
	sessionHeader = "Fettle-Session"
	// requestHeader names a request of the legacy era to the call that it makes; what
	// a client writes there is replaced.
	requestHeader = "Fettle-Request"
	// versionHeader names the revision that a client speaks.
	versionHeader = "Mcp-Protocol-Version"
	// MaxBody bounds a message: arguments may hold a whole file.
	MaxBody = 16 << 20
	// idleTime is how long a legacy session may ask nothing: an editor is open for
	// a day.
	idleTime = 24 * time.Hour
	// stallTime is how long a client may take nothing of an answer.
	stallTime = 10 * time.Second
	// keepAlive is less than what proxies commonly wait, which is 30 s or 60 s.
	keepAlive = 15 * time.Second
	// bodyTime bounds the reading of a message.
	bodyTime = 30 * time.Second
)

// forKey is where a request carries the server that was made for it.
type forKey struct{}

// requested is the server of one request.
type requested struct {
	h      *Host
	filter string
	made   *served
}

// handlers are the SDK's, of both eras.
func (h *Host) handlers() (legacy, modern http.Handler) {
	legacy = sdk.NewStreamableHTTPHandler(func(r *http.Request) *sdk.Server {
		to, ok := r.Context().Value(forKey{}).(*requested)
		if !ok {
			return nil
		}
		return to.legacy(r)
	}, &sdk.StreamableHTTPOptions{
		SessionTimeout: idleTime, MaxRequestBodyBytes: MaxBody,
		DisableLocalhostProtection: true, // whoever has the Host looks at its name
	})
	modern = sdk.NewStreamableHTTPHandler(func(r *http.Request) *sdk.Server {
		to, ok := r.Context().Value(forKey{}).(*requested)
		if !ok {
			return nil
		}
		return h.sharedBy(to.filter).sdk
	}, &sdk.StreamableHTTPOptions{
		Stateless: true, MaxRequestBodyBytes: MaxBody, DisableLocalhostProtection: true, PropagateRequestCancellation: true,
	})
	return legacy, modern
}

// legacy makes the server of a session that begins. The SDK asks more than once,
// and also for sessions that there are; it uses then what it has.
func (q *requested) legacy(r *http.Request) *sdk.Server {
	if r.Header.Get("Mcp-Session-Id") != "" {
		return q.h.sharedBy(q.filter).sdk
	}
	if q.made == nil {
		q.h.endOldest()
		q.made = q.h.serve(q.filter, newSession(q.h.eng))
		if err := q.made.refresh(r.Context()); err != nil { // before the client listens for changes
			q.h.log.Warn("what is offered to MCP clients can't be read", "error", sanitize.Line(err.Error()))
		}
	}
	return q.made.sdk
}

// endOldest ends the legacy session that was used longest ago, where there are too
// many: clients come back and go without a word.
func (h *Host) endOldest() {
	h.mu.Lock()
	var oldest *served
	if len(h.open) >= maxSessions {
		for sv := range h.open {
			if oldest == nil || sv.used < oldest.used {
				oldest = sv
			}
		}
		delete(h.open, oldest)
	}
	h.mu.Unlock()
	if oldest != nil {
		h.log.Warn("an MCP session is ended, since there are too many", "sessions", maxSessions)
		oldest.close()
	}
}

// sharedBy is the server of all modern clients of an address.
func (h *Host) sharedBy(filter string) *served {
	h.mu.Lock()
	defer h.mu.Unlock()
	sv := h.shared[filter]
	if sv == nil {
		sv = h.serve(filter, nil)
		h.shared[filter] = sv
	}
	return sv
}

// ServeHTTP answers a client of either era. The path value toolset is the filter.
// Whoever calls it has looked at the token, at Host and at Origin.
func (h *Host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	filter := r.PathValue("toolset")
	now, err := h.offer(r.Context(), filter)
	switch {
	case err != nil:
		http.Error(w, explain(err), http.StatusInternalServerError)
		return
	case !now.known:
		http.Error(w, "there is no toolset "+sanitize.Cut(sanitize.Line(filter), maxShownName), http.StatusNotFound)
		return
	}
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Now().Add(bodyTime)) // a server that can't has none to set
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	if err != nil {
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			reject(w, http.StatusRequestEntityTooLarge, invalid(nil, "the message has more than %d MB", MaxBody>>20))
			return
		}
		reject(w, http.StatusBadRequest, invalid(nil, "the message cannot be read"))
		return
	}
	checked := &messages{version: cmp.Or(r.Header.Get(versionHeader), lastBatched)} // the header came with the revision after it
	if r.Method == http.MethodPost {
		var reply *rejection
		if body, reply = checked.check(trimLine(body)); reply != nil {
			reject(w, http.StatusBadRequest, reply)
			return
		}
	}
	_ = rc.SetReadDeadline(time.Time{})
	to := &requested{h: h, filter: filter}
	r = r.WithContext(context.WithValue(r.Context(), forKey{}, to))
	r.Body = io.NopCloser(bytes.NewReader(body))
	if name := r.URL.Query().Get("session"); name != "" {
		r.Header = r.Header.Clone()
		r.Header.Set(sessionHeader, name)
	}
	w.Header().Set("X-Accel-Buffering", "no") // a proxy that gathers an answer shows no progress
	answer := &stream{ResponseWriter: w, rc: rc, big: checked.big}
	defer answer.alive()()
	if !isModern(r, body) {
		h.serveLegacy(answer, r, to)
		return
	}
	if err := h.sharedBy(filter).refresh(r.Context()); err != nil { // headers are held against the tools before they are asked for
		http.Error(w, explain(err), http.StatusInternalServerError)
		return
	}
	h.modern.ServeHTTP(answer, r)
}

// markedID matches an id that markBig replaced, in the JSON of an answer.
var markedID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"id":"\\u0000fettle:(-?[0-9]+)"`) })

// reject answers a message that the SDK does not get with a JSON-RPC error.
func reject(w http.ResponseWriter, status int, r *rejection) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = (&messages{out: w}).answer(r) // a client that has disconnected receives nothing
}

// serveLegacy answers a client of the legacy era. What began no session leaves none
// behind. A call ends with the request that made it. The revisions of that era would
// rather not have a lost connection taken for a cancel, since streams with event ids
// can be come back to; these have none, so nobody could fetch what the call gives, and
// a tool of somebody who has left would go on changing files. The SDK doesn't tell a
// call of its request's end.
func (h *Host) serveLegacy(w http.ResponseWriter, r *http.Request, to *requested) {
	id := rand.Text()
	r.Header = r.Header.Clone()
	r.Header.Set(requestHeader, id)
	h.mu.Lock()
	h.requests[id] = r.Context()
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		delete(h.requests, id)
		unknown := to.made != nil && !to.made.attended
		h.mu.Unlock()
		if unknown {
			to.made.own.end()
		}
	}()
	h.legacy.ServeHTTP(w, r)
}

// untilGone ends a call with its request, where that is one of the legacy era over
// HTTP.
func (h *Host) untilGone(extra *sdk.RequestExtra, cancel context.CancelCauseFunc) (stop func() bool) {
	stop = func() bool { return true }
	if extra == nil || extra.Header.Get(requestHeader) == "" {
		return stop
	}
	h.mu.Lock()
	ctx := h.requests[extra.Header.Get(requestHeader)]
	h.mu.Unlock()
	if ctx == nil { // it is gone already
		cancel(errGone)
		return stop
	}
	return context.AfterFunc(ctx, func() { cancel(errGone) })
}

// isModern tells the era of a request: by its header, or by what each message of
// the modern one has.
func isModern(r *http.Request, body []byte) bool {
	if r.Header.Get(versionHeader) >= modernEra {
		return true
	}
	var m struct {
		Params struct {
			Meta map[string]json.RawMessage `json:"_meta"`
		} `json:"params"`
	}
	if json.Unmarshal(body, &m) != nil {
		return false
	}
	_, ok := m.Params.Meta["io.modelcontextprotocol/protocolVersion"]
	return ok
}

// stream is an answer that may take as long as it will, of which each piece is
// taken soon, and which isn't silent for long.
type stream struct {
	http.ResponseWriter
	rc  *http.ResponseController
	big bool // ids of the request were replaced; see markBig

	mu    sync.Mutex
	wrote time.Time
}

// Unwrap lets a ResponseController find the connection. Flushing is FlushError's.
func (s *stream) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// Write writes a piece, which the client has to take soon.
func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wrote = time.Now()
	_ = s.rc.SetWriteDeadline(s.wrote.Add(stallTime)) // a server that can't has none to set
	if s.big {                                        // the SDK writes each message whole
		if _, err := s.ResponseWriter.Write(markedID().ReplaceAll(p, []byte(`"id":$1`))); err != nil {
			return 0, err
		}
		return len(p), nil
	}
	return s.ResponseWriter.Write(p)
}

// WriteHeader begins the answer.
func (s *stream) WriteHeader(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ResponseWriter.WriteHeader(status)
}

// FlushError sends what was written.
func (s *stream) FlushError() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.rc.SetWriteDeadline(time.Now().Add(stallTime))
	return s.rc.Flush()
}

// alive writes a comment where a stream of events was silent for long. end stops
// that.
func (s *stream) alive() (end func()) {
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(keepAlive)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				s.comment()
			}
		}
	}()
	return func() { close(stop); <-ended }
}

func (s *stream) comment() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wrote.IsZero() || time.Since(s.wrote) < keepAlive || s.Header().Get("Content-Type") != "text/event-stream" {
		return // what is no stream yet may still become an error
	}
	_ = s.rc.SetWriteDeadline(time.Now().Add(stallTime))
	if _, err := io.WriteString(s.ResponseWriter, ":\n\n"); err == nil {
		_ = s.rc.Flush() // a client that is gone ends the request
	}
}
