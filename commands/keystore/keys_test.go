package keystore

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/commands/remedy"
	"github.com/fettle-cli/fettle/engine/fault"
)

func TestMain(m *testing.M) {
	if os.Getenv(busEnv) != "" {
		os.Exit(onTheBus())
	}
	goleak.VerifyTestMain(m)
}

// memory is a keyring of a test.
type memory struct {
	mu   sync.Mutex
	keys map[string]string
	err  error         // what every call fails with
	hang chan struct{} // what every call waits for
	used int
}

func (m *memory) call() error {
	if m.hang != nil {
		<-m.hang
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.used++
	return m.err
}

func (m *memory) Get(name string) (string, error) {
	if err := m.call(); err != nil {
		return "", err
	}
	key, ok := m.keys[name]
	if !ok {
		return "", ErrNoEntry
	}
	return key, nil
}

func (m *memory) Set(name, key string) error {
	if err := m.call(); err != nil {
		return err
	}
	m.keys[name] = key
	return nil
}

func (m *memory) Remove(name string) error {
	if err := m.call(); err != nil {
		return err
	}
	if _, ok := m.keys[name]; !ok {
		return ErrNoEntry
	}
	delete(m.keys, name)
	return nil
}

// said gathers notices.
type said struct {
	mu    sync.Mutex
	lines []string
}

func (s *said) notice(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, line)
}

func allow(context.Context, Command) error { return nil }

const longKey = "sk-EXAMPLEnotrealEXAMPLEnotreal-tail"

// provider is one of the configuration, read from a file as people write it.
func provider(t *testing.T, name, yaml string, env map[string]string) config.Provider {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(config.Options{File: path, Env: func(n string) (string, bool) { v, ok := env[n]; return v, ok }})
	if err != nil {
		t.Fatal(err)
	}
	return c.Providers[name]
}

func TestTheOrderOfPlaces(t *testing.T) {
	t.Parallel()
	const withKey = "providers: {p: {base_url: http://127.0.0.1/v1, key_env: P_KEY, key: from-file}}"
	const withCommand = "providers: {p: {base_url: http://127.0.0.1/v1, key_env: P_KEY, key: '!echo from-command'}}"
	const bare = "providers: {p: {base_url: http://127.0.0.1/v1, key_env: P_KEY}}"
	for _, tt := range []struct {
		name, yaml string
		env        map[string]string
		kept       string
		inFile     bool
		want       string
		ready      bool
	}{
		{"the variable before the file", withKey, map[string]string{"P_KEY": "from-env"}, "kept", false, "from-env", true},
		{"the variable before a command", withCommand, map[string]string{"P_KEY": "from-env"}, "kept", false, "from-env", true},
		{"the configuration before what is kept", withKey, nil, "kept", false, "from-file", true},
		{"a command before what is kept", withCommand, nil, "kept", false, "from-command", true},
		{"the keyring", bare, nil, "kept", false, "kept", true},
		{"the file", bare, nil, "kept", true, "kept", true},
		{"none, for an address that may need none", bare, nil, "", false, "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if runtime.GOOS == "windows" && tt.want == "from-command" {
				t.Skip("the command is for a POSIX shell")
			}
			ring := &memory{keys: map[string]string{}}
			k := New(Options{Dir: t.TempDir(), Keyring: ring, Allow: allow})
			if tt.kept != "" {
				if _, err := k.Set(t.Context(), "p", tt.kept, tt.inFile); err != nil {
					t.Fatal(err)
				}
			}
			p := provider(t, "p", tt.yaml, tt.env)
			key, err := k.For(p)(t.Context())
			if key != tt.want || err != nil || k.Ready(p) != tt.ready {
				t.Errorf("key %q, %v, ready %v; want %q, %v", key, err, k.Ready(p), tt.want, tt.ready)
			}
		})
	}
}

// Nothing is asked for a name that the file doesn't have: no keyring, no prompt.
func TestTheKeyringIsAskedForKnownNamesOnly(t *testing.T) {
	t.Parallel()
	ring := &memory{keys: map[string]string{"p": "x"}}
	k := New(Options{Dir: t.TempDir(), Keyring: ring})
	key, err := k.For(config.Provider{Name: "p"})(t.Context())
	if key != "" || err != nil || ring.used != 0 {
		t.Errorf("key %q, %v, %d questions", key, err, ring.used)
	}
}

