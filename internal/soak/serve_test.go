//go:build linux || darwin

package soak

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// server is a running `fettle serve`.
type server struct {
	w          *world
	p          *process
	url, token string
	cancel     context.CancelFunc
}

// serve starts a server and waits until it prints its address.
func (w *world) serve() (*server, error) {
	ctx, cancel := context.WithCancel(context.Background())
	s := &server{w: w, cancel: cancel}
	args := []string{"serve", "--print-url", "--listen", "127.0.0.1:0", "--log", "off", "--drain", "1s"}
	out, write, err := os.Pipe()
	if err != nil {
		cancel()
		return nil, err
	}
	defer out.Close()
	s.p, err = w.startTo(ctx, write, args...)
	write.Close()
	if err != nil {
		cancel()
		return nil, err
	}
	_ = out.SetReadDeadline(time.Now().Add(commandTime))
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		s.stop()
		return nil, fmt.Errorf("serve said nothing: %w\n%s", err, s.p.err.String())
	}
	address, token, ok := strings.Cut(strings.TrimSpace(line), "/#token=")
	if !ok {
		s.stop()
		return nil, fmt.Errorf("serve said %q", line)
	}
	s.url, s.token = address, token
	return s, nil
}

// stop ends the server, if it still runs.
func (s *server) stop() {
	s.p.signal(os.Interrupt)
	select {
	case <-s.p.ended:
	case <-time.After(commandTime):
		s.w.fault("serve didn't end after %s", commandTime)
		s.cancel()
		<-s.p.ended
	}
	s.cancel()
}

func (s *server) request(ctx context.Context, method, path, lastID string, body any) (*http.Response, error) {
	var r io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		r = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, s.url+path, r)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	req.Header.Set("Content-Type", "application/json")
	if lastID != "" {
		req.Header.Set("Last-Event-ID", lastID)
	}
	req.Close = true
	return http.DefaultClient.Do(req)
}

// clients ask the server and follow, with connections that break, until ctx ends.
func (s *server) clients(ctx context.Context) {
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for n := 0; ctx.Err() == nil && n < roundCommands/3; n++ {
				s.client(ctx)
			}
		})
	}
	wg.Wait()
}

// client begins a turn and follows it to its end, or to that of the server.
func (s *server) client(ctx context.Context) {
	body := map[string]any{"message": s.w.question(), "tools": []string{"write_file"}, "allow": []string{"write_file"}}
	if s.w.n(2) == 0 {
		body["conversation_id"] = 1 + s.w.n(8)
	}
	res, err := s.request(ctx, http.MethodPost, "/api/turns", "", body)
	if err != nil {
		s.pauseBetween(ctx)
		return
	}
	var turn struct {
		TurnID string `json:"turn_id"`
		Events string `json:"events"`
	}
	err = json.NewDecoder(res.Body).Decode(&turn)
	_ = res.Body.Close()
	if err != nil || res.StatusCode != http.StatusAccepted {
		s.pauseBetween(ctx)
		return
	}
	last := ""
	for tries := 0; tries < 40 && ctx.Err() == nil; tries++ {
		cut := 1 + s.w.n(12)
		if s.w.n(3) == 0 {
			cut = 1 << 20
		}
		var ended bool
		last, ended = s.follow(ctx, turn.Events, last, cut)
		if ended {
			return
		}
		select {
		case <-s.p.ended:
			return
		default:
		}
	}
}

// pauseBetween keeps a client whose server doesn't answer from asking all the time.
func (s *server) pauseBetween(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(20 * time.Millisecond):
	}
}

// follow reads a turn's events after an id, and breaks the connection after some.
func (s *server) follow(ctx context.Context, path, last string, most int) (lastID string, ended bool) {
	ctx, cancel := context.WithTimeout(ctx, commandTime)
	defer cancel()
	res, err := s.request(ctx, http.MethodGet, path+"?form=events", last, nil)
	if err != nil {
		return last, false
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusNoContent {
		return last, true
	}
	if res.StatusCode != http.StatusOK {
		return last, false
	}
	err = frames(res.Body, func(id, data string) bool {
		s.w.sawOne(data)
		last = id
		var e event
		ended = json.Unmarshal([]byte(data), &e) == nil && e.ends()
		most--
		return !ended && most > 0
	})
	return last, ended && err == nil
}

// frames reads the frames of a stream until one is no longer wanted. A frame that isn't
// whole was cut off with the connection.
func frames(r io.Reader, each func(id, data string) bool) error {
	in := bufio.NewReader(r)
	id, data := "", ""
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return err
		}
		line = strings.TrimRight(line, "\n")
		switch {
		case line == "" && data != "":
			if !each(id, data) {
				return nil
			}
			id, data = "", ""
		case strings.HasPrefix(line, "id: "):
			id = line[len("id: "):]
		case strings.HasPrefix(line, "data: "):
			data += line[len("data: "):]
		}
	}
}

// startTo is start with another standard output. The killer spares the process.
func (w *world) startTo(ctx context.Context, out *os.File, args ...string) (*process, error) {
	p := &process{w: w, args: args, ended: make(chan struct{}), spared: true}
	p.cmd = w.command(ctx, args...)
	p.cmd.Stdout, p.cmd.Stderr = out, &p.err
	return p, p.begin(ctx)
}

// dataPath is a path in the data directory.
func (w *world) dataPath(name string) string { return filepath.Join(w.data, name) }
