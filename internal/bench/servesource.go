package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// source is where the streams of the serve figures come from: a model for fettle,
// and for the proxy the streams themselves, frame by frame as fettle writes them.
// Each event has a unit in its text, @PLACE:TIME; with the time at which it left
// here. That is written without letters and digits: a search index would have a
// million words of numbers that no text has.
type source struct {
	server *http.Server
	base   string

	mu      sync.Mutex
	plan    servePlan
	begin   chan struct{} // closed when events may come
	waiting int           // streams that wait for it
	epoch   time.Time
}

// servePlan is how many events a stream has, and how long each waits for its turn;
// 0 sends as fast as they are taken.
type servePlan struct {
	events int
	every  time.Duration
	epoch  time.Time // when the run began
}

// wait returns after a while, or when ctx ends.
func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

func startSource() (*source, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &source{base: "http://" + l.Addr().String(), begin: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.model)
	mux.HandleFunc("GET /events/{turn}", s.events)
	mux.HandleFunc("POST /v1/messages", s.anthropic)
	mux.HandleFunc("POST /v1/embeddings", embeddings)
	s.server = &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	s.server.SetKeepAlivesEnabled(false) // connections that wait are no goroutines of a turn's
	go s.server.Serve(l)                 // ends with close
	return s, nil
}

func (s *source) close() error { return s.server.Close() }

// next prepares for another run.
func (s *source) next(p servePlan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plan, s.begin, s.waiting = p, make(chan struct{}), 0
}

// open lets events come once so many streams wait for them.
func (s *source) open(streams int) error {
	for end := time.Now().Add(serveWait); ; wait(context.Background(), 5*time.Millisecond) {
		s.mu.Lock()
		n := s.waiting
		if n >= streams {
			s.epoch = time.Now()
			close(s.begin)
		}
		s.mu.Unlock()
		if n >= streams {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("%d of %d streams were opened", n, streams)
		}
	}
}

// wait gives what the streams of this run are like, once they may begin.
func (s *source) wait(r *http.Request) (p servePlan, ok bool) {
	s.mu.Lock()
	s.waiting++
	p, begin := s.plan, s.begin
	s.mu.Unlock()
	select {
	case <-begin:
	case <-r.Context().Done():
		return p, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p.epoch = s.epoch
	return p, true
}

// send writes one frame after the other, each when its time has come.
func send(w http.ResponseWriter, r *http.Request, p servePlan, from int, frame func(dst []byte, k int) []byte) {
	rc := http.NewResponseController(w)
	var buf []byte
	for k := from; k < p.events && r.Context().Err() == nil; k++ {
		if p.every > 0 {
			wait(r.Context(), time.Until(p.epoch.Add(time.Duration(k)*p.every)))
		}
		buf = frame(buf[:0], k)
		if _, err := w.Write(buf); err != nil {
			return
		}
		if rc.Flush() != nil {
			return
		}
	}
}

// timeDigits write a time in hexadecimal, its last digit first.
const timeDigits = "!#$%()*+,-./=?^~"

func timeOf(digits []byte) (at time.Time, ok bool) {
	ns := int64(0)
	for i := len(digits) - 1; i >= 0; i-- {
		d := strings.IndexByte(timeDigits, digits[i])
		if d < 0 || i > 15 {
			return at, false
		}
		ns = ns<<4 | int64(d)
	}
	return time.Unix(0, ns), ns > 0
}

// unit is the text of event k, about what a model says in one piece.
func unit(dst []byte, k int) []byte {
	dst = append(dst, '@')
	dst = strconv.AppendInt(dst, int64(k), 10)
	dst = append(dst, ':')
	for at := time.Now().UnixNano(); at > 0; at >>= 4 {
		dst = append(dst, timeDigits[at&0xf])
	}
	return append(dst, "; a few words of an answer that a model gives."...)
}

// model is chat completions.
func (s *source) model(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "text/event-stream")
	http.NewResponseController(w).Flush()
	p, ok := s.wait(r)
	if !ok {
		return
	}
	const head = `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"`
	send(w, r, p, 0, func(dst []byte, k int) []byte {
		return append(unit(append(dst, head...), k), "\"},\"finish_reason\":null}]}\n\n"...)
	})
	io.WriteString(w, `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
}

// events is the bare stream, after Last-Event-ID.
func (s *source) events(w http.ResponseWriter, r *http.Request) {
	after, _ := strconv.Atoi(r.Header.Get("Last-Event-ID")) // none is 0
	w.Header().Set("Content-Type", "text/event-stream")
	http.NewResponseController(w).Flush()
	p, ok := s.wait(r)
	if !ok {
		return
	}
	const turn = "01M8GRD3NE5KP5GV5NVZ6JTX01"
	send(w, r, p, after, func(dst []byte, k int) []byte {
		dst = append(dst, "id: "...)
		dst = strconv.AppendInt(dst, int64(k+1), 10)
		dst = append(dst, "\ndata: {\"type\":\"text_delta\",\"turn_id\":\""+turn+"\",\"seq\":"...)
		dst = strconv.AppendInt(dst, int64(k+1), 10)
		dst = append(dst, `,"time":"`...)
		dst = time.Now().UTC().AppendFormat(dst, time.RFC3339Nano)
		return append(unit(append(dst, `","text":"`...), k), "\"}\n\n"...)
	})
	fmt.Fprintf(w, "id: %d\ndata: {\"type\":\"complete\"}\n\n", p.events+1)
}

// units calls fn with each unit of a line.
func units(line []byte, fn func(place int, at time.Time) error) error {
	for {
		_, rest, found := bytes.Cut(line, []byte("@"))
		if !found {
			return nil
		}
		mark, after, found := bytes.Cut(rest, []byte(";"))
		place, digits, both := bytes.Cut(mark, []byte(":"))
		k, err := strconv.Atoi(string(place))
		at, ok := timeOf(digits)
		if !found || !both || err != nil || !ok {
			return fmt.Errorf("no unit: %.40q", rest)
		}
		if err := fn(k, at); err != nil {
			return err
		}
		line = after
	}
}
