//go:build linux || darwin

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/creack/pty"
)

const (
	// termRuns is how often each start is measured.
	termRuns = 15
	// mostPrompt is how much later than the version the first prompt may come.
	mostPrompt = 60 * time.Millisecond
	// longAnswer is streamed in pieces of a network read, for about 20 seconds.
	longAnswer  = 200 << 10
	answerPiece = 64
	pieceGap    = 6 * time.Millisecond
	// leastFrames a second and mostCPU of a core are what streaming may take;
	// idle is mostIdle of one.
	leastFrames = 20
	mostCPU     = 0.30
	mostIdle    = 0.01
	idleTime    = 10 * time.Second
	// termWait bounds a wait for something on the terminal.
	termWait = 2 * time.Minute
)

const (
	promptSign = "› "
	frameSign  = "\x1b[?2026h"
)

// runChatTerm prints how soon the first prompt is there, and what streaming and
// waiting cost.
func runChatTerm(l *lab) error {
	script := filepath.Join(l.dir, "chat-term.jsonl")
	if err := writeAnswer(script); err != nil {
		return err
	}
	return errors.Join(l.firstPrompt(), l.streaming(script))
}

// writeAnswer writes a model that gives a long answer with all sorts of blocks.
func writeAnswer(file string) error {
	block := "## Part\n\nSome **bold** words, `code` and a [link](https://example.org/), wrapped over more than one line of any window.\n\n" +
		"- an item\n- another one\n\n| a | b |\n|---|---|\n| 1 | two |\n\n```go\nfunc main() {\n\tfmt.Println(\"hi\", 42) // say so\n}\n```\n\n"
	answer := strings.Repeat(block, longAnswer/len(block)+1) + "THE END"
	var deltas []map[string]any
	for len(answer) > 0 {
		n := min(answerPiece, len(answer))
		deltas = append(deltas, map[string]any{"wait": pieceGap.String(), "content": answer[:n]})
		answer = answer[n:]
	}
	line, err := json.Marshal(map[string]any{"when": "", "deltas": deltas})
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte("{\"fettle_script\":1}\n"+string(line)+"\n"), 0o600)
}

// firstPrompt measures both starts in turn, on terminals.
func (l *lab) firstPrompt() error {
	var version, prompt []time.Duration
	for i := -1; i < termRuns; i++ { // the first round warms up
		a, err := l.until("version", "fettle")
		if err != nil {
			return err
		}
		b, err := l.until("chat", promptSign)
		if err != nil {
			return err
		}
		if i >= 0 {
			version, prompt = append(version, a), append(prompt, b)
		}
	}
	slices.Sort(version)
	slices.Sort(prompt)
	v, p := version[termRuns/2], prompt[termRuns/2]
	fmt.Printf("\nthe first prompt (medians of %d, on a terminal)\n  fettle version %s  fettle chat %s  later by %s, at most %s\n", termRuns, ms(v), ms(p), ms(p-v), ms(mostPrompt))
	if p-v > mostPrompt {
		return fmt.Errorf("the first prompt comes %s after the version", ms(p-v))
	}
	return nil
}

// until gives the time until a command has shown something.
func (l *lab) until(command, sign string) (time.Duration, error) {
	begun := time.Now()
	s, err := l.sit(command)
	if err != nil {
		return 0, err
	}
	err = s.wait(sign)
	took := time.Since(begun)
	return took, errors.Join(err, s.close())
}

// session is fettle on a terminal.
type session struct {
	pty  *os.File
	cmd  *exec.Cmd
	seen bytes.Buffer
	at   []time.Time // of each frame
}

func (l *lab) sit(args ...string) (*session, error) {
	cmd := exec.Command(l.fettle, args...)
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "FETTLE_DATA="+filepath.Join(l.dir, "chat-term"), "FETTLE_CONFIG="+filepath.Join(l.dir, "none"))
	f, err := pty.StartWithAttrs(cmd, &pty.Winsize{Cols: 120, Rows: 40}, &syscall.SysProcAttr{Setsid: true, Setctty: true})
	if err != nil {
		return nil, fmt.Errorf("start %v on a terminal: %w", args, err)
	}
	return &session{pty: f, cmd: cmd}, nil
}

