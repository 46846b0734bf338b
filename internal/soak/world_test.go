//go:build linux || darwin

package soak

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// commandTime bounds a command: one that takes longer hangs.
const commandTime = 90 * time.Second

// world is a data directory, and the processes that use it.
type world struct {
	t    *testing.T
	bin  string
	dir  string
	data string
	env  []string
	mark string // is in the command line of every process that a tool starts

	mu      sync.Mutex
	rng     *rand.Rand
	live    []*process
	log     []string
	wrong   []string
	asked   int
	events  map[string]map[int64]string // turn, number: what a client saw
	chats   map[string]bool             // ids of chats that a client saw the end of a turn of
	removed bool                        // some chat was removed
	backups []string
	few     bool // commands may open a few files only
	fills   bool // the test fills the disk while commands run
	killed  int  // processes that a signal ended
}

// process is a command that runs, or has run.
type process struct {
	w        *world
	args     []string
	cmd      *exec.Cmd
	out, err bytes.Buffer
	signals  []string
	ended    chan struct{}
	status   int
	spared   bool // the killer leaves it alone
}

func newWorld(t *testing.T, bin, dir string, m *model, seed uint64) *world {
	w := &world{
		t: t, bin: bin, dir: dir, data: filepath.Join(dir, "data"), mark: fmt.Sprintf("37.%d", seed%1_000_000_007),
		rng: rand.New(rand.NewPCG(seed, 4)), events: map[string]map[int64]string{}, chats: map[string]bool{},
	}
	// The path of a Unix socket has about 100 bytes, which a test's own folder can exceed.
	run, err := os.MkdirTemp("/tmp", "fs")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(run) })
	for _, name := range []string{"data", "home", "files", "state"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "FETTLE_") && !strings.HasPrefix(v, "XDG_") {
			w.env = append(w.env, v)
		}
	}
	w.env = append(w.env, "HOME="+filepath.Join(dir, "home"), "FETTLE_DATA="+w.data, "FETTLE_CONFIG="+filepath.Join(dir, "config"),
		"XDG_RUNTIME_DIR="+run, "XDG_STATE_HOME="+filepath.Join(dir, "state"), "TMPDIR="+filepath.Join(dir, "home"),
		"OPENAI_BASE_URL="+m.URL+"/v1", "OPENAI_API_KEY=k", "FETTLE_MODEL=openai/m", "OLLAMA_HOST=127.0.0.1:1",
		"ANTHROPIC_API_KEY=", "MISTRAL_API_KEY=", "FETTLE_KEYRING=off", "TERM=dumb", "NO_PROXY=127.0.0.1")
	return w
}

// n returns a random number below most.
func (w *world) n(most int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rng.IntN(most)
}

func (w *world) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log = append(w.log, time.Now().Format("05.000 ")+fmt.Sprintf(format, args...))
}

// fault notes that a check has failed.
func (w *world) fault(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wrong = append(w.wrong, clip(fmt.Sprintf(format, args...), 3000))
}

// clip shortens a text that is evidence.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return text[:most] + fmt.Sprintf("… (%d bytes)", len(text))
}

// line is the process's command line, as evidence.
func (p *process) line() string { return "fettle " + clip(fmt.Sprintf("%q", p.args), 300) }

// command is fettle with arguments.
func (w *world) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, w.bin, args...)
	cmd.Env, cmd.Dir, cmd.WaitDelay = w.env, filepath.Join(w.dir, "files"), 5*time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a signal for the test isn't one for its commands
	return cmd
}

// start starts a command, which the killer may find.
func (w *world) start(ctx context.Context, args ...string) (*process, error) {
	p := &process{w: w, args: args, ended: make(chan struct{})}
	p.cmd = w.command(ctx, args...)
	if w.few && w.n(2) == 0 {
		p.cmd.Path = "/bin/sh"
		p.cmd.Args = append([]string{"sh", "-c", fmt.Sprintf(`ulimit -n %d; exec "$0" "$@"`, 10+w.n(40)), w.bin}, args...)
	}
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.err
	return p, p.begin(ctx)
}

// begin starts the process.
func (p *process) begin(ctx context.Context) error {
	if err := p.cmd.Start(); err != nil {
		return err
	}
	p.w.mu.Lock()
	p.w.live = append(p.w.live, p)
	p.w.mu.Unlock()
	go p.wait(ctx)
	return nil
}

