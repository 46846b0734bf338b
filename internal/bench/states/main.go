// Command states does alone what a tool call does with a folder, so that its
// memory holds nothing else: `states FOLDER DATA` takes a first state of FOLDER
// and one of no change, and brings a copy of it to life beside DATA. It prints
// the most anonymous memory that it had. It is no tool for people.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fettle-cli/fettle/cas"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: states FOLDER DATA")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "states:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, work, data string) (err error) {
	var peak peakMemory
	stop := peak.watch()
	store, closeStore := cas.OpenDir(data)
	copied := data + "-copy"
	defer func() { err = errors.Join(err, os.RemoveAll(data), os.RemoveAll(copied)) }()
	err = states(ctx, store, work, copied)
	err = errors.Join(err, closeStore())
	stop()
	if err == nil && peak.bytes > 0 {
		fmt.Printf("peak of anonymous memory %d MB, target below 200 at 100,000 files", peak.bytes/1e6)
	}
	return err
}

// states takes two states of a folder and fills another one with it.
func states(ctx context.Context, store *cas.Store, work, copied string) error {
	from, err := folder(work)
	if err != nil {
		return err
	}
	defer from.Root.Close()
	o := cas.SnapshotOptions{About: cas.About{ChatID: "bench"}, Limits: cas.Limits{KeepFree: -1}}
	for range 2 {
		snap, err := store.Snapshot(ctx, from, o)
		if err != nil {
			return err
		}
		o.Parent = snap.Manifest
	}
	if err := os.Mkdir(copied, 0o755); err != nil {
		return err
	}
	to, err := folder(copied)
	if err != nil {
		return err
	}
	defer to.Root.Close()
	_, err = store.Materialize(ctx, to, o.Parent, cas.RestoreOptions{About: o.About, Limits: o.Limits})
	return err
}

func folder(path string) (*cas.Workspace, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return &cas.Workspace{Path: path, Root: root, Bound: true}, nil
}

// peakMemory keeps the most anonymous memory that this process was seen with.
type peakMemory struct{ bytes int64 }

// watch looks every few milliseconds until stop is called.
func (p *peakMemory) watch() (stop func()) {
	const every = 2 * time.Millisecond
	end := make(chan struct{})
	var looking sync.WaitGroup
	looking.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			p.bytes = max(p.bytes, anonymous())
			select {
			case <-tick.C:
			case <-end:
				return
			}
		}
	})
	return func() {
		close(end)
		looking.Wait()
	}
}

// anonymous is this process's RssAnon, or 0 where the system doesn't say.
func anonymous() int64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, found := bytes.Cut(text, []byte("RssAnon:"))
	if !found {
		return 0
	}
	line, _, _ := strings.Cut(string(rest), "kB")
	kb, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
	if err != nil {
		return 0
	}
	return kb << 10
}
