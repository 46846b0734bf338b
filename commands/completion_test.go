//go:build linux || darwin

package commands_test

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"

	"github.com/fettle-cli/fettle/commands/commandtest"
	"github.com/fettle-cli/fettle/internal/needtest"
)

// shellWait bounds what a shell may take: it starts in a second, but the
// machine may be busy.
const shellWait = 30 * time.Second

// shellWorld is a world with models, chats, prompts and files to complete, and
// a fettle on the PATH that writes down what it is called with.
func shellWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, "responses: [{text: One.}, {text: Two.}]")
	w.shell()
	w.Run(0, "ask", "--no-stdin", "A question with 'quotes' and: colons")
	calls := filepath.Join(w.Dir, "calls")
	wrapper := fmt.Sprintf("#!/bin/sh\ncase $1 in __complete|completion) exec '%s' \"$@\" ;; esac\n"+
		"for a; do printf '<%%s>' \"$a\"; done >>'%s'; echo >>'%s'\n", os.Args[0], calls, calls)
	for path, content := range map[string]string{
		filepath.Join(w.Dir, "bin", "fettle"): wrapper,
		filepath.Join(w.Dir, "data", "cache", "models", "list-ollama.json"): `{"version":1,"provider":"ollama","address":"http://127.0.0.1:1",
			"asked_at":"2026-11-28T01:02:03Z","models":[{"name":"qwen3:8b","context_length":40960,"tools":true},{"name":"qwen3:32b"},
			{"name":"llama3.2"},{"name":"evil$(reboot)"},{"name":"evil;reboot"}]}`,
		filepath.Join(w.Dir, "config", "config.yaml"):             "models: {\"openai/My.Model:7B\": {tools: true}}\n",
		filepath.Join(w.Dir, "config", "prompts", "review.md"):    "Review this. {{input}}\n",
		filepath.Join(w.Dir, "config", "prompts", "summarise.md"): "---\ndescription: A short one\n---\nSum this up. {{input}}\n",
		filepath.Join(w.project(), "notes and more.md"):           "# Notes\n",
		filepath.Join(w.project(), "sources", "a.go"):             "package a\n",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := commandtest.WriteProgram(path, content); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// program finds a shell, or skips.
func program(t *testing.T, name string, needed bool) string {
	t.Helper()
	if needed {
		return needtest.Program(t, name)
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not on the PATH", name)
	}
	return path
}

// session is a shell on a terminal of its own.
type session struct {
	t    *testing.T
	w    *world
	pty  *os.File
	done chan struct{}

	mu    sync.Mutex
	shown bytes.Buffer
	calls int
}

func (w *world) session(args []string, setup string) *session {
	t := w.T
	t.Helper()
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Env = append(w.Env, "TERM=xterm", "PS1=> ", "INPUTRC=/dev/null", "HISTFILE=", "FETTLE_MODEL=")
	cmd.Dir = w.project()
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 50, Cols: 120})
	if err != nil {
		needtest.Lacking(t, "pseudo-terminals: "+err.Error())
	}
	s := &session{t: t, w: w, pty: f, done: make(chan struct{})}
	go s.watch()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = f.Close()
		<-s.done
	})
	s.write(setup + "; fettle ready\n")
	s.call()
	return s
}

func (s *session) watch() {
	defer close(s.done)
	buf := make([]byte, 4096)
	for {
		n, err := s.pty.Read(buf)
		s.mu.Lock()
		s.shown.Write(buf[:n])
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (s *session) write(text string) {
	s.t.Helper()
	if _, err := s.pty.WriteString(text); err != nil {
		s.t.Fatal(err)
	}
}

// call waits for the next call of fettle and gives its arguments, as <a><b>.
func (s *session) call() string {
	s.t.Helper()
	s.calls++
	for deadline := time.Now().Add(shellWait); ; time.Sleep(5 * time.Millisecond) {
		data, _ := os.ReadFile(filepath.Join(s.w.Dir, "calls"))
		if lines := strings.SplitAfter(string(data), "\n"); len(lines) > s.calls {
			return strings.TrimSuffix(lines[s.calls-1], "\n")
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("fettle was not called; the shell shows\n%s", s.screen())
		}
	}
}

func (s *session) screen() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown.String()
}

// until waits for text on the screen.
func (s *session) until(text string) {
	s.t.Helper()
	for deadline := time.Now().Add(shellWait); !strings.Contains(s.screen(), text); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("%q is not shown in\n%s", text, s.screen())
		}
	}
}

