//go:build unix

package keystore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/engine/fault"
)

func TestCommands(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, command, want, err string }{
		{"its first line, trimmed", `printf '  a-key \r\nsecond\n'`, "a-key", ""},
		{"a pipe of the shell", `echo b-key | tr b c`, "c-key", ""},
		{"what it says beside is not shown", `echo trouble >&2; echo a-key`, "a-key", ""},
		{"it fails", `echo "vault is locked" >&2; exit 3`, "", "failed: exit status 3: vault is locked"},
		{"it fails and shows the key", `echo hunter22; echo "denied hunter22" >&2; exit 1`, "", "failed: exit status 1: denied …"},
		{"it fails and shows a token", `echo "bad sk-EXAMPLEnotreal" >&2; exit 1`, "", "failed: exit status 1: bad ·················"},
		{"it fails without a word", `exit 1`, "", "failed: exit status 1"},
		{"it isn't there", `no-such-program-here`, "", "failed: exit status 127: "},
		{"it prints nothing", `true`, "", "printed nothing"},
		{"it prints an empty line first", `echo; echo key`, "", "printed nothing"},
		{"it prints a sentence", `echo "please sign in"`, "", "printed no key on its first line: expected a key of printable ASCII characters without spaces"},
		{"it prints without an end", `yes | tr -d '\n' | head -c 1000000`, "", "printed no key on its first line"},
		{"it gets nothing to read", `cat; echo key`, "key", ""},
		{"it leaves a child behind", `sleep 60 & echo key`, "key", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			k := New(Options{Allow: allow})
			key, err := k.For(config.Provider{Name: "p", KeyCommand: tt.command})(t.Context())
			want := ""
			if tt.err != "" {
				want = "the command for the key of p " + tt.err
			}
			if key != tt.want || !strings.HasPrefix(errorText(err), want) || (err != nil) != (want != "") {
				t.Errorf("key %q, %v; want %q, %q", key, err, tt.want, want)
			}
			if err != nil && (fault.CodeOf(err) != fault.Unauthorised || strings.Contains(err.Error(), "hunter")) {
				t.Errorf("error %v of the kind %s", err, fault.CodeOf(err))
			}
		})
	}
}

// A command runs once for all who want its key, and again when that is old.
func TestACommandIsShared(t *testing.T) {
	t.Parallel()
	count := filepath.Join(t.TempDir(), "count")
	asked := 0
	k := New(Options{Allow: func(context.Context, Command) error { asked++; return nil }})
	p := config.Provider{Name: "p", KeyCommand: "echo x >>" + count + "; echo a-key"}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if key, err := k.For(p)(t.Context()); key != "a-key" || err != nil {
				t.Errorf("key %q, %v", key, err)
			}
		})
	}
	wg.Wait()
	data, err := os.ReadFile(count)
	if string(data) != "x\n" || err != nil || asked != 1 {
		t.Errorf("ran %q, asked %d times, %v", data, asked, err)
	}
	for _, s := range k.slots {
		s.until = time.Now()
	}
	if _, err := k.For(p)(t.Context()); err != nil {
		t.Error(err)
	}
	if data, _ := os.ReadFile(count); string(data) != "x\nx\n" {
		t.Errorf("ran %q", data)
	}
}

// Nobody allows it, or somebody says no: it doesn't run, and isn't asked again.
func TestACommandThatIsNotAllowed(t *testing.T) {
	t.Parallel()
	ran := filepath.Join(t.TempDir(), "ran")
	p := config.Provider{Name: "p", KeyCommand: "touch " + ran}
	asked := 0
	no := fault.New(fault.Approval, "no")
	for _, k := range []*Keys{New(Options{}), New(Options{Allow: func(_ context.Context, c Command) error {
		asked++
		if c.Text != p.KeyCommand || c.Provider != "p" {
			t.Errorf("asked for %+v", c)
		}
		return no
	}})} {
		for range 2 {
			if _, err := k.For(p)(t.Context()); fault.CodeOf(err) != fault.Approval || strings.Contains(err.Error(), "touch") {
				t.Errorf("error %v", err)
			}
		}
	}
	if _, err := os.Stat(ran); asked != 1 || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("asked %d times; it ran: %v", asked, err == nil)
	}
}

// A command that goes on is ended, with its children, by the time limit and by
// whoever doesn't want the key any more.
func TestACommandThatGoesOn(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]time.Duration{"the time limit": 300 * time.Millisecond, "the caller": time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pid := filepath.Join(t.TempDir(), "pid")
			k := New(Options{Allow: allow})
			k.commandTime = limit
			ctx, cancel := context.WithCancelCause(t.Context())
			gone := errors.New("gone")
			if limit == time.Hour {
				time.AfterFunc(300*time.Millisecond, func() { cancel(gone) })
			}
			defer cancel(nil)
			p := config.Provider{Name: "p", KeyCommand: "echo $$ >" + pid + "; exec sleep 100"}
			_, err := k.For(p)(ctx)
			if limit == time.Hour && !errors.Is(err, gone) || limit != time.Hour && errorText(err) != "the command for the key of p took longer than 300ms" {
				t.Errorf("error %v", err)
			}
			data, err := os.ReadFile(pid)
			var n int
			if _, scanErr := fmt.Sscan(string(data), &n); err != nil || scanErr != nil {
				t.Fatalf("the command left %q, %v", data, err)
			}
			if err := syscall.Kill(n, 0); err == nil {
				t.Errorf("process %d still runs", n)
			}
		})
	}
}