func TestNoKey(t *testing.T) {
	t.Parallel()
	k := New(Options{Dir: t.TempDir()})
	_, err := k.For(provider(t, "anthropic", "", nil))(t.Context())
	var f *fault.Fault
	if !errors.As(err, &f) || f.Code != fault.Unauthorised {
		t.Fatalf("error %v", err)
	}
	want := `no key for anthropic
looked for  ANTHROPIC_API_KEY             not set
            providers.anthropic.key       not set
            fettle keys                   none
export ANTHROPIC_API_KEY=…
fettle keys set anthropic`
	if got := strings.Join(append(append([]string{f.Msg}, f.Detail...), remedy.Lines(f)...), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	// At another address the same provider may want none.
	other := provider(t, "anthropic", "providers: {anthropic: {base_url: http://127.0.0.1:1}}", nil)
	if key, err := k.For(other)(t.Context()); key != "" || err != nil {
		t.Errorf("key %q, %v", key, err)
	}
}

func TestTheFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	k := New(Options{Dir: dir})
	ctx := t.Context()
	for _, name := range []string{"work", "openai"} {
		if place, err := k.Set(ctx, name, " "+longKey+"\n", false); place != InFile || err != nil {
			t.Fatalf("place %s, %v", place, err)
		}
	}
	data, err := os.ReadFile(k.Path())
	if want := fileHead + "work: " + longKey + "\nopenai: " + longKey + "\n"; string(data) != want || err != nil {
		t.Errorf("the file is %q, %v", data, err)
	}
	if info, err := os.Stat(k.Path()); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if place, err := k.Remove(ctx, "work"); place != InFile || err != nil {
		t.Errorf("removed from %s, %v", place, err)
	}
	if _, err := k.Remove(ctx, "opnai"); fault.CodeOf(err) != fault.NotFound || err.Error() != "no key of opnai is kept (did you mean openai?)" {
		t.Errorf("removed what isn't there: %v", err)
	}
	for name, key := range map[string]string{"a b": longKey, "script": longKey, "x": "two words", "y": "", "": "x", "z": "!op read"} {
		if _, err := k.Set(ctx, name, key, false); fault.CodeOf(err) != fault.Usage || strings.Contains(err.Error(), "two words") {
			t.Errorf("Set(%q): %v", name, err)
		}
	}
}

