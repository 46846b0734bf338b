package wire

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fettle-cli/fettle/engine/provider"
)

// wordReader is a decoder of words on lines; "." ends a response, "-" is a
// keep-alive, "+" a piece of a call, "!" the finish reason.
type wordReader struct {
	r        *bufio.Reader
	finished bool
}

func (d *wordReader) End(dst []provider.Delta) ([]provider.Delta, error) {
	return append(dst, provider.Delta{Kind: provider.Content, Text: "(end)"}), nil
}

func (d *wordReader) Read(dst []provider.Delta) (Read, error) {
	got, err := d.word(dst)
	got.Finished = d.finished
	return got, err
}

func (d *wordReader) word(dst []provider.Delta) (Read, error) {
	line, err := d.r.ReadString('\n')
	if err != nil {
		return Read{Deltas: dst}, err
	}
	switch word := strings.TrimSpace(line); word {
	case ".":
		return Read{Deltas: dst, Done: true}, nil
	case "!":
		d.finished = true
		return Read{Deltas: dst}, nil
	case "?":
		return Read{Deltas: dst}, &FormatError{Err: errors.New("garbage")}
	case "-":
		return Read{Deltas: dst}, nil
	case "+":
		return Read{Deltas: dst, Progress: true}, nil
	default:
		return Read{Deltas: append(dst, provider.Delta{Kind: provider.Content, Text: word}), Progress: true}, nil
	}
}

func exchange(t *testing.T, c *http.Client, address string, l Limits) *Exchange {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	req, err := NewRequest(t.Context(), http.MethodPost, u, []byte(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	return &Exchange{
		Client: Client(c), Limits: l, Request: req, Source: Source{Provider: "p", Model: "m", Address: Address(u)},
		Decode: func(r *http.Response) (Decoder, error) { return &wordReader{r: bufio.NewReader(r.Body)}, nil },
	}
}

func run(ctx context.Context, x *Exchange) (said string, err error) {
	err = x.Run(ctx, func(batch []provider.Delta) bool {
		for _, d := range batch {
			said += d.Text + " "
		}
		return true
	})
	return strings.TrimSpace(said), err
}

// script is a transport whose response is written by a function, in the
// bubble's own time.
type script func(w io.Writer, pause func(time.Duration))

func (s script) RoundTrip(req *http.Request) (*http.Response, error) {
	r, w := io.Pipe()
	ctx := req.Context()
	context.AfterFunc(ctx, func() { w.CloseWithError(ctx.Err()) })
	go func() { // ends when the response is read or ctx ends
		s(w, func(d time.Duration) {
			select {
			case <-time.After(d):
			case <-ctx.Done():
			}
		})
		w.Close()
	}()
	return &http.Response{StatusCode: 200, Body: r, Header: http.Header{}, Request: req}, nil
}

func TestLimits(t *testing.T) {
	t.Parallel()
	limits := Limits{First: time.Minute, Between: 10 * time.Second}
	say := func(w io.Writer, s string) { _, _ = io.WriteString(w, s+"\n") }
	for name, c := range map[string]struct {
		play  script
		said  string
		after time.Duration
		words string
	}{
		"in time": {func(w io.Writer, pause func(time.Duration)) {
			pause(59 * time.Second)
			say(w, "a")
			pause(9 * time.Second)
			say(w, "b")
			say(w, ".")
		}, "a b", 68 * time.Second, ""},
		"no first byte": {func(_ io.Writer, pause func(time.Duration)) { pause(time.Hour) }, "", time.Minute, "no answer came for 1m0s"},
		"keep-alives are no answer": {func(w io.Writer, pause func(time.Duration)) {
			for range 100 {
				say(w, "-")
				pause(5 * time.Second)
			}
		}, "", time.Minute, "no answer came for 1m0s"},
		"keep-alives don't make it go on": {func(w io.Writer, pause func(time.Duration)) {
			say(w, "a")
			for range 100 {
				pause(3 * time.Second)
				say(w, "-")
			}
		}, "a", 10 * time.Second, "nothing more came for 10s"},
		"pieces of a call do": {func(w io.Writer, pause func(time.Duration)) {
			for range 10 {
				pause(9 * time.Second)
				say(w, "+")
			}
			say(w, "a")
			say(w, ".")
		}, "a", 90 * time.Second, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				said, err := run(t.Context(), exchange(t, &http.Client{Transport: c.play}, "http://x", limits))
				took := time.Since(begun)
				var e *provider.Error
				slow := errors.As(err, &e) && e.Kind == provider.SlowStart && e.Message == c.words
				if said != c.said || slow != (c.words != "") || took < c.after || took > c.after+drainLimit {
					t.Errorf("it said %q, ended after %v with %v", said, took, err)
				}
			})
		})
	}
}