// wait reads until a text has come, and notes when frames did.
func (s *session) wait(sign string) error {
	if err := s.pty.SetReadDeadline(time.Now().Add(termWait)); err != nil && !errors.Is(err, os.ErrNoDeadline) {
		return err
	}
	buf := make([]byte, 64<<10)
	for from := s.seen.Len(); ; {
		n, err := s.pty.Read(buf)
		s.seen.Write(buf[:n])
		for range bytes.Count(buf[:n], []byte(frameSign)) {
			s.at = append(s.at, time.Now())
		}
		if bytes.Contains(s.seen.Bytes()[max(0, from-len(sign)):], []byte(sign)) {
			return nil
		}
		from = s.seen.Len()
		if err != nil {
			return fmt.Errorf("%q didn't come: %w", sign, err)
		}
	}
}

func (s *session) close() error {
	_ = s.cmd.Process.Kill() // it may have ended
	_ = s.cmd.Wait()         // killed is no failure
	return s.pty.Close()
}

// used is the processor time of a program, from the system's own count.
func (s *session) used() (time.Duration, error) {
	out, err := exec.Command("ps", "-o", "cputimes=", "-p", fmt.Sprint(s.cmd.Process.Pid)).Output()
	if raw, readErr := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid)); readErr == nil {
		var user, system int64
		fields := strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:]))
		if _, err := fmt.Sscan(fields[11]+" "+fields[12], &user, &system); err != nil {
			return 0, err
		}
		return time.Duration(user+system) * 10 * time.Millisecond, nil
	}
	if err != nil {
		return 0, err
	}
	return time.ParseDuration(strings.TrimSpace(string(out)) + "s")
}

// streaming measures a long answer, and the page at rest after it.
func (l *lab) streaming(script string) error {
	s, err := l.sit("chat", "-m", "script/"+script)
	if err != nil {
		return err
	}
	defer s.close() // what it says has been seen
	if err := s.wait(promptSign); err != nil {
		return err
	}
	before, err := s.used()
	if err != nil {
		return err
	}
	if _, err := s.pty.WriteString("go\r"); err != nil {
		return err
	}
	begun := time.Now()
	first := len(s.at)
	if err := s.wait("THE END"); err != nil {
		return err
	}
	wall := time.Since(begun)
	after, err := s.used()
	if err != nil {
		return err
	}
	cpu, frames := float64(after-before)/float64(wall), slowest(s.at[first:])
	fmt.Printf("\nan answer of %d KB in %.1f s: %d frames, %d in its slowest second (at least %d), %.0f %% of a core (at most %.0f %%)\n",
		longAnswer>>10, wall.Seconds(), len(s.at)-first, frames, leastFrames, 100*cpu, 100*mostCPU)
	idle, err := s.rest()
	if err != nil {
		return err
	}
	fmt.Printf("at rest after it: %.2f %% of a core (at most %.0f %%)\n", 100*idle, 100*mostIdle)
	switch {
	case frames < leastFrames:
		return fmt.Errorf("%d frames in the slowest second", frames)
	case cpu > mostCPU:
		return fmt.Errorf("streaming takes %.0f %% of a core", 100*cpu)
	case idle > mostIdle:
		return fmt.Errorf("the page at rest takes %.1f %% of a core", 100*idle)
	}
	return nil
}

// rest measures the page while nothing happens; what the answer left to do has
// a moment to end first.
func (s *session) rest() (float64, error) {
	const settle = 2 * time.Second
	<-time.After(settle)
	before, err := s.used()
	if err != nil {
		return 0, err
	}
	<-time.After(idleTime)
	after, err := s.used()
	return float64(after-before) / float64(idleTime), err
}

// slowest is how many frames the whole second with the fewest has.
func slowest(at []time.Time) int {
	if len(at) == 0 {
		return 0
	}
	least := len(at)
	for i := range at {
		end := at[i].Add(time.Second)
		if end.After(at[len(at)-1]) {
			break
		}
		n := 0
		for k := i; k < len(at) && at[k].Before(end); k++ {
			n++
		}
		least = min(least, n)
	}
	return least
}
