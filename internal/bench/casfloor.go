package main

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

// makeFiles fills a folder with n files of 0.2 to 20 KB of text, a hundred a
// folder, and gives their paths.
func makeFiles(dir string, n int) ([]string, error) {
	words := strings.Fields("func return err nil if the of a value store context := package import for range string int byte error // and to is")
	r := rand.New(rand.NewPCG(1, uint64(n)))
	paths := make([]string, n)
	for i := range n {
		paths[i] = filepath.Join(dir, fmt.Sprintf("pkg%02d", i/3000), fmt.Sprintf("module_%04d", i/100), fmt.Sprintf("source_file_%05d.go", i))
		if i%100 == 0 {
			if err := os.MkdirAll(filepath.Dir(paths[i]), 0o755); err != nil {
				return nil, err
			}
		}
		var text strings.Builder
		for size := 200 + r.IntN(1+r.IntN(20_000)); text.Len() < size; {
			text.WriteString(words[r.IntN(len(words))])
			text.WriteByte(" \n"[r.IntN(12)/11])
		}
		if err := os.WriteFile(paths[i], []byte(text.String()), 0o644); err != nil {
			return nil, err
		}
	}
	return paths, nil
}

// statWalk is the floor of a snapshot that finds nothing changed.
func statWalk(dir string) error {
	var (
		mu    sync.Mutex
		cond  = sync.NewCond(&mu)
		queue = []string{dir}
		busy  int
		fault error
		wg    sync.WaitGroup
	)
	for range 2 * runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			buf := make([]byte, 64<<10)
			for {
				mu.Lock()
				for len(queue) == 0 && busy > 0 {
					cond.Wait()
				}
				if len(queue) == 0 {
					mu.Unlock()
					return
				}
				next := queue[len(queue)-1]
				queue = queue[:len(queue)-1]
				busy++
				mu.Unlock()
				subs, _, err := statAll(next, buf)
				mu.Lock()
				busy--
				if err != nil {
					fault = err
				}
				queue = append(queue, subs...)
				cond.Broadcast()
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return fault
}

// hashAll is the floor of a first snapshot: reading and summing every file.
func hashAll(paths []string) error {
	var wg sync.WaitGroup
	next := make(chan string, 256)
	faults := make(chan error, 1)
	for range 2 * runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for p := range next {
				b, err := os.ReadFile(p)
				if err != nil {
					select {
					case faults <- err:
					default:
					}
				}
				_ = sha256.Sum256(b)
			}
		})
	}
	for _, p := range paths {
		next <- p
	}
	close(next)
	wg.Wait()
	select {
	case err := <-faults:
		return err
	default:
		return nil
	}
}