// After the finish reason a response has the grace to end, however it goes on.
func TestTheEndFollowsTheFinishReason(t *testing.T) {
	t.Parallel()
	limits := Limits{First: time.Minute, Between: 10 * time.Second}
	say := func(w io.Writer, s string) { _, _ = io.WriteString(w, s+"\n") }
	silence := func(w io.Writer, pause func(time.Duration)) { pause(time.Hour) }
	keepAlives := func(w io.Writer, pause func(time.Duration)) {
		for range 1000 {
			pause(100 * time.Millisecond)
			say(w, "-")
		}
	}
	for name, c := range map[string]struct {
		then  script // after a word and the finish reason
		said  string
		after time.Duration
	}{
		"silence":        {silence, "a (end)", DefaultGrace},
		"keep-alives":    {keepAlives, "a (end)", DefaultGrace},
		"a clean end":    {func(io.Writer, func(time.Duration)) {}, "a (end)", 0},
		"a broken body":  {func(w io.Writer, _ func(time.Duration)) { _ = w.(*io.PipeWriter).CloseWithError(io.ErrUnexpectedEOF) }, "a (end)", 0},
		"garbage":        {func(w io.Writer, _ func(time.Duration)) { say(w, "?") }, "a (end)", 0},
		"the proper end": {func(w io.Writer, pause func(time.Duration)) { pause(time.Second); say(w, "."); pause(time.Hour) }, "a", time.Second},
		"more of the answer": {func(w io.Writer, pause func(time.Duration)) {
			pause(1500 * time.Millisecond)
			say(w, "b")
			pause(time.Hour)
		}, "a b (end)", 3500 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				play := script(func(w io.Writer, pause func(time.Duration)) { say(w, "a"); say(w, "!"); c.then(w, pause) })
				said, err := run(t.Context(), exchange(t, &http.Client{Transport: play}, "http://x", limits))
				if took := time.Since(begun); said != c.said || err != nil || took < c.after || took > c.after+drainLimit {
					t.Errorf("it said %q, ended after %v with %v", said, took, err)
				}
			})
		})
	}
}

// A cancelled turn does not become a complete one, whatever has come.
func TestACancelAfterTheFinishReasonIsACancel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		play := script(func(w io.Writer, pause func(time.Duration)) { _, _ = io.WriteString(w, "a\n!\n"); pause(time.Hour) })
		if said, err := run(ctx, exchange(t, &http.Client{Transport: play}, "http://x", Limits{})); said != "a" || !errors.Is(err, context.Canceled) {
			t.Errorf("it said %q and ended with %v", said, err)
		}
	})
}

func TestTheClockStandsStillForTheListener(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		play := script(func(w io.Writer, _ func(time.Duration)) { _, _ = io.WriteString(w, "a\nb\n.\n") })
		x := exchange(t, &http.Client{Transport: play}, "http://x", Limits{First: time.Second, Between: time.Second})
		n := 0
		err := x.Run(t.Context(), func([]provider.Delta) bool { n++; time.Sleep(time.Hour); return true })
		if err != nil || n != 2 {
			t.Errorf("%d batches, %v", n, err)
		}
	})
}

