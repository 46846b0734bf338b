package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/lockfile"
	"github.com/fettle-cli/fettle/server"
)

const (
	// helloTime bounds the first answer of a server on this machine. It takes
	// less than a millisecond; one that is stopped or swamped is not waited for.
	helloTime = 3 * time.Second
	// resumeHere and resumeThere are how long a broken stream is tried again: on
	// this machine a server that is started anew takes a second, and another way
	// to the answer is its journal; a network may be away for longer.
	resumeHere  = 2 * time.Second
	resumeThere = 20 * time.Second
	// resumePause is the first pause between two tries; each is twice the last.
	resumePause = 50 * time.Millisecond
	// maxAnswer bounds an answer that is one JSON object.
	maxAnswer = 32 << 20
)

// ErrGone says that a server answers no more.
var ErrGone = errors.New("fettle serve answers no more")

// ErrRefused says that a server begins no turn for now, and that nothing of one is
// left.
var ErrRefused = errors.New("fettle serve begins no more turns")

// ErrOther says that a server runs that this program can't speak to.
var ErrOther = errors.New("fettle serve is another version")

// base has the addresses of requests by the socket; their host is read by nobody.
const base = "http://fettle"

// Options say whose server is looked for.
type Options struct {
	DataDir string
	// Version is the program's own. Another's operations may mean other things.
	Version string
}

// Local is the running server of a data directory.
type Local struct {
	o    Options
	http *http.Client
	// Info is what the server said of itself when it was found.
	Info server.Info

	mu    sync.Mutex
	note  server.Note
	begun map[store.TurnID]*begun
}

// Find finds the server of a data directory: nil and no error where none runs.
// Where one runs that can't be used, the error is one that people can read.
func Find(ctx context.Context, o Options) (*Local, error) {
	note, err := server.ReadNote(o.DataDir)
	if err != nil { // none, or what no server of ours wrote
		return nil, nil
	}
	l := &Local{o: o, note: note, begun: map[store.TurnID]*begun{}}
	if note.Socket == "" {
		if !alive(o.DataDir) {
			return nil, nil
		}
		return nil, other(note, "it has no Unix socket")
	}
	l.http = &http.Client{Transport: &http.Transport{DialContext: l.dial, DisableCompression: true}, CheckRedirect: noRedirect}
	ctx, cancel := context.WithTimeout(ctx, helloTime)
	defer cancel()
	if l.Info, err = l.hello(ctx, note); err != nil {
		l.http.CloseIdleConnections()
		var refused *net.OpError
		switch {
		case errors.As(err, &refused) && refused.Op == "dial" && !alive(o.DataDir):
			return nil, nil // it was killed, and its note is left
		case errors.Is(err, ErrOther):
			return nil, err
		}
		return nil, other(note, "it doesn't answer")
	}
	return l, nil
}

func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// alive tells whether somebody is the server of a data directory. It takes the
// lock of servers for a moment where nobody has it, so it is asked only where a
// note says that there should be one.
func alive(dataDir string) bool {
	release, free, err := lockfile.TryShared(filepath.Join(dataDir, "locks", "serve"))
	if free {
		release()
	}
	return err == nil && !free
}

// other is why a server that runs can't be used.
func other(note server.Note, why string) error {
	return &fault.Fault{
		Code: fault.Busy, Msg: fmt.Sprintf("fettle serve, pid %d, has the store open, and %s", note.PID, why),
		Remedies: []fault.Remedy{fault.Try(fault.StopProcess, strconv.Itoa(note.PID)).That("and do it again")}, Err: ErrOther,
	}
}

// hello looks whose server it is that a note tells of.
func (l *Local) hello(ctx context.Context, note server.Note) (server.Info, error) {
	var info server.Info
	if err := l.call(ctx, http.MethodGet, "/api/owner/server", nil, &info); err != nil {
		var f *fault.Fault
		if errors.As(err, &f) { // it answers, and doesn't know the question
			return info, other(note, "is another version of fettle")
		}
		return info, err
	}
	switch {
	case info.API != server.OwnerAPI, info.Version != l.o.Version:
		return info, other(note, "is another version of fettle, "+server.CleanText(info.Version))
	case info.DataDir != l.o.DataDir:
		return info, other(note, "has other data, in "+server.CleanText(info.DataDir))
	}
	return info, nil
}

// dial connects to the socket of the note that was read last.
func (l *Local) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	l.mu.Lock()
	socket := l.note.Socket
	l.mu.Unlock()
	var d net.Dialer
	return d.DialContext(ctx, "unix", socket)
}

// again looks for the server anew, which may have been started again.
func (l *Local) again(ctx context.Context) error {
	note, err := server.ReadNote(l.o.DataDir)
	if err != nil {
		return ErrGone
	}
	l.mu.Lock()
	l.note = note
	l.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, helloTime)
	defer cancel()
	_, err = l.hello(ctx, note)
	return err
}

// Close lets go of what is open: turns that were begun here and live are cancelled.
func (l *Local) Close() {
	l.mu.Lock()
	all := l.begun
	l.begun = map[store.TurnID]*begun{}
	l.mu.Unlock()
	for _, b := range all {
		b.close()
	}
	l.http.CloseIdleConnections()
}

// send sends a request, and gives an answer that is a success; its body is the
// caller's to close.
func (l *Local) send(ctx context.Context, method, path string, body io.Reader) (*http.Response, error) {
	return send(ctx, l.http, method, base+path, body, nil)
}

// call sends a request and reads its JSON into out, if that isn't nil.
func (l *Local) call(ctx context.Context, method, path string, body io.Reader, out any) error {
	res, err := l.send(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	return decode(res, out)
}

func decode(res *http.Response, out any) error {
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil || out == nil {
		return err
	}
	return json.Unmarshal(raw, out)
}

// send is what Local and Remote share. A failure that the server tells is a fault.
func send(ctx context.Context, c *http.Client, method, url string, body io.Reader, header http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return nil, err
	}
	for name, values := range header {
		req.Header[name] = values
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := c.Do(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode < 300 {
		return res, nil
	}
	defer res.Body.Close()
	var said struct {
		Error server.Failure `json:"error"`
	}
	if err := decode(res, &said); err != nil || said.Error.Msg == "" {
		if res.StatusCode >= http.StatusBadGateway && res.StatusCode <= http.StatusGatewayTimeout {
			return nil, fmt.Errorf("it answers %s", res.Status) // what stands between; the server may come back
		}
		return nil, fault.New(fault.Failed, fmt.Sprintf("it answers %s and not as fettle does", res.Status))
	}
	return nil, heard(said.Error)
}