// lines are what a person types, with <tab> for the key, and what fettle is
// called with then.
func lines() map[string]string {
	return map[string]string{
		"fettle mod<tab>":                                  "<models>",
		"fettle chats sho<tab> 2":                          "<chats><show><2>",
		"fettle ask -m ollama/l<tab> hi":                   "<ask><-m><ollama/llama3.2><hi>",
		"fettle ask -m ollama/qwen3:3<tab> hi":             "<ask><-m><ollama/qwen3:32b><hi>",
		"fettle ask -m ol<tab>q<tab>8<tab> hi":             "<ask><-m><ollama/qwen3:8b><hi>",
		"fettle ask --model=ollama/qwen3:3<tab> hi":        "<ask><--model=ollama/qwen3:32b><hi>",
		"fettle ask -m openai/M<tab> hi":                   "<ask><-m><openai/My.Model:7B><hi>",
		"fettle ask -m ollama/e<tab> hi":                   "<ask><-m><ollama/e><hi>", // nothing that a shell could run
		"fettle ask 'a question' --no-to<tab>":             "<ask><a question><--no-tools>",
		"fettle ask -p su<tab> hi":                         "<ask><-p><summarise><hi>",
		"fettle ask -o ev<tab> hi":                         "<ask><-o><events><hi>",
		"fettle ask --color al<tab> hi":                    "<ask><--color><always><hi>",
		"fettle ask -f note<tab> hi":                       "<ask><-f><notes and more.md><hi>",
		"fettle ask -w sou<tab> hi":                        "<ask><-w><sources/><hi>",
		"fettle ask -f sources/<tab> hi":                   "<ask><-f><sources/a.go><hi>",
		"X=1 fettle ask -m ollama/l<tab> hi":               "<ask><-m><ollama/llama3.2><hi>",
		"true && fettle ask -m ollama/l<tab> hi":           "<ask><-m><ollama/llama3.2><hi>",
		"fettle models rm ll<tab>":                         "<models><rm><llama3.2>",
		"fettle help pip<tab>":                             "<help><pipelines>",
		"fettle help models sh<tab>":                       "<help><models><show>",
		"fettle config get limits.ti<tab>":                 "<config><get><limits.timeout>",
		"fettle config set color al<tab>":                  "<config><set><color><always>",
		"fettle config set model ollama/l<tab>":            "<config><set><model><ollama/llama3.2>",
		"fettle keys set anth<tab>":                        "<keys><set><anthropic>",
		"fettle usage --by da<tab>":                        "<usage><--by><day>",
		"fettle models list --provider mis<tab>":           "<models><list><--provider><mistral>",
		"fettle prompts show rev<tab>":                     "<prompts><show><review>",
		"fettle ask --system-nosuch<tab> hi":               "<ask><--system-nosuch><hi>", // nothing fits, nothing is said
		"fettle ask -- --no-to<tab>":                       "<ask><--><--no-to>",
		"fettle ask \"what is this?\" -m \"ollama/l<tab>":  "<ask><what is this?><-m><ollama/llama3.2>",
		"fettle ask -s \"be brief\" --ephem<tab> \"a b\"":  "<ask><-s><be brief><--ephemeral><a b>",
		"fettle ask --allow write<tab> --tool list<tab> x": "<ask><--allow><write_file><--tool><list_files><x>",
	}
}

