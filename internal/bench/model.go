package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// model is a loopback server that speaks chat completions and answers at once.
type model struct {
	server *http.Server
	base   string
}

// startModel answers every request with n deltas of text.
func startModel(n int) (*model, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	answer := answerOf(n)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		w.Write(answer)
	})
	mux.HandleFunc("POST /v1/embeddings", embeddings)
	m := &model{
		server: &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second},
		base:   "http://" + l.Addr().String() + "/v1",
	}
	go m.server.Serve(l) // ends with close
	return m, nil
}

func (m *model) close() error { return m.server.Close() }

func answerOf(n int) []byte {
	const chunk = `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":%q},"finish_reason":null}]}` + "\n\n"
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, chunk, word(i))
	}
	b.WriteString(`data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n")
	b.WriteString("data: [DONE]\n\n")
	return []byte(b.String())
}

func word(i int) string {
	if i%12 == 11 {
		return "word\n"
	}
	return "word "
}

// text is what a client has to print.
func text(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(word(i))
	}
	return b.String()
}
