package engine

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/models"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/ollama"
	"github.com/fettle-cli/fettle/engine/provider/openai"
	"github.com/fettle-cli/fettle/engine/provider/providertest"
	"github.com/fettle-cli/fettle/engine/provider/wire"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/toolset"
)

// cutServer sends the first bytes of a stream and breaks the connection.
type cutServer struct {
	*httptest.Server
	stream atomic.Pointer[providertest.Stream]
	cut    atomic.Int64
}

func newCutServer(t *testing.T) *cutServer {
	s := &cutServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/api/show") {
			fmt.Fprint(w, `{"capabilities":["completion","tools"],"model_info":{"general.architecture":"llama","llama.context_length":8192}}`)
			return
		}
		stream := s.stream.Load()
		if stream.ContentType != "" {
			w.Header().Set("Content-Type", stream.ContentType)
		}
		w.WriteHeader(http.StatusOK)
		w.Write(stream.Wire[:s.cut.Load()])
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler) // the client sees the connection break
	}))
	t.Cleanup(s.Close)
	return s
}

// outcome is what a turn made of a stream, as far as people see it.
type outcome struct {
	text, calls, end string
}

func outcomeOf(events []event.Event) outcome {
	var o outcome
	for _, e := range events {
		switch b := e.Body.(type) {
		case event.TextDelta:
			o.text += b.Text
		case event.ToolStart:
			o.calls += b.Tool + string(b.Input) + "\n"
		case event.Complete:
			o.end = "complete"
		case event.Error:
			o.end = b.Code
		}
	}
	return o
}

// whole tells whether the response was taken for a finished one.
func (o outcome) whole() bool { return o.end == "complete" || o.end == string(fault.TurnLimit) }

// Every recorded stream, cut at every offset (on a long one, at every few):
// what came is kept and marked, never taken for a finished answer, and no call
// that is not whole is run.
func TestStreamsThatAreCut(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"openai", "ollama"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			server := newCutServer(t)
			b := cutBench(t, format, server.URL)
			for _, stream := range providertest.Streams(t, format) {
				server.stream.Store(&stream)
				server.cut.Store(int64(len(stream.Wire)))
				all := b.cutTurn(format, true)
				const offsets = 25
				step := max(1, len(stream.Wire)/offsets)
				for cut := len(stream.Wire) % step; cut < len(stream.Wire); cut += step {
					server.cut.Store(int64(cut))
					got := b.cutTurn(format, cut/step%10 != 0)
					if err := isPartOf(got, all); err != nil {
						t.Errorf("%s cut at %d of %d: %v\n got %+v\nof %+v", stream.Name, cut, len(stream.Wire), err, got, all)
					}
				}
			}
		})
	}
}

func isPartOf(got, all outcome) error {
	switch {
	case !strings.HasPrefix(all.text, got.text):
		return fmt.Errorf("its text is no beginning of the whole one")
	case got.whole() && (got.text != all.text || got.calls != all.calls):
		return fmt.Errorf("it was taken for a finished answer")
	case !got.whole() && got.calls != "":
		return fmt.Errorf("a call of an unfinished answer was run")
	case got.end == "":
		return fmt.Errorf("it has no end")
	}
	return nil
}

func cutBench(t *testing.T, format, url string) *bench {
	b := &bench{t: t, dir: t.TempDir()}
	reg := new(provider.Registry)
	err := reg.Add(format, func() (provider.Provider, error) {
		if format == "ollama" {
			return ollama.New(ollama.Options{Host: url})
		}
		return openai.New(openai.Options{Options: wire.Options{BaseURL: url}})
	})
	if err != nil {
		t.Fatal(err)
	}
	tools, err := toolset.NewSet()
	if err != nil {
		t.Fatal(err)
	}
	b.Engine = New(Options{
		Options: store.Options{DataDir: filepath.Join(b.dir, "data")},
		Models:  &models.Catalog{Registry: reg},
		Sources: catalog.Sources{Tools: tools},
		Retry:   provider.RetryOptions{Attempts: 1},
	})
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// cutTurn runs one turn of one response. One that is kept is compared with
// what the chat holds afterwards.
func (b *bench) cutTurn(format string, ephemeral bool) outcome {
	b.t.Helper()
	req := ask("go")
	req.Model, req.MaxSteps, req.Ephemeral = format+"/m", 1, ephemeral
	events := b.run(req)
	got := outcomeOf(events)
	if ephemeral {
		return got
	}
	conv, err := b.Chat(context.Background(), store.ChatRef{Last: true})
	if err != nil {
		b.t.Fatal(err)
	}
	kept := conv.Messages[len(conv.Messages)-1]
	if kept.Text() != got.text || (kept.Status == chat.Answered) != (got.end == "complete") {
		b.t.Errorf("shown %+v, kept %q as %s", got, kept.Text(), kept.Status)
	}
	return got
}