func TestACancelSaysWhy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		why := errors.New("a person pressed Escape")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(why) })
		play := script(func(_ io.Writer, pause func(time.Duration)) { pause(time.Hour) })
		_, err := run(ctx, exchange(t, &http.Client{Transport: play}, "http://x", Limits{}))
		var e *provider.Error
		if !errors.Is(err, why) || !errors.As(err, &e) || e.Kind != provider.Broken {
			t.Errorf("it ended with %v", err)
		}
	})
}

func TestAFinishedConnectionIsUsedAgain(t *testing.T) {
	t.Parallel()
	var conns atomic.Int32
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "a\n.\n")
	}))
	srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			conns.Add(1)
		}
	}
	srv.Start()
	defer srv.Close()
	tr := &http.Transport{}
	defer tr.CloseIdleConnections()
	for range 3 {
		if said, err := run(t.Context(), exchange(t, &http.Client{Transport: tr}, srv.URL, Limits{})); said != "a" || err != nil {
			t.Fatalf("it said %q, %v", said, err)
		}
	}
	if n := conns.Load(); n != 1 {
		t.Errorf("%d connections", n)
	}
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	var leaked atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { leaked.Add(1) }))
	defer other.Close()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /moved", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "a\n.\n") })
	mux.HandleFunc("POST /here", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/moved", http.StatusTemporaryRedirect)
	})
	mux.HandleFunc("POST /elsewhere", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+"/steal?q=1", http.StatusTemporaryRedirect)
	})
	mux.HandleFunc("POST /as-get", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/moved", http.StatusFound) })
	mux.HandleFunc("POST /round", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/round", http.StatusTemporaryRedirect)
	})
	srv := httptest.NewServer(mux)
	defer srv.Close()
	tr := &http.Transport{}
	defer tr.CloseIdleConnections()
	for path, ok := range map[string]bool{"/here": true, "/elsewhere": false, "/as-get": false, "/round": false} {
		x := exchange(t, &http.Client{Transport: tr}, srv.URL+path, Limits{})
		x.Request.Header.Set("X-Api-Key", "secret-0123456789")
		said, err := run(t.Context(), x)
		var e *provider.Error
		switch {
		case ok && (err != nil || said != "a"):
			t.Errorf("%s: it said %q, %v", path, said, err)
		case !ok && (!errors.As(err, &e) || e.Kind != provider.Rejected || !strings.Contains(e.Message, "redirects to http://127.0.0.1:")):
			t.Errorf("%s: %v", path, err)
		}
	}
	if leaked.Load() > 0 {
		t.Error("the other host was asked")
	}
}

func TestNobodyThere(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	secret := httptest.NewUnstartedServer(http.NotFoundHandler())
	secret.Config.ErrorLog = log.New(io.Discard, "", 0)
	secret.StartTLS()
	defer secret.Close()
	for name, address := range map[string]string{
		"nobody listens":  closed.URL,
		"no such name":    "http://nobody.invalid",
		"http, not https": strings.Replace(plain.URL, "http:", "https:", 1),
		"unknown issuer":  secret.URL,
	} {
		tr := &http.Transport{}
		_, err := run(t.Context(), exchange(t, &http.Client{Transport: tr}, address, Limits{}))
		tr.CloseIdleConnections()
		var e *provider.Error
		if !errors.As(err, &e) || e.Kind != provider.Unreachable || e.Address != address || e.Message == "" || strings.Contains(e.Message, "127.0.0.1") {
			t.Errorf("%s: %+v", name, err)
		}
	}
}

func TestABodyThatIsTooLong(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for range MaxBody/(1<<20) + 1 {
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				return
			}
		}
	}))
	defer srv.Close()
	tr := &http.Transport{}
	defer tr.CloseIdleConnections()
	_, err := exchange(t, &http.Client{Transport: tr}, srv.URL, Limits{}).Fetch(t.Context())
	var e *provider.Error
	if !errors.As(err, &e) || e.Kind != provider.Undecodable {
		t.Errorf("it ended with %v", err)
	}
}