func TestAFileThatOthersCanRead(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("windows has no mode bits")
	}
	k := New(Options{Dir: t.TempDir()})
	p := config.Provider{Name: "p"}
	if err := os.WriteFile(k.Path(), []byte("p: "+longKey+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []os.FileMode{0o640, 0o604, 0o620, 0o660} {
		if err := os.Chmod(k.Path(), mode); err != nil {
			t.Fatal(err)
		}
		_, err := k.For(p)(t.Context())
		var f *fault.Fault
		if !errors.As(err, &f) || f.Code != fault.Config || f.Remedies[0].Text != "chmod 600 "+k.Path() || strings.Contains(f.Msg, "EXAMPLE") {
			t.Errorf("mode %o: %v", mode, err)
		}
		if key, err := k.For(config.Provider{Name: "other"})(t.Context()); key != "" || err != nil {
			t.Errorf("mode %o keeps others from working: %v", mode, err)
		}
		found, err := k.List(nil)
		if err != nil || len(found) != 1 || !found[0].Sources[0].Exposed {
			t.Errorf("mode %o: list %+v, %v", mode, found, err)
		}
	}
	if _, err := k.Set(t.Context(), "q", longKey, true); err != nil {
		t.Fatal(err)
	}
	if key, err := k.For(p)(t.Context()); key != longKey || err != nil {
		t.Errorf("after a change that mended the mode: %v", err)
	}
}

// TestFilesByHand checks that a file written by hand is read, and that no error quotes a key.
func TestFilesByHand(t *testing.T) {
	t.Parallel()
	const secret = "hunter2hunter2"
	for _, tt := range []struct{ text, err string }{
		{"", ""}, {"# nothing\n", ""}, {"---\n", ""},
		{"a: " + secret + " # mine\nb: \"" + secret + "\"\nc: {keyring: true, ends: abcd}\n", ""},
		{"- " + secret, "line 1: expected names, each followed by a key"},
		{secret, "line 1: expected names, each followed by a key"},
		{"a: x\n" + secret + " x: y", "line 2: expected the name of a provider"},
		{"a: x\na: " + secret, "line 2: a is here a second time"},
		{"a: [" + secret + "]", "line 1: the value of a is not a key"},
		{"a: " + secret + " " + secret, "line 1: the value of a is not a key"},
		{"a:\n", "line 1: the value of a is not a key"},
		{"a: {keyring: false}", "line 1: the value of a is not a key"},
		{"a: {keyring: true, ends: " + secret + "}", "line 1: the value of a is not a key"},
		{"a: {key: " + secret + "}", "line 1: the value of a is not a key"},
		{"a: &x " + secret + "\nb: *x", "line 2: the value of b is not a key"},
		{"a: '" + secret, "line 1 is not YAML"},
		{"\x00" + secret, "line 1 is not YAML"},
		{strings.Repeat("[", 100) + secret, "line 1 is not YAML"},
	} {
		_, err := parseFile(tt.text)
		if got := errorText(err); got != tt.err || strings.Contains(got, "unter2") {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.err)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// A file that was written by hand keeps its comments.
func TestChangesKeepComments(t *testing.T) {
	t.Parallel()
	k := New(Options{Dir: t.TempDir(), Keyring: &memory{keys: map[string]string{}}})
	if err := os.WriteFile(k.Path(), []byte("# mine\na: old # of last year\n\nb: other\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Set(t.Context(), "a", "new-key", true); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Set(t.Context(), "b", longKey, false); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(k.Path())
	if want := "# mine\na: new-key # of last year\nb:\n  keyring: true\n  ends: tail\n\n"; string(data) != want || err != nil {
		t.Errorf("the file is %q, %v", data, err)
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	env := map[string]string{"OPENAI_API_KEY": longKey, "P_KEY": "short"}
	yaml := "providers:\n  p: {base_url: http://127.0.0.1, key_env: P_KEY, key: ignored}\n  q: {base_url: http://127.0.0.1, key: " + longKey + "}\n" +
		"  r: {base_url: http://127.0.0.1, key: '!false'}\n  s: {base_url: http://127.0.0.1}\n"
	providers := map[string]config.Provider{}
	for _, name := range []string{"openai", "anthropic", "p", "q", "r", "s"} {
		providers[name] = provider(t, name, yaml, env)
	}
	ring := &memory{keys: map[string]string{}}
	k := New(Options{Dir: t.TempDir(), Keyring: ring, Env: func(n string) (string, bool) { v, ok := env[n]; return v, ok }})
	for _, name := range []string{"openai", "z"} {
		if _, err := k.Set(t.Context(), name, longKey, name == "openai"); err != nil {
			t.Fatal(err)
		}
	}
	used := ring.used
	found, err := k.List(providers)
	if err != nil || ring.used != used {
		t.Fatalf("%v, %d questions to the keyring", err, ring.used-used)
	}
	var got []string
	for _, f := range found {
		for _, s := range f.Sources {
			got = append(got, strings.Join([]string{f.Name, string(s.Place), s.Name, s.Ends}, " "))
		}
	}
	want := []string{"openai environment OPENAI_API_KEY tail", "openai file  tail", "p environment P_KEY ", "q configuration  tail", "r command  ", "z keyring  tail"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func FuzzParseFile(f *testing.F) {
	f.Add("a: key\nb: {keyring: true, ends: abcd}\n")
	f.Add("- x")
	f.Fuzz(func(t *testing.T, text string) {
		entries, err := parseFile(text)
		if err != nil && (strings.ContainsAny(err.Error(), "\n\x1b") || len(err.Error()) > 200) {
			t.Errorf("error %q", err)
		}
		for name, e := range entries {
			if _, err := config.ParseKey(e.key.Reveal()); !config.ValidProvider(name) || !e.inKeyring && err != nil || len(e.ends) > endsLength {
				t.Errorf("%q: %+v", name, e)
			}
		}
	})
}
