package keystore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	goruntime "runtime"
	"slices"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/engine/fault"
)

const (
	// commandTime bounds a command: a person may have to unlock something.
	commandTime = time.Minute
	// commandEnd is how long its children may hold the pipe after it ended or
	// was killed.
	commandEnd = time.Second
	// maxOutput bounds what a command may print; keys are short.
	maxOutput = 64 << 10
	// maxSaid is how much of its complaint an error shows: a line.
	maxSaid = 160
)

// fromCommand gives the key that a command prints: what was printed lately, or
// else what it prints now. Several callers share one run.
func (k *Keys) fromCommand(ctx context.Context, c Command) (string, error) {
	s, release, err := k.hold(ctx, c)
	if err != nil {
		return "", err
	}
	defer release()
	if s.err != nil || time.Now().Before(s.until) {
		return s.key, s.err
	}
	if err := k.allowed(ctx, c); err != nil {
		if ctx.Err() == nil {
			s.err = err
		}
		return "", err
	}
	key, err := k.run(ctx, c)
	if err != nil {
		return "", err
	}
	s.key, s.until = key, time.Now().Add(fresh)
	s.runs++
	return key, nil
}

// hold returns what is known of a command. No other caller uses it until release is called.
func (k *Keys) hold(ctx context.Context, c Command) (s *slot, release func(), err error) {
	k.mu.Lock()
	s, ok := k.slots[c.Provider+"\x00"+c.Text]
	if !ok {
		s = &slot{turn: make(chan struct{}, 1)}
		k.slots[c.Provider+"\x00"+c.Text] = s
	}
	k.mu.Unlock()
	select {
	case s.turn <- struct{}{}:
		return s, func() { <-s.turn }, nil
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
}

// Runs returns how often the command for a provider's key has printed one; 0 if the key does
// not come from a command.
func (k *Keys) Runs(ctx context.Context, p config.Provider) int {
	if !p.Key.Empty() || p.KeyCommand == "" {
		return 0
	}
	s, release, err := k.hold(ctx, Command{p.Name, p.KeyCommand})
	if err != nil {
		return 0
	}
	defer release()
	return s.runs
}

// Renew has the command for a provider's key run again for the next request, after a request
// with a key was refused. runs is what [Keys.Runs] returned before that request; if the
// command has run since, it does not run again. Renew reports whether the next request can
// have another key.
func (k *Keys) Renew(ctx context.Context, p config.Provider, runs int) bool {
	if runs == 0 {
		return false // the key of that request was a new one
	}
	s, release, err := k.hold(ctx, Command{p.Name, p.KeyCommand})
	if err != nil {
		return false
	}
	defer release()
	if s.runs == runs {
		s.until = time.Time{}
	}
	return true
}

func (k *Keys) allowed(ctx context.Context, c Command) error {
	if k.o.Allow == nil {
		return fault.New(fault.Approval, "the key of "+c.Provider+" comes from a command, and none may run here")
	}
	return k.o.Allow(ctx, c)
}

// run runs a command and gives the first line that it prints.
func (k *Keys) run(ctx context.Context, c Command) (string, error) {
	bounded, cancel := context.WithTimeout(ctx, k.commandTime)
	defer cancel()
	var out, said limited
	cmd := shell(bounded, c.Text)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.ContainsFunc(k.o.Withheld, func(w string) bool { return w == name || goruntime.GOOS == "windows" && strings.EqualFold(w, name) })
	})
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &said, commandEnd
	err := cmd.Run()
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // a child that goes on in the background holds the pipe
	}
	line, _, _ := strings.Cut(string(out.kept), "\n")
	line = strings.TrimSpace(line)
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case bounded.Err() != nil:
		return "", failed(c, fmt.Sprintf("took longer than %s", k.commandTime))
	case err != nil:
		return "", failed(c, complaint(err, string(said.kept), string(out.kept)))
	case line == "":
		return "", failed(c, "printed nothing")
	}
	key, err := config.ParseKey(line)
	if err != nil {
		return "", failed(c, "printed no key on its first line: "+err.Error())
	}
	return key, nil
}

func failed(c Command, why string) error {
	return fault.New(fault.Unauthorised, "the command for the key of "+c.Provider+" "+why,
		fault.Run("run it by hand to see what it says; fettle config edit   shows providers."+c.Provider+".key"))
}

// complaint is how a command failed, with the first line of what it said if no
// part of the key can be in it.
func complaint(err error, said, printed string) string {
	text := "failed: " + err.Error()
	line, _, _ := strings.Cut(strings.TrimSpace(said), "\n")
	for _, word := range strings.Fields(printed) {
		line = strings.ReplaceAll(line, word, "…")
	}
	if line = config.Redact(line); line == "" {
		return text
	}
	if rs := []rune(line); len(rs) > maxSaid {
		line = string(rs[:maxSaid]) + "…"
	}
	return text + ": " + line
}

// limited keeps the first maxOutput bytes that are written to it.
type limited struct{ kept []byte }

func (l *limited) Write(p []byte) (int, error) {
	l.kept = append(l.kept, p[:min(len(p), maxOutput-len(l.kept))]...)
	return len(p), nil
}
