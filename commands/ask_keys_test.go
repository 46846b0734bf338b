package commands_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/fettle-cli/fettle/commands/commandtest"
	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/internal/needtest"
)

// address is a server that models are asked at, and what it was sent.
type address struct {
	*httptest.Server
	mu    sync.Mutex
	heard []http.Header
}

// listen begins a server; nil answers each protocol with "fine".
func listen(t *testing.T, answer http.HandlerFunc) *address {
	t.Helper()
	if answer == nil {
		answer = func(w http.ResponseWriter, r *http.Request) { commandtest.Say(w, r, "fi", "ne") }
	}
	a := &address{}
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.mu.Lock()
		a.heard = append(a.heard, r.Header.Clone())
		a.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(a.Close)
	return a
}

// headers are those of the last request; nil where none came since the last
// look.
func (a *address) headers() http.Header {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.heard) == 0 {
		return nil
	}
	last := a.heard[len(a.heard)-1]
	a.heard = nil
	return last
}

// keyIn is the key of a request, however a protocol carries it.
func keyIn(h http.Header) string {
	if key := h.Get("X-Api-Key"); key != "" {
		return key
	}
	return strings.TrimPrefix(h.Get("Authorization"), "Bearer ")
}

// types are the protocols that a provider may have.
func types() []string {
	return []string{config.TypeOpenAI, config.TypeAnthropic, config.TypeMistral}
}

const (
	envKey, fileKey, confKey, commandKey = "sk-EXAMPLEfromenvironment", "sk-EXAMPLEfromthefile", "sk-EXAMPLEfromconfiguration", "sk-EXAMPLEfromacommand"
)

// ask asks the provider lab, and gives the headers that its address got.
func (w *world) ask(a *address, status int, args ...string) (headers http.Header, stderr string) {
	w.T.Helper()
	out, stderr := w.Run(status, append([]string{"ask", "--no-stdin", "--no-tools", "-m", "lab/m", "hi"}, args...)...)
	if status == 0 && out != "fine\n" {
		w.T.Errorf("the answer is %q", out)
	}
	return a.headers(), stderr
}

// The first of these places that has a key is the one that is used: the
// variable, the configuration, what keys set has kept.
func TestAskUsesTheKeyOfTheFirstPlaceThatHasOne(t *testing.T) {
	t.Parallel()
	for _, kind := range types() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			a, w := listen(t, nil), newWorld(t, "responses: [{text: x}]")
			lab := "providers:\n  lab:\n    type: " + kind + "\n    base_url: " + a.URL + "\n    key_env: LAB_KEY\n"
			w.Configure(lab)
			if h, _ := w.ask(a, 0); keyIn(h) != "" {
				t.Errorf("without a key it sends %q", keyIn(h))
			}
			commandtest.Put(t, filepath.Join(w.Dir, "config", "keys.yaml"), "lab: "+fileKey+"\n")
			if h, _ := w.ask(a, 0); keyIn(h) != fileKey {
				t.Errorf("the file's: %q", keyIn(h))
			}
			w.Configure(lab + "    key: " + confKey + "\n    headers: {X-Team: blue, X-Two: 'a b'}\n")
			h, _ := w.ask(a, 0)
			if keyIn(h) != confKey || h.Get("X-Team") != "blue" || h.Get("X-Two") != "a b" {
				t.Errorf("the configuration's: %v", h)
			}
			w.Env = append(w.Env, "LAB_KEY="+envKey)
			if h, _ := w.ask(a, 0); keyIn(h) != envKey {
				t.Errorf("the variable's: %q", keyIn(h))
			}
			w.Env = append(w.Env, "LAB_KEY= ")
			if h, _ := w.ask(a, 0); keyIn(h) != confKey {
				t.Errorf("an empty variable is one that isn't set: %q", keyIn(h))
			}
		})
	}
}

