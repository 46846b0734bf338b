package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/models"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
)

const (
	// shortChat and longChat are turns; each is a question and its answer.
	shortChat, longChat = 50, 5000
	// chatContext is the context of the model, in tokens. The short chat fits
	// it; the long one has to be summed up, about every fifteen turns.
	chatContext = 16384
	// mostChat is how much longer the next question may take in the long chat.
	mostChat = 1.5
	chatRuns = 21
)

// runChat prints how long the next question takes in a chat of ten thousand
// messages, beside one of a hundred.
func runChat(l *lab) error {
	if err := configureChat(l); err != nil {
		return err
	}
	dirs := map[string]string{}
	for _, name := range []string{"short", "long", "branch"} {
		dirs[name] = filepath.Join(l.dir, name)
	}
	fmt.Printf("filling a chat of %d messages and one of %d\n", 2*shortChat, 2*longChat)
	if err := fillChat(dirs["short"], shortChat, false); err != nil {
		return err
	}
	if err := fillChat(dirs["long"], longChat, false); err != nil {
		return err
	}
	if err := fillChat(dirs["branch"], longChat, true); err != nil {
		return err
	}
	rows := []struct{ label, store string }{
		{"100 messages", "short"},
		{"10,000, summed up as they came", "long"},
		{"10,000 on two branches, 100 on the active one", "branch"},
	}
	var programs []program
	var models []*countingModel
	for _, r := range rows {
		m, err := startCounting()
		if err != nil {
			return err
		}
		defer m.close()
		models = append(models, m)
		env := append(l.env(r.store, m.base), "FETTLE_CONFIG="+filepath.Join(l.dir, "chat-config"))
		programs = append(programs, program{r.label, []string{l.fettle, "ask", "-c", "-m", "openai/m", "--no-stdin", "--no-tools", "and what of that?"}, env, nil})
	}
	figures, err := l.measure(programs, chatRuns)
	if err != nil {
		return err
	}
	fmt.Printf("\nthe next question of a chat: fettle ask -c (medians of %d, a model that answers at once)\n", chatRuns)
	var slow []error
	for i, r := range rows {
		f := figures[i]
		fmt.Printf("  %-46s %9s  ratio %s  cpu %s, ratio %s  peak %s  sends %d KB\n", r.label, ms(f.wall), ratio(f.wall, figures[0].wall),
			ms(f.cpu), ratio(f.cpu, figures[0].cpu), mb(f.peak), models[i].sent.Load()>>10)
		if float64(f.cpu) > mostChat*float64(figures[0].cpu) {
			slow = append(slow, fmt.Errorf("%s: %s × is more than %.1f ×", r.label, ratio(f.cpu, figures[0].cpu), mostChat))
		}
	}
	fmt.Printf("  target: at most %.1f × the cpu; the rest of the wall time are file syncs, as many in each\n", mostChat)
	return errors.Join(slow...)
}

// configureChat tells fettle the context of the loopback model.
func configureChat(l *lab) error {
	dir := filepath.Join(l.dir, "chat-config")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	text := fmt.Sprintf("models: {openai/m: {context_length: %d}}\n", chatContext)
	return os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(text), 0o600)
}

// fillChat makes a store of one chat of so many turns with the real engine. It
// is summed up as it grows; where it is to branch, all but the first turns are
// on a branch of their own, and the chat goes on behind the first.
func fillChat(dir string, turns int, branch bool) error {
	work, err := os.MkdirTemp(memoryDir(), "fettle-bench-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	reg := new(provider.Registry)
	if err := reg.Add("talker", func() (provider.Provider, error) { return narrowTalker{}, nil }); err != nil {
		return err
	}
	eng := engine.New(engine.Options{
		Options: store.Options{DataDir: filepath.Join(work, "data"), Hold: true},
		Models:  &models.Catalog{Registry: reg, Configured: "talker/m"},
	})
	ref, leaf := store.ChatRef{}, ""
	r := rand.New(rand.NewPCG(3, 4))
	for i := 0; i < turns && err == nil; i++ {
		var done event.ResponsePayload
		if done, err = chatTurn(eng, ref, prose(r)); err != nil {
			break
		}
		ref = store.ChatRef{ID: done.ChatID}
		if i == shortChat-1 {
			leaf = done.MessageID
		}
	}
	if err == nil && branch {
		ref.Parent = leaf
		_, err = chatTurn(eng, ref, "another way")
	}
	if err == nil {
		_, err = eng.Fold(context.Background(), store.FoldAll)
	}
	if err := errors.Join(err, eng.Close()); err != nil {
		return err
	}
	return os.CopyFS(dir, os.DirFS(filepath.Join(work, "data")))
}

// chatTurn holds one turn.
func chatTurn(eng *engine.Engine, ref store.ChatRef, prompt string) (event.ResponsePayload, error) {
	ctx := context.Background()
	id, err := eng.Start(ctx, engine.TurnRequest{Chat: ref, Tools: []string{}, Parts: []provider.Part{{Kind: provider.TextPart, Text: prompt}}})
	if err != nil {
		return event.ResponsePayload{}, err
	}
	for e, err := range eng.Follow(ctx, id, 0) {
		if err != nil {
			return event.ResponsePayload{}, err
		}
		switch b := e.Body.(type) {
		case event.Error:
			return event.ResponsePayload{}, fmt.Errorf("a turn failed: %s", b.Message)
		case event.Complete:
			return b.Payload, nil
		}
	}
	return event.ResponsePayload{}, errors.New("a turn had no end")
}

// narrowTalker is a talker with a context.
type narrowTalker struct{ talker }

// Model tells the context.
func (narrowTalker) Model(_ context.Context, name string) (provider.Model, error) {
	return provider.Model{Provider: "talker", Name: name, ContextLength: chatContext}, nil
}

// countingModel is a loopback model that knows how much it was sent last.
type countingModel struct {
	model
	sent atomic.Int64
}

func startCounting() (*countingModel, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	m, answer := &countingModel{}, answerOf(20)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body) // a client that goes away is none of ours
		m.sent.Store(n)
		w.Header().Set("Content-Type", "text/event-stream")
		w.Write(answer)
	})
	m.server, m.base = &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}, "http://"+l.Addr().String()+"/v1"
	go m.server.Serve(l) // ends with close
	return m, nil
}