// types types every line of the table and checks what fettle is called with.
func (s *session) types(but map[string]string) {
	s.t.Helper()
	for typed, want := range lines() {
		if other, ok := but[typed]; ok {
			want = other
		}
		s.write(strings.ReplaceAll(typed, "<tab>", "\t") + "\n")
		if got := s.call(); got != want {
			s.t.Errorf("%s\ncalls %s\nwant  %s", typed, got, want)
		}
	}
}

func TestBashCompletes(t *testing.T) {
	t.Parallel()
	bash := program(t, "bash", true)
	w := shellWorld(t)
	s := w.session([]string{bash, "--norc", "--noprofile", "-i"},
		"bind 'set enable-bracketed-paste off'; bind 'set bell-style none'; bind 'set page-completions off'; source <(fettle completion bash)")
	s.types(nil)

	s.write("fettle ask --chat \t\t")
	s.until("(A question with 'quotes' and: colons)")
	s.until("(so that there is a chat)")
	s.write("2\n")
	if got := s.call(); got != "<ask><--chat><2>" {
		t.Errorf("after the list: %s", got)
	}
	s.write("fettle ask -m ollama/qwen3:\t\t")
	s.until("(40k context, tools)")
	s.write("8\t hi\n")
	if got := s.call(); got != "<ask><-m><ollama/qwen3:8b><hi>" {
		t.Errorf("after the list of models: %s", got)
	}
	// In the middle of a word what is behind the cursor stays.
	s.write("fettle ask -m olllama3.2 hi" + strings.Repeat("\x02", len("llama3.2 hi")) + "\t\n")
	if got := s.call(); !strings.HasPrefix(got, "<ask><-m><ollama/") {
		t.Errorf("in a word: %s", got)
	}
}

func TestZshCompletes(t *testing.T) {
	t.Parallel()
	zsh := program(t, "zsh", true)
	w := shellWorld(t)
	s := w.session([]string{zsh, "-f", "-i"},
		"unsetopt prompt_sp prompt_cr zle_bracketed_paste 2>/dev/null; setopt no_beep; autoload -Uz compinit && compinit -u -D; source <(fettle completion zsh)")
	s.types(map[string]string{
		"fettle ask -w sou<tab> hi": "<ask><-w><sources><hi>", // zsh takes the slash off again
	})
	s.write("fettle ask --chat \t")
	s.until("-- A question with 'quotes' and: colons")
	s.write("2\n")
	if got := s.call(); !strings.HasPrefix(got, "<ask><--chat>") {
		t.Errorf("after the list: %s", got)
	}
}

// As a file of its own in a folder of fpath it is loaded at the first use.
func TestZshLoadsTheScriptFromItsPath(t *testing.T) {
	t.Parallel()
	zsh := program(t, "zsh", true)
	w := shellWorld(t)
	script, _ := w.Run(0, "completion", "zsh")
	dir := filepath.Join(w.Dir, "functions")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "_fettle"), []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	s := w.session([]string{zsh, "-f", "-i"},
		"setopt no_beep; unsetopt zle_bracketed_paste 2>/dev/null; fpath=('"+dir+"' $fpath); autoload -Uz compinit && compinit -u -D")
	s.write("fettle ask -m ollama/l\t hi\n")
	if got := s.call(); got != "<ask><-m><ollama/llama3.2><hi>" {
		t.Errorf("it calls %s", got)
	}
}

