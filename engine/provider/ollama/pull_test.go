package ollama

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/providertest"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// The lines of a pull.
func stage(s string) string { return line(obj{"status": s}) }
func part(digest string, done, total int64) string {
	return line(obj{"status": "pulling " + digest, "digest": "sha256:" + digest, "total": total, "completed": done})
}
func failed(why string) string { return line(obj{"error": why}) }

var pulled = stage("verifying sha256 digest") + stage("writing manifest") + stage("success")

// pullServer plays one stream for each pull, in order.
func pullServer(t *testing.T, plays ...http.HandlerFunc) *Provider {
	t.Helper()
	at := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var req struct {
			Model  string `json:"model"`
			Stream *bool  `json:"stream"`
		}
		err := json.NewDecoder(r.Body).Decode(&req)
		if r.Method != http.MethodPost || r.URL.Path != "/api/pull" || err != nil || req.Stream == nil || !*req.Stream || req.Model != "qwen3" {
			t.Errorf("%s %s %+v: %v", r.Method, r.URL.Path, req, err)
		}
		play := plays[min(at, len(plays)-1)]
		at++
		play(w, r)
	}))
	transport := &http.Transport{}
	t.Cleanup(func() { transport.CloseIdleConnections(); srv.Close() })
	p, err := New(Options{Host: srv.URL, Client: &http.Client{Transport: transport}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// says plays text and ends the response; what lacks its end is cut.
func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }
}

// reports collects what a pull reports.
func reports(at *[]provider.Progress) func(provider.Progress) {
	return func(p provider.Progress) { *at = append(*at, p) }
}

func TestPull(t *testing.T) {
	t.Parallel()
	manifest := stage("pulling manifest")
	for name, c := range map[string]struct {
		stream string
		kind   provider.Kind // 0 for success
		last   provider.Progress
		says   string
	}{
		"several layers": {
			manifest + part("a", 10, 100) + part("a", 100, 100) + part("b", 1, 20) + part("b", 20, 20) + pulled,
			0, provider.Progress{Stage: "success", Done: 120, Total: 120, Fetched: 109}, "",
		},
		"nothing is missing": {
			manifest + part("a", 100, 100) + part("b", 20, 20) + pulled,
			0, provider.Progress{Stage: "success", Done: 120, Total: 120}, "",
		},
		"goes on where it stopped": {
			manifest + part("a", 60, 100) + part("a", 90, 100) + part("a", 100, 100) + pulled,
			0, provider.Progress{Stage: "success", Done: 100, Total: 100, Fetched: 40}, "",
		},
		"a part is fetched anew": {
			manifest + part("a", 50, 100) + part("a", 80, 100) + part("a", 20, 100) + part("a", 70, 100) + "\n" + part("a", 100, 100) + pulled,
			0, provider.Progress{Stage: "success", Done: 100, Total: 100, Fetched: 50}, "",
		},
		"numbers that can't be": {
			manifest + part("a", -5, 100) + part("a", 500, 100) + part("b", 7, -1) + part("c", 1<<62, 1<<62) + pulled,
			0, provider.Progress{Stage: "success", Done: 100 + maxBytes, Total: 100 + maxBytes, Fetched: 100}, "",
		},
		"cut": {
			manifest + part("a", 10, 100), provider.Broken, provider.Progress{Stage: "pulling a", Fetching: true, Done: 10, Total: 100}, "before its end",
		},
		"cut in a line": {
			manifest + part("a", 10, 100) + `{"status":"succ`, provider.Broken, provider.Progress{Stage: "pulling a", Fetching: true, Done: 10, Total: 100}, "before its end",
		},
		"empty": {"", provider.Broken, provider.Progress{}, "before its end"},
		"an error on the way": {
			manifest + part("a", 10, 100) + failed("max retries exceeded: unexpected EOF\x1b[31m"),
			provider.Broken, provider.Progress{Stage: "pulling a", Fetching: true, Done: 10, Total: 100}, "max retries exceeded",
		},
		"no such model": {
			manifest + failed("pull model manifest: file does not exist"), provider.UnknownModel, provider.Progress{Stage: "pulling manifest"}, "file does not exist",
		},
		"the disk is full": {
			manifest + part("a", 1, 9) + failed("write /m/sha256-a-partial: no space left on device"),
			provider.Rejected, provider.Progress{Stage: "pulling a", Fetching: true, Done: 1, Total: 9}, "no space left",
		},
		"an Ollama that is too old": {
			manifest + failed("pull model manifest: 412: The model you are attempting to pull requires a newer version of Ollama."),
			provider.Rejected, provider.Progress{Stage: "pulling manifest"}, "newer version",
		},
		"a private model": {
			manifest + failed("pull model manifest: unauthorized: access denied"), provider.Unauthorised, provider.Progress{Stage: "pulling manifest"}, "access denied",
		},
		"a web page": {"<html><title>Login</title>", provider.Undecodable, provider.Progress{}, "can't be read"},
		"control characters in a stage": {
			stage("pulling\x1b[2Jmanifest\nnow") + failed("x"), provider.Broken, provider.Progress{Stage: "pulling [2Jmanifest now"}, "x",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := pullServer(t, says(c.stream))
			var at []provider.Progress
			err := p.Pull(t.Context(), "qwen3", reports(&at))
			if kindOf(err) != c.kind || err != nil && !strings.Contains(err.Error(), c.says) && !errors.Is(err, provider.ErrCut) {
				t.Errorf("it ended with %v", err)
			}
			last := provider.Progress{}
			for _, step := range at {
				if step.Done < 0 || step.Done > step.Total || step.Fetched < 0 || step.Fetched > step.Done {
					t.Errorf("impossible: %+v", step)
				}
				last = step
			}
			if last != c.last {
				t.Errorf("it reported %+v last, want %+v", last, c.last)
			}
		})
	}
}