// A builtin provider has a variable of its own, and the place of its own key.
func TestAskUsesTheVariablesOfABuiltinProvider(t *testing.T) {
	t.Parallel()
	a, w := listen(t, nil), newWorld(t, "responses: [{text: x}]")
	ask := func(status int) (http.Header, string) {
		_, stderr := w.Run(status, "ask", "--no-stdin", "-m", "anthropic/m", "hi")
		return a.headers(), stderr
	}
	_, stderr := ask(5) // its own address answers nobody without a key, and isn't asked
	if want := "fettle: no key for anthropic\n  looked for  ANTHROPIC_API_KEY"; !strings.HasPrefix(stderr, want) ||
		!strings.Contains(stderr, "export ANTHROPIC_API_KEY=…") || !strings.Contains(stderr, "fettle keys set anthropic") {
		t.Errorf("%s", stderr)
	}
	w.Env = append(w.Env, "ANTHROPIC_BASE_URL="+a.URL, "ANTHROPIC_API_KEY="+envKey)
	if h, _ := ask(0); keyIn(h) != envKey {
		t.Errorf("sends %q", keyIn(h))
	}
}

// An Ollama that wants a key gets the one of its variable, or what was kept.
func TestOllamaGetsItsKey(t *testing.T) {
	t.Parallel()
	a := listen(t, func(w http.ResponseWriter, r *http.Request) {
		if keyIn(r.Header) == "" {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"error":"unauthorized"}`)
			return
		}
		fmt.Fprint(w, `{"models":[{"name":"m","model":"m"}]}`)
	})
	w := newWorld(t, "responses: [{text: x}]")
	w.Env = append(w.Env, "OLLAMA_HOST="+a.URL, "FETTLE_RETRIES=0")
	list := func(status int) (string, string) {
		_, stderr := w.Run(status, "models", "list", "--provider", "ollama", "--refresh")
		return keyIn(a.headers()), stderr
	}
	if key, stderr := list(4); key != "" || !strings.Contains(stderr, "fettle keys set ollama") {
		t.Errorf("sends %q: %s", key, stderr)
	}
	cmd := w.Command("keys", "set", "ollama")
	cmd.Stdin = strings.NewReader(fileKey)
	if out, err := cmd.CombinedOutput(); err != nil || strings.Count(string(out), "\n") != 1 {
		t.Errorf("%v: %s", err, out)
	}
	if key, _ := list(0); key != fileKey {
		t.Errorf("sends %q", key)
	}
	w.Env = append(w.Env, "OLLAMA_API_KEY="+envKey)
	if key, _ := list(0); key != envKey {
		t.Errorf("sends %q", key)
	}
	out, _ := w.Run(0, "keys", "list")
	if want := "ollama\tthe variable OLLAMA_API_KEY\tment\t\nollama\t"; !strings.HasPrefix(out, want) {
		t.Errorf("%q", out)
	}
}

// A file of keys that others can read is refused, and so is the question.
func TestAskRefusesAKeyThatOthersCanRead(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("modes are not what guards a file on Windows")
	}
	a, w := listen(t, nil), newWorld(t, "responses: [{text: x}]")
	w.Configure("providers: {lab: {base_url: \"" + a.URL + "\"}}\n")
	file := filepath.Join(w.Dir, "config", "keys.yaml")
	commandtest.Put(t, file, "lab: "+fileKey+"\n")
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	h, stderr := w.ask(a, 3)
	if want := "fettle: the key of lab isn't used: others can read " + file + " (mode 0644)\n  try   chmod 600 " + file + "\n   or   fettle ask --chat 1 --retry   asks the question again\n"; h != nil || stderr != want {
		t.Errorf("%v, %s", h, stderr)
	}
}

// A command runs only once it was allowed, and then each time without a word;
// another provider's key is not in its environment.
func TestAskRunsAKeysCommandOnceItIsTrusted(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the command is for a POSIX shell")
	}
	a, w := listen(t, nil), newWorld(t, "responses: [{text: x}]")
	w.Env = append(w.Env, "OTHER_KEY=sk-EXAMPLEofanother", "OPENAI_API_KEY=sk-EXAMPLEofopenai", "VAULT_TOKEN=EXAMPLEofthevault")
	command := "env >>ran; printf '" + commandKey + "\\nmore\\n'"
	w.Configure("providers:\n  lab: {base_url: \"" + a.URL + "\", key: \"!" + strings.ReplaceAll(command, `\`, `\\`) + "\"}\n" +
		"  other: {base_url: \"" + a.URL + "\", key_env: OTHER_KEY}\n")
	h, stderr := w.ask(a, 8)
	if h != nil || !strings.Contains(stderr, "the key of lab comes from a command that you haven't allowed yet") ||
		!strings.Contains(stderr, "fettle trust --key lab") {
		t.Errorf("%v, %s", h, stderr)
	}
	if _, err := os.Stat(filepath.Join(w.Dir, "ran")); err == nil {
		t.Fatal("a command ran that nobody allowed")
	}
	w.Run(0, "trust", "--command", command)
	for range 2 {
		if h, stderr := w.ask(a, 0); keyIn(h) != commandKey || stderr != "" {
			t.Errorf("sends %q, says %s", keyIn(h), stderr)
		}
	}
	env, err := os.ReadFile(filepath.Join(w.Dir, "ran"))
	if err != nil || !strings.Contains(string(env), "VAULT_TOKEN=") || strings.Contains(string(env), "ofanother") || strings.Contains(string(env), "ofopenai") {
		t.Errorf("%v, the command has the environment\n%s", err, env)
	}
	w.Configure("providers:\n  lab: {base_url: \"" + a.URL + "\", key: \"!echo no >&2; exit 3\"}\n")
	w.Run(0, "trust", "--command", "echo no >&2; exit 3")
	if _, stderr := w.ask(a, 5); !strings.HasPrefix(stderr, "fettle: the command for the key of lab failed: exit status 3: no\n  try   ") {
		t.Errorf("%s", stderr)
	}
}

// A keyring that can't be reached is said once, and the file is used.
func TestKeysFallBackFromAKeyringToTheFile(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Skip("the keyring of this system can't be taken away")
	}
	a, w := listen(t, nil), newWorld(t, "responses: [{text: x}]")
	w.Configure("providers: {lab: {base_url: \"" + a.URL + "\"}}\n")
	w.Env = append(w.Env, "FETTLE_KEYRING=", "DBUS_SESSION_BUS_ADDRESS=unix:path="+filepath.Join(w.Dir, "nosuch"))
	cmd := w.Command("keys", "set", "lab")
	cmd.Stdin = strings.NewReader(fileKey + "\n")
	out, err := cmd.CombinedOutput()
	file := filepath.Join(w.Dir, "config", "keys.yaml")
	if err != nil || strings.Count(string(out), "fettle: the keyring: ") != 1 || !strings.Contains(string(out), "; the key is kept in "+file+"\n") {
		t.Errorf("%v: %s", err, out)
	}
	if h, stderr := w.ask(a, 0); keyIn(h) != fileKey || stderr != "" {
		t.Errorf("sends %q, says %s", keyIn(h), stderr)
	}
	// One that was kept in the keyring can't be had, and the next step is told.
	commandtest.Put(t, file, "lab: {keyring: true, ends: file}\n")
	if h, stderr := w.ask(a, 5); h != nil || !strings.HasPrefix(stderr, "fettle: the key of lab is in the keyring, and can't be had from it\n") ||
		!strings.Contains(stderr, "fettle keys set --file lab") {
		t.Errorf("%v, %s", h, stderr)
	}
}

// With a real Secret Service the key is in no file.
func TestAskUsesAKeyOfTheKeyring(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"dbus-run-session", "gnome-keyring-daemon"} {
		needtest.Program(t, program)
	}
	a, w := listen(t, nil), newWorld(t, "responses: [{text: x}]")
	w.Configure("providers: {lab: {base_url: \"" + a.URL + "\"}}\n")
	const script = `printf 'password\n' | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1
printf '` + fileKey + `\n' | "$0" keys set lab && "$0" keys list && "$0" ask --no-stdin -m lab/m hi && "$0" keys rm lab`
	cmd := w.Command()
	cmd.Path, cmd.Args = lookPath(t, "dbus-run-session"), []string{"dbus-run-session", "--", "sh", "-c", script, os.Args[0]}
	cmd.Env = append(w.Env, "FETTLE_KEYRING=", "DBUS_SESSION_BUS_ADDRESS=", "XDG_RUNTIME_DIR="+t.TempDir(), "XDG_DATA_HOME="+t.TempDir())
	out, _ := cmd.CombinedOutput() // the daemon may hold the pipe
	for _, want := range []string{"the key of lab is kept in the keyring\n", "lab\tthe keyring\t", "fine\n", "the key of lab is forgotten; it was in the keyring\n"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%q is missing:\n%s", want, out)
		}
	}
	if h := a.headers(); keyIn(h) != fileKey {
		t.Errorf("sends %q", keyIn(h))
	}
	if data, err := os.ReadFile(filepath.Join(w.Dir, "config", "keys.yaml")); strings.Contains(string(data), "EXAMPLE") {
		t.Errorf("%v: the file has %s", err, data)
	}
}

func lookPath(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// A project can't send a key anywhere before it is trusted, and then it can.
func TestAProjectSendsNoKeyElsewhereUntilItIsTrusted(t *testing.T) {
	t.Parallel()
	mine, theirs, w := listen(t, nil), listen(t, nil), newWorld(t, "responses: [{text: x}]")
	w.Configure("providers: {lab: {base_url: \"" + mine.URL + "\", key: " + confKey + "}}\nprofiles: {p: {retries: 0}}\n")
	commandtest.Put(t, filepath.Join(w.Dir, ".fettle", "config.yaml"), "providers: {lab: {base_url: \""+theirs.URL+"\", headers: {X-Theirs: yes}}}\n"+
		"profiles: {p: {providers: {lab: {base_url: \""+theirs.URL+"\"}}}}\n")
	for _, args := range [][]string{nil, {"--profile", "p"}} {
		h, stderr := w.ask(mine, 0, args...)
		if keyIn(h) != confKey || h.Get("X-Theirs") != "" || !strings.Contains(stderr, "not read until you trust this file: providers.lab") {
			t.Errorf("%v: mine got %v; %s", args, h, stderr)
		}
		if h := theirs.headers(); h != nil {
			t.Errorf("%v: theirs got %v", args, h)
		}
	}
	out, _ := w.Run(0, "trust", "-o", "json")
	var p struct{ SHA256 string }
	if err := json.Unmarshal([]byte(out), &p); err != nil {
		t.Fatal(err)
	}
	w.Run(0, "trust", "--sha256", p.SHA256)
	if h, stderr := w.ask(theirs, 0); keyIn(h) != confKey || h.Get("X-Theirs") != "yes" || stderr != "" {
		t.Errorf("trusted: %v; %s", h, stderr)
	}
}

// A key that is refused ends with its own status, the server's words, and what
// to look at.
func TestAskTellsThatAKeyIsRefused(t *testing.T) {
	t.Parallel()
	for _, kind := range types() {
		a := listen(t, func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"type":"error","error":{"type":"authentication_error","message":"invalid key %s"}}`, keyIn(r.Header))
		})
		w := newWorld(t, "responses: [{text: x}]")
		w.Configure("providers: {lab: {type: " + kind + ", base_url: \"" + a.URL + "\", key: " + confKey + "}}\n")
		_, stderr := w.ask(a, 5)
		if want := "fettle: lab: 401: invalid key [key]\n  try   fettle keys list   tells which key was used\n   or   fettle keys set lab   keeps another one\n   or   fettle ask --chat 1 --retry   asks the question again\n"; stderr != want {
			t.Errorf("%s: %s", kind, stderr)
		}
	}
}