func TestFishCompletes(t *testing.T) {
	t.Parallel()
	fish := program(t, "fish", true)
	w := shellWorld(t)
	for line, want := range map[string]string{
		"fettle mod":                         "models\tsee, fetch and remove models",
		"fettle ask -m ollama/q":             "ollama/qwen3:8b\t40k context, tools|ollama/qwen3:32b",
		"fettle ask --model=ollama/l":        "--model=ollama/llama3.2",
		"fettle config get retr":             "retries\thow often a request that may succeed later is repeated",
		"fettle config set color ":           "auto|always|never",
		"fettle keys set an":                 "anthropic\tapi.anthropic.com",
		"fettle help exi":                    "exit-codes\twhat the exit status says",
		"fettle usage --by ":                 "model|day|chat",
		"fettle ask --chat ":                 "2\tA question with 'quotes' and: colons|1\tso that there is a chat",
		"fettle ask -p ":                     "draft|review|summarise\tA short one",
		"fettle ask -f note":                 "notes and more.md",
		"fettle ask --file=note":             "--file=notes and more.md",
		"fettle ask -w sou":                  "sources/",
		"fettle ask 'a question' --no-to":    "--no-tools\toffer no tools",
		"true; fettle ask -o ev":             "events\ta line of JSON each",
		"fettle ask -s \"be brief\" --ephem": "--ephemeral\tkeep nothing of this",
	} {
		cmd := exec.CommandContext(t.Context(), fish, "--no-config", "-c", "fettle completion fish | source; complete -C $argv[1]", line)
		cmd.Env, cmd.Dir = append(w.Env, "FETTLE_MODEL="), w.project()
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		got := strings.ReplaceAll(strings.TrimSuffix(string(out), "\n"), "\n", "|")
		if strings.HasPrefix(want, "notes") || strings.HasPrefix(want, "sources") || strings.HasPrefix(want, "--file") {
			got, _, _ = strings.Cut(got, "\t") // what fish says of a file
		}
		if got != want {
			t.Errorf("%s\n%q, want\n%q", line, got, want)
		}
	}
}

// No Debian package has PowerShell, so it is tried only where somebody has it.
func TestPowerShellCompletes(t *testing.T) {
	t.Parallel()
	pwsh := program(t, "pwsh", false)
	w := shellWorld(t)
	for line, want := range map[string]string{
		"fettle mod":                      "models",
		"fettle ask -m ollama/q":          "ollama/qwen3:8b|ollama/qwen3:32b",
		"fettle ask --model=ollama/l":     "--model=ollama/llama3.2",
		"fettle ask --chat ":              "2|1",
		"fettle ask -p ":                  "draft|review|summarise",
		"fettle ask 'a question' --no-to": "--no-tools",
		"fettle ask -o ":                  "text|json|events",
	} {
		cmd := exec.CommandContext(t.Context(), pwsh, "-NoProfile", "-NonInteractive", "-Command",
			"fettle completion powershell | Out-String | Invoke-Expression; $line = $env:LINE; "+
				"([System.Management.Automation.CommandCompletion]::CompleteInput($line, $line.Length, $null)).CompletionMatches | ForEach-Object CompletionText")
		cmd.Env, cmd.Dir = append(w.Env, "FETTLE_MODEL=", "LINE="+line), w.project()
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if got := strings.Join(strings.Fields(string(out)), "|"); got != want {
			t.Errorf("%s\n%q, want\n%q", line, got, want)
		}
	}
}