func (p *process) wait(ctx context.Context) {
	defer close(p.ended)
	_ = p.cmd.Wait() // the status is the result
	p.status = p.cmd.ProcessState.ExitCode()
	w := p.w
	w.mu.Lock()
	w.live = slices.DeleteFunc(w.live, func(o *process) bool { return o == p })
	signals := strings.Join(p.signals, " ")
	if p.status < 0 {
		w.killed++
	}
	w.mu.Unlock()
	w.note("pid %d status %d [%s] %s", p.cmd.Process.Pid, p.status, signals, p.line())
	text := p.err.String()
	if signals == "" && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		w.fault("%s: not done after %s\n%s", p.line(), commandTime, text)
	}
	if w.fills && filledMeanwhile(text) {
		w.note("the disk was filled between a check and the writing of a table")
		return
	}
	if p.status == 2 || strings.Contains(text, "goroutine ") || strings.Contains(text, "fatal error") || strings.Contains(text, "panic:") {
		w.fault("%s: status %d\n%s", p.line(), p.status, text)
	}
}

// filledMeanwhile reports whether a process ended by the fault that internal/kv documents
// under "Full disks": another program took the room that a table needs, in the milliseconds
// after the check. The checks after the round still hold, so nothing acknowledged is lost.
func filledMeanwhile(text string) bool {
	return strings.Contains(text, "[signal SIGBUS: bus error") && strings.Contains(text, "badger/v4/table.CreateTable(")
}

// signal sends a signal to a process that this test has started, if it still runs.
func (p *process) signal(s os.Signal) {
	p.w.mu.Lock()
	p.signals = append(p.signals, s.String())
	p.w.mu.Unlock()
	_ = p.cmd.Process.Signal(s) // it may just have ended
}

// run runs a command to its end.
func (w *world) run(args ...string) *process {
	ctx, cancel := context.WithTimeout(context.Background(), commandTime)
	defer cancel()
	p, err := w.start(ctx, args...)
	if err != nil {
		w.fault("start fettle: %v", err)
		p = &process{w: w, args: args, ended: make(chan struct{}), status: -1}
		close(p.ended)
		return p
	}
	<-p.ended
	return p
}

// must runs a command that has to succeed, with no signal and no fault about.
func (w *world) must(args ...string) string {
	p := w.run(args...)
	if p.status != 0 {
		w.fault("%s: status %d\n%s", p.line(), p.status, p.err.String())
	}
	return p.out.String()
}

// event holds the fields of an event that the checks need.
type event struct {
	Type    string `json:"type"`
	TurnID  string `json:"turn_id"`
	Seq     int64  `json:"seq"`
	Text    string `json:"text"`
	Payload struct {
		ChatID string `json:"chat_id"`
	} `json:"payload"`
}

func (e event) ends() bool {
	return e.Type == "complete" || e.Type == "error" || e.Type == "cancelled"
}

// saw notes the events that a client saw: lines of JSON. What follows the last line end
// was cut off with the client.
func (w *world) saw(text string) {
	for {
		line, rest, whole := strings.Cut(text, "\n")
		if !whole {
			return
		}
		w.sawOne(line)
		text = rest
	}
}

func (w *world) sawOne(line string) {
	var e event
	if err := json.Unmarshal([]byte(line), &e); err != nil || e.TurnID == "" || e.Seq < 1 {
		w.fault("a client saw a line that is no event: %q", line)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	turn := w.events[e.TurnID]
	if turn == nil {
		turn = map[int64]string{}
		w.events[e.TurnID] = turn
	}
	if had, ok := turn[e.Seq]; ok && had != line {
		w.wrong = append(w.wrong, fmt.Sprintf("turn %s: two events %d were seen:\n%s\n%s", e.TurnID, e.Seq, had, line))
	}
	turn[e.Seq] = line
	if e.Type == "complete" && e.Payload.ChatID != "" {
		w.chats[e.Payload.ChatID] = true
	}
}

// report fails the test if a check has failed, with what led to it.
func (w *world) report(round string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.wrong) == 0 {
		return
	}
	log := w.log[max(0, len(w.log)-80):]
	w.t.Errorf("%s: %d checks failed\n%s\n\nthe last commands:\n%s", round, len(w.wrong),
		strings.Join(w.wrong[:min(len(w.wrong), 8)], "\n"), strings.Join(log, "\n"))
}