func TestPullIsRefused(t *testing.T) {
	t.Parallel()
	refuse := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status); _, _ = io.WriteString(w, body) }
	}
	for name, c := range map[string]struct {
		play http.HandlerFunc
		kind provider.Kind
	}{
		"a bad name":  {refuse(400, failed("invalid model name")), provider.UnknownModel},
		"a sign-in":   {refuse(401, failed("unauthorized")), provider.Unauthorised},
		"overloaded":  {refuse(503, failed("server busy")), provider.Overloaded},
		"no such API": {refuse(404, "404 page not found"), provider.Rejected},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := pullServer(t, c.play).Pull(t.Context(), "qwen3", func(provider.Progress) {}); kindOf(err) != c.kind {
				t.Errorf("it ended with %v", err)
			}
		})
	}
	p, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "two words", "../x", "a:b:c", strings.Repeat("x", 500)} {
		if err := p.Pull(t.Context(), name, func(provider.Progress) {}); kindOf(err) != provider.Rejected {
			t.Errorf("%q ended with %v", name, err)
		}
	}
}

// holds plays text and then nothing more until the client goes.
func holds(text string, gone chan<- struct{}) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, text)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(gone)
	}
}

func TestPullEndsWithItsContext(t *testing.T) {
	t.Parallel()
	gone := make(chan struct{})
	p := pullServer(t, holds(stage("pulling manifest")+part("a", 10, 100), gone))
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("a person had enough")
	err := p.Pull(ctx, "qwen3", func(at provider.Progress) {
		if at.Done > 0 {
			cancel(why)
		}
	})
	if !errors.Is(err, why) {
		t.Errorf("it ended with %v", err)
	}
	<-gone // the server saw it go
}

func TestPullGoesOnAfterABreak(t *testing.T) {
	t.Parallel()
	whole := stage("pulling manifest") + part("a", 90, 100) + part("a", 100, 100) + pulled
	p := pullServer(t, says(stage("pulling manifest")+part("a", 10, 100)+part("a", 40, 100)),
		says(part("a", 40, 100)+part("a", 90, 100)+failed("max retries exceeded")), says(whole))
	var waits int
	var at []provider.Progress
	err := provider.PullWithRetry(t.Context(), p, "qwen3", reports(&at), provider.RetryOptions{
		Attempts: 2, FirstWait: time.Millisecond, OnRetry: func(error, time.Duration, int) { waits++ },
	})
	if err != nil || waits != 2 || at[len(at)-1].Done != 100 {
		t.Errorf("%v after %d waits, %+v", err, waits, at[len(at)-1])
	}
	p = pullServer(t, says(part("a", 10, 100)))
	err = provider.PullWithRetry(t.Context(), p, "qwen3", reports(&at), provider.RetryOptions{Attempts: 3, FirstWait: time.Millisecond})
	if !errors.Is(err, provider.ErrCut) {
		t.Errorf("a server that never gets further: %v", err)
	}
}

// pipeTransport answers with a body that a test writes, without a network, so
// that the test's own clock is the only one.
type pipeTransport struct{ body *io.PipeReader }

func (p pipeTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	context.AfterFunc(req.Context(), func() { _ = p.body.CloseWithError(req.Context().Err()) })
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: p.body, Request: req}, nil
}

