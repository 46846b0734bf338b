package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/models"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
)

const (
	fewChats, manyChats = 100, 10_000
	turnsPerChat        = 10 // of two messages each
	wordsPerMessage     = 50
	// mostTimes is how much longer the first page may take in the large store.
	mostTimes = 3
)

// runChats prints how long a search takes in a store of ten thousand chats,
// beside the same one in a store of a hundred.
func runChats(l *lab) error {
	few, many := filepath.Join(l.dir, "few"), filepath.Join(l.dir, "many")
	for _, store := range []struct {
		dir string
		n   int
	}{{few, fewChats}, {many, manyChats}} {
		fmt.Printf("filling a store of %d chats of %d messages\n", store.n, 2*turnsPerChat)
		if err := fillChats(store.dir, store.n); err != nil {
			return err
		}
	}
	var slow []error
	for _, q := range []struct{ label, query string }{
		{"a rare word, in the 3 oldest chats", "quokka"},
		{"a common word, in every chat", "sky"},
		{"a phrase of common words, in the 3 oldest chats", `"blue sky"`},
		{"two common words that no chat has as a phrase", `"sky blue sky"`},
		{"the begin of common words", "sk*"},
		{"common words but not a rare one", "sky blue -quokka"},
	} {
		if err := searchBoth(l, q.label, q.query); err != nil {
			slow = append(slow, err)
		}
	}
	return errors.Join(slow...)
}

// searchBoth measures a search in both stores.
func searchBoth(l *lab, label, query string) error {
	args := []string{l.fettle, "chats", "search", "--", query}
	first := make([][]byte, 2)
	keep := func(i int) func([]byte) error {
		return func(out []byte) error { first[i] = bytes.Clone(out); return nil }
	}
	figures, err := l.measure([]program{
		{"100 chats", args, l.env("few", ""), keep(0)},
		{"10,000 chats", args, l.env("many", ""), keep(1)},
		{"fettle version", []string{l.fettle, "version"}, nil, nil},
		{"opening it", []string{l.fettle, "chats", "list", "-n", "1"}, l.env("many", ""), nil},
	}, 31)
	if err != nil {
		return err
	}
	start := figures[2].wall
	fmt.Printf("\n%s: fettle chats search %s (medians of 31)\n", label, query)
	fmt.Printf("  %-16s %9s, and fettle chats list -n 1 of the 10,000 chats %s\n", "fettle version", ms(start), ms(figures[3].wall))
	for i, name := range []string{"100 chats", "10,000 chats"} {
		f := figures[i]
		fmt.Printf("  %-16s %9s  ratio %s  without the program's start %s, ratio %s  cpu %s  peak %s  %d lines\n", name, ms(f.wall),
			ratio(f.wall, figures[0].wall), ms(f.wall-start), ratio(f.wall-start, figures[0].wall-start),
			ms(f.cpu), mb(f.peak), bytes.Count(first[i], []byte("\n")))
	}
	fmt.Printf("  target: at most %d ×\n", mostTimes)
	if figures[1].wall > mostTimes*figures[0].wall {
		return fmt.Errorf("%s: %s × is more than %d ×", query, ratio(figures[1].wall, figures[0].wall), mostTimes)
	}
	if a, b := bytes.Count(first[0], []byte("\n")), bytes.Count(first[1], []byte("\n")); a != b {
		return fmt.Errorf("%s: %d lines of 100 chats, %d of 10,000", query, a, b)
	}
	return nil
}

// fillChats makes a store of n chats with the real engine. A few chats go on
// side by side, and the store is held, as serve does it.
func fillChats(dir string, n int) error {
	work, err := os.MkdirTemp(memoryDir(), "fettle-bench-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	reg := new(provider.Registry)
	if err := reg.Add("talker", func() (provider.Provider, error) { return talker{}, nil }); err != nil {
		return err
	}
	eng := engine.New(engine.Options{
		Options: store.Options{DataDir: filepath.Join(work, "data"), Hold: true},
		Models:  &models.Catalog{Registry: reg, Configured: "talker/m"},
	})
	const together = 50 // chats between two folds
	for begun := 0; begun < n && err == nil; begun += together {
		errs := make([]error, together)
		var wg sync.WaitGroup
		for i := range together {
			wg.Go(func() { errs[i] = oneChat(eng, begun+i) })
		}
		wg.Wait()
		if err = errors.Join(errs...); err == nil {
			_, err = eng.Fold(context.Background(), store.FoldAll)
		}
	}
	if err := errors.Join(err, eng.Close()); err != nil {
		return err
	}
	return os.CopyFS(dir, os.DirFS(filepath.Join(work, "data")))
}

// oneChat holds the turns of a chat.
func oneChat(eng *engine.Engine, n int) error {
	ctx := context.Background()
	r := rand.New(rand.NewPCG(1, uint64(n)))
	ref := store.ChatRef{}
	for turn := range turnsPerChat {
		prompt := "blue and sky " + prose(r)
		if turn == 0 && n < 3 {
			prompt += " a quokka under a blue sky"
		}
		id, err := eng.Start(ctx, engine.TurnRequest{Chat: ref, Parts: []provider.Part{{Kind: provider.TextPart, Text: prompt}}})
		if err != nil {
			return err
		}
		for e, err := range eng.Follow(ctx, id, 0) {
			if err != nil {
				return err
			}
			switch b := e.Body.(type) {
			case event.Error:
				return fmt.Errorf("a turn failed: %s", b.Message)
			case event.Complete:
				ref = store.ChatRef{ID: b.Payload.ChatID}
			}
		}
	}
	return nil
}

// prose is text whose words are as often as in a language: few are in most
// texts, and most in few.
func prose(r *rand.Rand) string {
	zipf := rand.NewZipf(r, 1.1, 4, 50_000)
	words := make([]string, wordsPerMessage)
	for i := range words {
		words[i] = spell(zipf.Uint64())
	}
	return strings.Join(words, " ")
}

// spell makes a word of a number.
func spell(n uint64) string {
	const consonants, vowels = "bdfgklmnprstvz", "aeiou"
	out := ""
	for n++; n > 0; n /= 70 {
		out += string(consonants[n%14]) + string(vowels[n/14%5])
	}
	return out
}

// talker is a model that says something else each time.
type talker struct{}

// Name is the provider's.
func (talker) Name() string { return "talker" }

// Model knows every model.
func (talker) Model(_ context.Context, name string) (provider.Model, error) {
	return provider.Model{Provider: "talker", Name: name}, nil
}

// Stream answers at once.
func (talker) Stream(context.Context, *provider.Request) iter.Seq2[[]provider.Delta, error] {
	return func(yield func([]provider.Delta, error) bool) {
		r := rand.New(rand.NewPCG(2, rand.Uint64()))
		yield([]provider.Delta{
			{Kind: provider.Content, Text: prose(r)},
			{Kind: provider.Meta, Meta: &event.Meta{StopReason: "stop"}},
		}, nil)
	}
}
