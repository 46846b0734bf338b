//go:build linux || darwin

package soak

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	// workers run commands at once: enough to interfere with each other on two
	// processors.
	workers = 4
	// roundCommands bounds the commands of a round, whose checks read all that they made.
	roundCommands = 90
)

// load runs commands until the time is over, with signals to them.
func (w *world) load(ctx context.Context) {
	var wg sync.WaitGroup
	left := make(chan struct{}, roundCommands)
	for range roundCommands {
		left <- struct{}{}
	}
	close(left)
	for range workers {
		wg.Go(func() {
			for range left {
				if ctx.Err() != nil {
					return
				}
				w.something()
			}
		})
	}
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() { defer close(done); w.kill(stop) }()
	wg.Wait()
	close(stop)
	<-done
}

// something runs a command that is chosen by chance.
func (w *world) something() {
	number := strconv.Itoa(1 + w.n(8))
	switch w.n(30) {
	case 0, 1, 2, 3, 4:
		w.ask()
	case 5, 6, 7, 8:
		w.ask("-c")
	case 9, 10:
		w.ask("--chat", number)
	case 11:
		w.ask("--chat", number, "--retry")
	case 12, 13:
		w.run("undo", "--chat", number)
	case 14:
		w.run("redo", "--chat", number)
	case 15:
		w.run("undo", "--chat", number, "--dry-run")
	case 16:
		w.run("chats", "list")
	case 17:
		w.run("chats", "show", number)
	case 18:
		w.run("chats", "search", "word3")
	case 19:
		w.run("chats", "rename", number, "a title")
	case 20:
		if w.n(3) == 0 {
			w.mu.Lock()
			w.removed = true
			w.mu.Unlock()
			w.run("chats", "rm", number, "--yes")
		}
	case 21:
		w.run("workspace", "put", number, "put.txt", w.file("content "+number))
	case 22:
		w.run("workspace", "restore", number, "@-1")
	case 23:
		w.run("store", "gc")
	case 24, 25:
		w.backup()
	case 26:
		w.run("store", "verify")
	case 27:
		w.export(number)
	case 28:
		w.run("chats", "fork", number)
	case 29:
		w.history(number)
	}
}

// number returns a number that no other command has.
func (w *world) number() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked++
	return w.asked
}

// question is a question, which may ask for a call. Its number is a word that is
// searched for.
func (w *world) question() string {
	n := w.number()
	text := fmt.Sprintf("question q%dq", n)
	switch w.n(6) {
	case 0, 1, 2:
		args, _ := json.Marshal(map[string]string{"path": fmt.Sprintf("f%d.txt", w.n(4)), "content": strings.Repeat(fmt.Sprintln("line", n), 1+w.n(200))})
		return text + "\ncall write_file " + string(args)
	case 3:
		return text + fmt.Sprintf("\ncall run_command {\"command\":\"sleep %s\"}", w.mark)
	}
	return text
}

// ask asks, with flags, and notes the events that it shows.
func (w *world) ask(flags ...string) *process {
	args := append([]string{"ask", "-o", "events", "--yes", "--no-stdin", "--tool", "write_file", "--tool", "run_command", "--timeout", "4s"}, flags...)
	if !strings.Contains(strings.Join(flags, " "), "--retry") {
		args = append(args, w.question())
	}
	p := w.run(args...)
	w.saw(p.out.String())
	return p
}

// file writes a file of the user's, and returns its path.
func (w *world) file(text string) string {
	path := filepath.Join(w.dir, "files", fmt.Sprintf("in%d.txt", w.number()))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.fault("write a file: %v", err)
	}
	return path
}

func (w *world) backup() {
	path := filepath.Join(w.dir, "files", fmt.Sprintf("b%d.tar.zst", w.number()))
	if p := w.run("store", "backup", path); p.status == 0 {
		w.mu.Lock()
		w.backups = append(w.backups, path)
		w.mu.Unlock()
	}
}

func (w *world) export(number string) {
	path := filepath.Join(w.dir, "files", fmt.Sprintf("x%d.json", w.number()))
	if p := w.run("chats", "export", number, "--file", path); p.status == 0 {
		w.run("chats", "import", "--copy", path)
	}
}

func (w *world) history(number string) {
	path := filepath.Join(w.dir, "files", fmt.Sprintf("h%d.tar.gz", w.number()))
	if p := w.run("workspace", "export", number, path); p.status == 0 {
		w.run("workspace", "import", path)
	}
}

// kill sends signals until stop is closed. A process that it has stopped it continues or
// kills.
func (w *world) kill(stop <-chan struct{}) {
	var wg sync.WaitGroup
	defer wg.Wait()
	for {
		select {
		case <-stop:
			return
		case <-time.After(time.Duration(20+w.n(160)) * time.Millisecond):
		}
		if w.n(25) == 0 {
			w.powerOff(false)
			continue
		}
		p := w.victim()
		if p == nil {
			continue
		}
		switch w.n(10) {
		case 0, 1, 2, 3, 4:
			p.signal(syscall.SIGKILL)
		case 5, 6:
			p.signal(syscall.SIGTERM)
		case 7:
			p.signal(syscall.SIGINT)
		case 8, 9:
			p.signal(syscall.SIGSTOP)
			wg.Go(func() {
				select {
				case <-p.ended:
				case <-time.After(time.Duration(50+w.n(900)) * time.Millisecond):
				}
				if w.n(3) == 0 {
					p.signal(syscall.SIGKILL)
				}
				p.signal(syscall.SIGCONT)
			})
		}
	}
}

// victim is a process that runs, by chance one in three.
func (w *world) victim() *process {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []*process
	for _, p := range w.live {
		if !p.spared {
			all = append(all, p)
		}
	}
	if len(all) == 0 || w.rng.IntN(3) > 0 {
		return nil
	}
	return all[w.rng.IntN(len(all))]
}

// powerOff kills all processes of the world at once; spared ones only where all is set.
func (w *world) powerOff(all bool) {
	w.mu.Lock()
	live := append([]*process(nil), w.live...)
	w.mu.Unlock()
	for _, p := range live {
		if all || !p.spared {
			p.signal(syscall.SIGKILL)
		}
	}
	for _, p := range live {
		if all || !p.spared {
			<-p.ended
		}
	}
}
