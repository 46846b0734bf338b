package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/models"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/script"
	"github.com/fettle-cli/fettle/engine/store"
)

// runAsk prints the figures of a question.
func runAsk(l *lab) error {
	for _, part := range []func(*lab) error{askOnce, askLong, openStore} {
		if err := part(l); err != nil {
			return err
		}
	}
	return nil
}

// env gives fettle a data directory of its own and the loopback model.
func (l *lab) env(data, base string) []string {
	return []string{
		"FETTLE_DATA=" + filepath.Join(l.dir, data), "FETTLE_CONFIG=" + filepath.Join(l.dir, "config"),
		"OPENAI_BASE_URL=" + base, "OPENAI_API_KEY=none", "NO_COLOR=1",
	}
}

func askOnce(l *lab) error {
	m, err := startModel(20)
	if err != nil {
		return err
	}
	defer m.close()
	want := text(20)
	same := func(out []byte) error {
		if strings.TrimSpace(string(out)) != strings.TrimSpace(want) {
			return fmt.Errorf("printed %q", out)
		}
		return nil
	}
	env := l.env("once", m.base)
	programs := []program{
		{"floor", []string{l.floor, m.base, "why is the sky blue?"}, nil, same},
		{"fettle version", []string{l.fettle, "version"}, env, nil},
		{"fettle ask", []string{l.fettle, "ask", "-m", "openai/m", "--no-stdin", "why is the sky blue?"}, env, same},
		{"… ephemeral", []string{l.fettle, "ask", "--ephemeral", "-m", "openai/m", "--no-stdin", "why is the sky blue?"}, env, same},
	}
	figures, err := l.measure(programs, 31)
	if err != nil {
		return err
	}
	fmt.Println("\none question, a model that answers at once (medians of 31)")
	for i, p := range programs {
		f := figures[i]
		fmt.Printf("  %-16s %9s  %8s over the floor  cpu %9s  peak %s\n",
			p.label, ms(f.wall), ms(f.wall-figures[0].wall), ms(f.cpu), mb(f.peak))
	}
	sync, err := syncPart(l, m)
	if err != nil {
		return err
	}
	fmt.Printf("  of which file syncs %s (median of 15, told by fettle ask -o json)\n", ms(sync))
	fmt.Println("  target: within 25 ms of the floor without the syncs, under 60 MB")
	return nil
}

// syncPart is how long a question waits for file syncs, by its own account.
func syncPart(l *lab, m *model) (time.Duration, error) {
	var syncs []time.Duration
	for range 15 {
		_, err := l.runOnce(program{
			"fettle ask -o json", []string{l.fettle, "ask", "-o", "json", "-m", "openai/m", "--no-stdin", "hi"}, l.env("once", m.base),
			func(out []byte) error {
				var answer struct {
					Timing struct {
						Sync float64 `json:"sync_ms"`
					} `json:"timing"`
				}
				if err := json.Unmarshal(out, &answer); err != nil {
					return err
				}
				syncs = append(syncs, time.Duration(answer.Timing.Sync*1e6))
				return nil
			},
		})
		if err != nil {
			return 0, err
		}
	}
	slices.Sort(syncs)
	return syncs[len(syncs)/2], nil
}

func askLong(l *lab) error {
	const deltas = 100_000
	m, err := startModel(deltas)
	if err != nil {
		return err
	}
	defer m.close()
	want := strings.TrimSpace(text(deltas))
	same := func(out []byte) error {
		if strings.TrimSpace(string(out)) != want {
			return fmt.Errorf("printed %d bytes instead of %d", len(out), len(want))
		}
		return nil
	}
	programs := []program{
		{"floor", []string{l.floor, m.base, "go on"}, nil, same},
		{"fettle ask", []string{l.fettle, "ask", "-m", "openai/m", "--no-stdin", "go on"}, l.env("long", m.base), same},
	}
	figures, err := l.measure(programs, 7)
	if err != nil {
		return err
	}
	fmt.Printf("\nstreaming %d small deltas (medians of 7)\n", deltas)
	for i, p := range programs {
		f := figures[i]
		fmt.Printf("  %-16s %9s  cpu %9s  ratio %s  peak %s\n", p.label, ms(f.wall), ms(f.cpu), ratio(f.cpu, figures[0].cpu), mb(f.peak))
	}
	fmt.Println("  target: at most 3 × the floor's cpu, under 60 MB")
	return nil
}

// openStore compares a command that opens a store of one chat with the same in
// one of ten thousand.
func openStore(l *lab) error {
	const chats = 10_000
	small, large := filepath.Join(l.dir, "small"), filepath.Join(l.dir, "large")
	for dir, n := range map[string]int{small: 1, large: chats} {
		if err := fillStore(dir, n); err != nil {
			return err
		}
	}
	args := []string{l.fettle, "chats", "list", "--limit", "1"}
	programs := []program{
		{"1 chat", args, l.env("small", ""), nil},
		{"10,000 chats", args, l.env("large", ""), nil},
		{"fettle version", []string{l.fettle, "version"}, nil, nil},
	}
	figures, err := l.measure(programs, 31)
	if err != nil {
		return err
	}
	fmt.Println("\nopening the store: fettle chats list --limit 1 (medians of 31)")
	start := figures[2].wall
	for i, p := range programs[:2] {
		f := figures[i]
		fmt.Printf("  %-16s %9s  ratio %s  without the program's start %s, ratio %s  peak %s\n", p.label, ms(f.wall),
			ratio(f.wall, figures[0].wall), ms(f.wall-start), ratio(f.wall-start, figures[0].wall-start), mb(f.peak))
	}
	fmt.Println("  target: at most 1.2 ×")
	return nil
}

// fillStore makes a store of n chats with the real engine. It is filled in
// memory where the system has a folder for that, since every turn is synced.
func fillStore(dir string, n int) error {
	work, err := os.MkdirTemp(memoryDir(), "fettle-bench-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	model := filepath.Join(work, "m.yaml")
	if err := os.WriteFile(model, []byte("responses: [{when: '', text: An answer of some words.}]"), 0o600); err != nil {
		return err
	}
	reg := new(provider.Registry)
	if err := reg.Add("script", func() (provider.Provider, error) { return script.New(script.Options{Dir: work}), nil }); err != nil {
		return err
	}
	eng := engine.New(engine.Options{
		Options: store.Options{DataDir: filepath.Join(work, "data")},
		Models:  &models.Catalog{Registry: reg, Configured: "script/m.yaml"},
	})
	for i := range n {
		if err := oneTurn(eng, fmt.Sprintf("question %d", i)); err != nil {
			return err
		}
	}
	if _, err := eng.Fold(context.Background(), store.FoldAll); err != nil {
		return err
	}
	if err := eng.Close(); err != nil {
		return err
	}
	return os.CopyFS(dir, os.DirFS(filepath.Join(work, "data")))
}

func oneTurn(eng *engine.Engine, prompt string) error {
	ctx := context.Background()
	id, err := eng.Start(ctx, engine.TurnRequest{Parts: []provider.Part{{Kind: provider.TextPart, Text: prompt}}})
	if err != nil {
		return err
	}
	for e, err := range eng.Follow(ctx, id, 0) {
		if err != nil {
			return err
		}
		if bad, ok := e.Body.(event.Error); ok {
			return fmt.Errorf("a turn failed: %s", bad.Message)
		}
	}
	return nil
}

func memoryDir() string {
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		return "/dev/shm"
	}
	return ""
}