// A line that is being typed is never spoilt, whatever is wrong.
func TestCompletionNeverComplains(t *testing.T) {
	t.Parallel()
	w := shellWorld(t)
	if err := os.WriteFile(filepath.Join(w.Dir, "config", "config.yaml"), []byte("model: [\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	store := filepath.Join(w.Dir, "data", "store")
	_ = os.RemoveAll(store)
	if err := os.WriteFile(store, []byte("not a folder"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, words := range [][]string{
		{"zsh", "--", "=", "ask", "-m"}, {"zsh", "--", "=", "ask", "--chat"}, {"zsh", "--", "=", "ask", "-p"},
		{"zsh", "--", "=", "models", "list", "--provider"}, {"nosuch", "--", "=x", "nosuch"}, {}, {"zsh"}, {"--", "--", "--"},
	} {
		if _, errs := w.Run(0, append([]string{"__complete"}, words...)...); errs != "" {
			t.Errorf("%q: %s", words, errs)
		}
	}
}

// Completion is a process for each key, so it may cost little more than the
// least that the program can do.
func TestCompletionCost(t *testing.T) {
	w := shellWorld(t)
	w.Run(0, "chats", "list") // which folds, so that there is a store
	const rounds, enough, most = 12, 3, 10
	ways := map[string][]string{
		"version": {"version"}, "commands": {"__complete", "zsh", "--", "=ch"}, "models": {"__complete", "zsh", "--", "=", "ask", "-m"},
		"chats": {"__complete", "zsh", "--", "=", "ask", "--chat"}, "prompts": {"__complete", "zsh", "--", "=", "ask", "-p"},
	}
	best := map[string]time.Duration{}
	ratio := func(name string) float64 { return float64(best[name]) / float64(best["version"]) }
	for round := range rounds { // in turn, so that a busy machine is busy for all
		worst := 0.0
		for name, args := range ways {
			begun := time.Now()
			w.Run(0, args...)
			if took := time.Since(begun); best[name] == 0 || took < best[name] {
				best[name] = took
			}
		}
		for name := range ways {
			worst = max(worst, ratio(name))
		}
		if round+1 >= enough && worst <= most {
			break
		}
	}
	for name := range ways {
		t.Logf("%-8s %.1f ms, %.2f times fettle version", name, best[name].Seconds()*1000, ratio(name))
		if ratio(name) > most {
			t.Errorf("%s: %.1f times what fettle version takes, the limit is %d", name, ratio(name), most)
		}
	}
}

// Completion is a guest in somebody's line: it asks no address and no keyring,
// runs no command, and leaves every file as it is.
func TestCompletionTouchesNothing(t *testing.T) {
	t.Parallel()
	w := shellWorld(t)
	w.Run(0, "ask", "--no-stdin", "one that waits in its journal")
	asked := make(chan string, 100)
	listen := func(network, address string) string {
		l, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		go func() { // ends when the listener does
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				asked <- network + " " + address
				_ = conn.Close()
			}
		}()
		return l.Addr().String()
	}
	socket := filepath.Join(t.TempDir(), "bus") // short enough for a socket's name
	listen("unix", socket)
	w.Configure("providers:\n  far: {base_url: \"http://" + listen("tcp", "127.0.0.1:0") + "/v1\"}\n" +
		"  run: {base_url: \"http://127.0.0.1:1/v1\", key: \"!touch '" + filepath.Join(w.Dir, "ran") + "'\"}\n")
	w.Env = append(w.Env, "DBUS_SESSION_BUS_ADDRESS=unix:path="+socket, "FETTLE_KEYRING=", "FETTLE_MODEL=",
		"OLLAMA_HOST="+listen("tcp", "127.0.0.1:0"), "OPENAI_BASE_URL=http://"+listen("tcp", "127.0.0.1:0"))

	if _, _ = w.Run(4, "models", "list", "--provider", "ollama"); len(asked) == 0 {
		t.Fatal("what would be asked isn't noticed")
	}
	for len(asked) > 0 {
		<-asked
	}
	before := contentsOf(t, w.Dir)
	shells := []string{"bash", "zsh", "fish", "powershell"}
	for i, words := range []string{
		"", "=", "=-", "= ask", "=- ask", "= ask -m", "= ask -p", "= ask --chat", "= ask -o", "= ask -f", "= ask -w", "= ask --allow", "= ask -t",
		"= models show", "= models rm", "= models pull", "= models list --provider", "= prompts show", "= prompts edit", "= chats show",
		"= config get", "= config set", "= config set model", "= config set color", "= keys set", "= keys rm", "= help", "= man models", "= completion", "= trust",
	} {
		shell := shells[i%len(shells)]
		if _, errs := w.Run(0, append([]string{"__complete", shell, "--"}, strings.Fields(words)...)...); errs != "" {
			t.Errorf("%s %q: said %q", shell, words, errs)
		}
	}
	if diff := cmp.Diff(before, contentsOf(t, w.Dir)); diff != "" {
		t.Errorf("files (-before +after):\n%s", diff)
	}
	for len(asked) > 0 {
		t.Errorf("asked %s", <-asked)
	}
}