func TestPullStalls(t *testing.T) {
	t.Parallel()
	const between, first = 2 * time.Minute, 10 * time.Minute
	report := part("a", 10, 100)
	for name, c := range map[string]struct {
		play func(w io.Writer)
		want time.Duration // 0 is success
	}{
		"silence in a layer": {func(w io.Writer) { _, _ = io.WriteString(w, report) }, between},
		"the same number again and again": {func(w io.Writer) {
			for range 10_000 {
				if _, err := io.WriteString(w, report); err != nil {
					return
				}
				time.Sleep(60 * time.Millisecond)
			}
		}, between},
		"silence while it checks the digest": {func(w io.Writer) {
			_, _ = io.WriteString(w, report+part("a", 100, 100)+stage("verifying sha256 digest"))
			time.Sleep(first - time.Second)
			_, _ = io.WriteString(w, stage("success"))
		}, 0},
		"silence for ever after it": {func(w io.Writer) { _, _ = io.WriteString(w, part("a", 100, 100)) }, first},
		"slow but steady": {func(w io.Writer) {
			for i := range int64(101) {
				_, _ = io.WriteString(w, part("a", i, 100))
				time.Sleep(between - time.Second)
			}
			_, _ = io.WriteString(w, stage("success"))
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r, w := io.Pipe()
				p, err := New(Options{Client: &http.Client{Transport: pipeTransport{r}}, FirstByte: first, Between: between})
				if err != nil {
					t.Fatal(err)
				}
				var server sync.WaitGroup
				server.Go(func() { c.play(w) })
				begun := time.Now()
				err = p.Pull(t.Context(), "qwen3", func(provider.Progress) {})
				took := time.Since(begun)
				_ = r.Close()
				server.Wait()
				switch {
				case c.want == 0 && err != nil:
					t.Errorf("it ended with %v after %v", err, took)
				case c.want > 0 && (kindOf(err) != provider.SlowStart || took != c.want):
					t.Errorf("it ended with %v after %v, want %v", err, took, c.want)
				}
			})
		})
	}
}

func TestPullKeepsKeysOutOfMessages(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, failed("the registry didn't like "+r.Header.Get("Authorization")))
	}))
	transport := &http.Transport{}
	t.Cleanup(func() { transport.CloseIdleConnections(); srv.Close() })
	p, err := New(Options{
		Host: srv.URL, Client: &http.Client{Transport: transport},
		Key: func(context.Context) (string, error) { return providertest.Key, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	err = p.Pull(t.Context(), "qwen3", func(provider.Progress) {})
	if err == nil || strings.Contains(err.Error(), providertest.Key) || !strings.Contains(err.Error(), "the registry didn't like") {
		t.Errorf("it ended with %v", err)
	}
}

func TestRemove(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Method != http.MethodDelete || r.URL.Path != "/api/delete" {
			t.Errorf("%s %s", r.Method, r.URL.Path)
		}
		if !bytes.Contains(body, []byte(`"model":"here"`)) {
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, failed("model 'gone' not found"))
		}
	}))
	transport := &http.Transport{}
	t.Cleanup(func() { transport.CloseIdleConnections(); srv.Close() })
	p, err := New(Options{Host: srv.URL, Client: &http.Client{Transport: transport}})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Remove(t.Context(), "here"); err != nil {
		t.Error(err)
	}
	if err := p.Remove(t.Context(), "gone"); kindOf(err) != provider.UnknownModel {
		t.Errorf("it ended with %v", err)
	}
}

func FuzzPullDecoder(f *testing.F) {
	f.Add([]byte(part("a", 10, 100) + part("b", 3, 7) + pulled))
	f.Add([]byte(failed("x") + "\n\n{}"))
	f.Add([]byte(`{"status":"pulling","digest":"d","total":9223372036854775807,"completed":-9223372036854775808}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		_, stall := watchStall(context.Background(), wire.Limits{})
		defer stall.stop()
		var last provider.Progress
		d := &pullDecoder{
			lines: lines{src: bytes.NewReader(body)}, stall: stall, layers: map[string]*layer{},
			progress: func(at provider.Progress) { last = at },
		}
		_, err := wire.ReadAll(d, wire.Source{Provider: "ollama"})
		if last.Done < 0 || last.Done > last.Total || last.Fetched > last.Done || strings.ContainsAny(last.Stage, "\n\x1b") {
			t.Fatalf("it reported %+v", last)
		}
		if err == nil && last.Stage != "success" {
			t.Fatalf("it took %q for a whole pull", body)
		}
	})
}
