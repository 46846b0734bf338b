package keystore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/needtest"
)

func TestKeyring(t *testing.T) {
	t.Parallel()
	ring := &memory{keys: map[string]string{}}
	k := New(Options{Dir: t.TempDir(), Keyring: ring})
	p := config.Provider{Name: "p"}
	if place, err := k.Set(t.Context(), "p", longKey, false); place != InKeyring || err != nil {
		t.Fatalf("kept in %s, %v", place, err)
	}
	data, err := os.ReadFile(k.Path())
	if err != nil || strings.Contains(string(data), "EXAMPLE") {
		t.Errorf("the file is %q, %v", data, err)
	}
	if key, err := k.For(p)(t.Context()); key != longKey || err != nil {
		t.Errorf("key %q, %v", key, err)
	}
	// From the keyring into the file: no copy stays behind.
	if place, err := k.Set(t.Context(), "p", longKey, true); place != InFile || err != nil || len(ring.keys) != 0 {
		t.Errorf("kept in %s, %v, the keyring has %d", place, err, len(ring.keys))
	}
	if place, err := k.Set(t.Context(), "p", longKey, false); place != InKeyring || err != nil {
		t.Errorf("kept in %s, %v", place, err)
	}
	if data, _ := os.ReadFile(k.Path()); strings.Contains(string(data), "EXAMPLE") {
		t.Errorf("a copy stays in the file: %q", data)
	}
	delete(ring.keys, "p")
	if _, err := k.For(p)(t.Context()); fault.CodeOf(err) != fault.Unauthorised || err.Error() != "the keyring has no key of p any more" {
		t.Errorf("error %v", err)
	}
	if place, err := k.Remove(t.Context(), "p"); place != InKeyring || err != nil {
		t.Errorf("removed from %s, %v", place, err)
	}
}

// A keyring that fails is used no more, with one warning, and the key is kept
// in the file.
func TestKeyringThatFails(t *testing.T) {
	t.Parallel()
	var heard said
	ring := &memory{keys: map[string]string{}, err: errors.New("prompt\n dismissed for " + longKey)}
	k := New(Options{Dir: t.TempDir(), Keyring: ring, Notice: heard.notice})
	for _, name := range []string{"p", "q"} {
		if place, err := k.Set(t.Context(), name, longKey, false); place != InFile || err != nil {
			t.Fatalf("kept in %s, %v", place, err)
		}
	}
	if ring.used != 1 || len(heard.lines) != 1 || !strings.HasPrefix(heard.lines[0], "the keyring: prompt dismissed for …; the key is kept in ") {
		t.Errorf("%d questions, warnings %q", ring.used, heard.lines)
	}
	if key, err := k.For(config.Provider{Name: "p"})(t.Context()); key != longKey || err != nil {
		t.Errorf("key %q, %v", key, err)
	}
}

func TestKeyOfAKeyringThatFails(t *testing.T) {
	t.Parallel()
	ring := &memory{keys: map[string]string{}}
	k := New(Options{Dir: t.TempDir(), Keyring: ring})
	if _, err := k.Set(t.Context(), "p", longKey, false); err != nil {
		t.Fatal(err)
	}
	ring.err = errors.New("locked")
	for range 2 {
		_, err := k.For(config.Provider{Name: "p"})(t.Context())
		var f *fault.Fault
		if !errors.As(err, &f) || f.Code != fault.Unauthorised || f.Msg != "the key of p is in the keyring, and can't be had from it" ||
			f.Detail[0] != "the keyring: locked" || !strings.HasPrefix(f.Remedies[0].Text, "fettle keys set --file p") {
			t.Errorf("error %+v", f)
		}
	}
	if ring.used != 2 {
		t.Errorf("the keyring was asked %d times", ring.used)
	}
	if _, err := k.Remove(t.Context(), "p"); err == nil {
		t.Error("a key that is still in the keyring was removed")
	}
	k = New(Options{Dir: filepath.Dir(k.Path())}) // a machine without a keyring
	if _, err := k.For(config.Provider{Name: "p"})(t.Context()); fault.CodeOf(err) != fault.Unauthorised {
		t.Errorf("error %v", err)
	}
}

