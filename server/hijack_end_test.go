package server

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// An answer without a body has no chunks, and one that failed before it began is an
// answer nonetheless.
func TestALinesAnswerIsOneOfHTTP(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		write   func(*line)
		status  int
		chunked bool
		body    string
	}{
		"a body":           {func(l *line) { l.WriteHeader(200); _, _ = l.Write([]byte("one")); l.whole = true }, 200, true, "one"},
		"an empty body":    {func(l *line) { l.WriteHeader(200); l.whole = true }, 200, true, ""},
		"no content":       {func(l *line) { l.WriteHeader(204); l.whole = true }, 204, false, ""},
		"not modified":     {func(l *line) { l.WriteHeader(304); l.whole = true }, 304, false, ""},
		"nothing was said": {func(*line) {}, 500, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ours, theirs := net.Pipe()
			defer theirs.Close()
			l := &line{s: &Server{}, conn: ours, head: http.Header{"Content-Type": {"text/event-stream"}}}
			done := make(chan struct{})
			go func() {
				defer close(done)
				c.write(l)
				l.close()
			}()
			if err := theirs.SetReadDeadline(time.Now().Add(time.Minute)); err != nil { // bounds a failure alone
				t.Fatal(err)
			}
			in := bufio.NewReader(theirs)
			res, err := http.ReadResponse(in, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			body, err := io.ReadAll(res.Body)
			if err != nil || res.StatusCode != c.status || (len(res.TransferEncoding) > 0) != c.chunked || string(body) != c.body {
				t.Errorf("%s, transfer encoding %v, body %q, %v", res.Status, res.TransferEncoding, body, err)
			}
			if rest, err := io.ReadAll(in); err != nil || len(rest) > 0 {
				t.Errorf("behind the answer are %q, %v", rest, err)
			}
			<-done
		})
	}
}