// A keyring that never answers holds nobody up for longer than its time, and a
// person hears after a moment what is being waited for.
func TestKeyringThatHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var heard said
		ring := &memory{keys: map[string]string{}, hang: make(chan struct{})}
		defer func() { close(ring.hang); synctest.Wait() }()
		k := New(Options{Keyring: ring, Notice: heard.notice})
		begin := time.Now()
		err := k.askKeyring(t.Context(), func() error { return ring.Set("p", "x") })
		if err == nil || err.Error() != "the keyring: no answer within 20s" || time.Since(begin) != keyringTime {
			t.Errorf("after %v: %v", time.Since(begin), err)
		}
		if len(heard.lines) != 1 || heard.lines[0] != "waiting for the keyring; it may want to be unlocked" {
			t.Errorf("notices %q", heard.lines)
		}
		if again := k.askKeyring(t.Context(), func() error { return ring.Set("p", "x") }); !errors.Is(again, err) || time.Since(begin) != keyringTime {
			t.Errorf("asked again: %v after %v", again, time.Since(begin))
		}
	})
	synctest.Test(t, func(t *testing.T) {
		ring := &memory{keys: map[string]string{}, hang: make(chan struct{})}
		defer func() { close(ring.hang); synctest.Wait() }()
		k := New(Options{Keyring: ring})
		gone := errors.New("gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(gone) })
		if err := k.askKeyring(ctx, func() error { return ring.Set("p", "x") }); !errors.Is(err, gone) {
			t.Errorf("a wait that was given up: %v", err)
		}
	})
}

func TestWhetherThereIsAKeyring(t *testing.T) {
	t.Parallel()
	env := func(pairs map[string]string) func(string) (string, bool) {
		return func(n string) (string, bool) { v, ok := pairs[n]; return v, ok }
	}
	if ring, why := SystemKeyring(env(map[string]string{"FETTLE_KEYRING": "Off", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/x"})); ring != nil || why != "FETTLE_KEYRING is off" {
		t.Errorf("%v, %q", ring, why)
	}
	if noKeyring(env(nil)) == "" {
		return // a system that always has one
	}
	for address, want := range map[string]bool{"unix:path=/run/x": true, "": false, "autolaunch:": false} {
		ring, why := SystemKeyring(env(map[string]string{"DBUS_SESSION_BUS_ADDRESS": address, "XDG_RUNTIME_DIR": t.TempDir()}))
		if (ring != nil) != want || (why == "") != want {
			t.Errorf("%q: %v, %q", address, ring, why)
		}
	}
}

// busEnv makes the test binary the program that runs on a session bus of its
// own, where a real Secret Service is.
const busEnv = "KEYS_TEST_ON_THE_BUS"

func TestRealSecretService(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"dbus-run-session", "gnome-keyring-daemon"} {
		needtest.Program(t, program)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	const script = `printf 'password\n' | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1; exec "$0"`
	cmd := exec.CommandContext(ctx, "dbus-run-session", "--", "sh", "-c", script, os.Args[0])
	home := t.TempDir()
	cmd.Env = append(os.Environ(), busEnv+"="+t.TempDir(), "HOME="+home, "XDG_RUNTIME_DIR="+t.TempDir(), "XDG_DATA_HOME="+home,
		"XDG_CONFIG_HOME="+home, "XDG_CACHE_HOME="+home, "FETTLE_KEYRING=")
	cmd.WaitDelay = time.Second // the daemon may hold the pipe
	out, err := cmd.CombinedOutput()
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) || !strings.Contains(string(out), "all is well") {
		t.Errorf("%v\n%s", err, out)
	}
}

// onTheBus keeps, finds and removes a key with the system's own keyring.
func onTheBus() int {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	ring, why := SystemKeyring(os.LookupEnv)
	if ring == nil {
		fmt.Println(why)
		return 1
	}
	k := New(Options{Dir: os.Getenv(busEnv), Keyring: ring, Notice: func(s string) { fmt.Println("notice:", s) }})
	p := config.Provider{Name: "some.provider"}
	place, err := k.Set(ctx, p.Name, longKey, false)
	if place != InKeyring || err != nil {
		fmt.Println("set:", place, err)
		return 1
	}
	if key, err := k.For(p)(ctx); key != longKey || err != nil {
		fmt.Println("get:", key == longKey, err)
		return 1
	}
	if err := ring.Remove(p.Name); err != nil {
		fmt.Println("remove:", err)
		return 1
	}
	if err := ring.Remove(p.Name); !errors.Is(err, ErrNoEntry) {
		fmt.Println("remove again:", err)
		return 1
	}
	if _, err := k.For(p)(ctx); err == nil || err.Error() != "the keyring has no key of some.provider any more" {
		fmt.Println("get again:", err)
		return 1
	}
	fmt.Println("all is well")
	return 0
}
