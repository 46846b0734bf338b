package serve_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/commands/commandtest"
)

// throughScript answers what the tables below ask.
const throughScript = `
responses:
  - {when: slow, deltas: [{content: "Half an answer"}], hang: true}
  - {when: write, step: 0, text: I write., calls: [{name: write_file, args: {path: a.txt, content: "one\ntwo\n"}}]}
  - {when: write, step: 1, text: "It is **written**."}
  - {when: picture, text: "I see it.", reasoning: "A picture."}
  - {when: list, text: '["a","b"]'}
  - {when: "", deltas: [{content: "Some words, "}, {content: "and\n\nmore of them.\n"}], usage: {input_tokens: 11, output_tokens: 7}}
`

// aPicture is a PNG of one pixel.
const aPicture = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89\x00\x00\x00\nIDATx\x9cc\x00\x01\x00\x00\x05\x00\x01\r\n-\xb4\x00\x00\x00\x00IEND\xaeB`\x82"

// result is what a command gave.
type result struct {
	status   int
	out, err string
}

// with runs a command whose standard input is a text.
func (w *world) with(stdin string, args ...string) result {
	cmd := w.Command(args...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) { // from any goroutine
		return result{-1, out.String(), err.Error()}
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// through is a world with what the tables of commands need.
func through(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, throughScript)
	if err := os.MkdirAll(filepath.Join(w.Dir, "project"), 0o755); err != nil {
		t.Fatal(err)
	}
	commandtest.Put(t, filepath.Join(w.Dir, "p.png"), aPicture)
	commandtest.Put(t, filepath.Join(w.Dir, "notes.md"), "# Notes\n\nA line.\n")
	return w
}

// passing matches what differs from one run to the next: ids, times, durations,
// sizes, and the place of a turn among all: a server leaves the first one out.
var passing = regexp.MustCompile(`just now|\d+ [a-z]+ ago|[0-7][0-9A-HJKMNP-TV-Z]{25}|\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z| UTC)?|"(total_ms|sync_ms|duration_ms|last_turn)": ?[\d.]+|call_\w+|\b\d+(\.\d+)? (bytes|kB|KB|MB|ms|s)\b`)

func (r result) steady(w *world) result {
	out := strings.ReplaceAll(r.out, w.Dir, "WORLD")
	return result{r.status, passing.ReplaceAllString(out, "…"), r.err}
}

// asked are questions whose standard output is the same, byte for byte, however
// they are answered; commands are those whose output has ids and times in it.
func askedThrough() [][]string {
	return [][]string{
		{"", "ask", "what is this?"},
		{"piped in", "ask", "what is this?"},
		{"", "ask", "-c", "and then?"},
		{"", "ask", "--chat", "1", "--fork", "another way?"},
		{"", "ask", "-c", "--retry"},
		{"", "ask", "--chat", "1", "--at", "1", "in other words?"},
		{"", "ask", "-f", "p.png", "-f", "notes.md", "a picture?"},
		{"", "ask", "--schema", `{"type":"array"}`, "list them"},
		{"", "ask", "-x", "a block?"},
		{"", "ask", "-s", "Be short.", "--no-tools", "short?"},
		{"", "ask", "--agent-mode", "off", "write"},
		{"", "ask", "write"},
		{"", "ask", "-w", "project", "write"},          // denied: nobody can be asked
		{"", "ask", "-w", "project", "--yes", "write"}, // allowed
		{"", "ask", "-w", "project", "--allow", "write_file", "-q", "write it again"},
		{"", "ask", "--ephemeral", "kept nowhere?"},
		{"", "ask", "-m", "nope/model", "who?"},
		{"", "ask", "-m", "script/none.yaml", "who?"},
		{"", "ask", "--chat", "99", "who?"},
		{"", "ask", "--agent", "nobody", "who?"},
		{"", "ask", "--max-steps", "1", "write"},
	}
}

func commandsBeside() [][]string {
	return [][]string{
		{"", "ask", "-o", "json", "as an object?"},
		{"", "ask", "-o", "events", "as events?"},
		{"", "ask", "-o", "json", "-w", "project", "write"},
		{"", "chats", "list"}, {"", "chats", "list", "-o", "json"}, {"", "chats", "show", "1"}, {"", "chats", "search", "words"},
		{"", "chats", "rename", "1", "A title"}, {"", "chats", "fork", "1"}, {"", "chats", "rm", "1"}, {"", "chats", "list", "--deleted"},
		{"", "chats", "restore", "1"}, {"", "chats", "export", "1"}, {"", "chats", "branches", "1"}, {"", "chats", "show", "77"},
		{"", "workspace", "log"}, {"", "workspace", "files"}, {"", "workspace", "diff"}, {"", "undo"}, {"", "redo"}, {"", "undo", "--dry-run"},
		{"", "usage"}, {"", "docs", "add", "notes.md"}, {"", "docs", "list"}, {"", "ask", "what says doc:notes.md?"}, {"", "docs", "rm", "notes.md"},
		{"", "tool", "list"}, {"", "tool", "call", "write_file", `{"path":"b.txt","content":"x"}`}, {"", "tool", "call", "list_files", "-c", "{}"},
		{"", "toolset", "list"}, {"", "payloads", "list"}, {"", "workflows", "list"}, {"", "agents", "list"},
		{"", "store", "verify"}, {"", "store", "gc"}, {"", "store", "backup", "b.tar.zst"}, {"", "store", "restore", "--dry-run", "b.tar.zst"},
	}
}

// Every command beside a running server prints what it prints without one, and
// the questions go through it.
func TestCommandsBesideServe(t *testing.T) {
	t.Parallel()
	needSocket(t)
	alone, w := through(t), through(t)
	s := w.serve("--log", "json")
	wanted := make(chan result)
	go func() { // beside, not before: it halves the time
		defer close(wanted)
		for _, c := range append(askedThrough(), commandsBeside()...) {
			wanted <- alone.with(c[0], c[1:]...)
		}
	}()
	defer func() {
		for range wanted { // where the test ends early
		}
	}()
	for _, c := range askedThrough() {
		got, want := w.with(c[0], c[1:]...), <-wanted
		if got.out != want.out || got.status != want.status || got.err != want.err {
			t.Errorf("%q beside serve: status %d\n%s%s\nwithout: status %d\n%s%s", c, got.status, got.out, got.err, want.status, want.out, want.err)
		}
	}
	for _, c := range commandsBeside() {
		got, want := w.with(c[0], c[1:]...).steady(w), (<-wanted).steady(alone)
		if got.out != want.out || got.status != want.status {
			t.Errorf("%q beside serve: status %d\n%s%s\nwithout: status %d\n%s%s", c, got.status, got.out, got.err, want.status, want.out, want.err)
		}
	}
	said := w.with("", "store", "restore", "--replace", "b.tar.zst")
	if said.status != 1 || !strings.Contains(said.err, fmt.Sprintf("fettle serve, pid %d, works with these data", s.cmd.Process.Pid)) {
		t.Errorf("a restore under the server: %d %s", said.status, said.err)
	}
	log := s.ends()
	// Those that name their own model run here: the server plays no other scripts than
	// its own configuration names. Four others fail before anything is started, and are
	// started and refused there all the same.
	through := len(askedThrough()) + 4
	for _, c := range askedThrough() {
		if slices.Contains(c, "-m") {
			through--
		}
	}
	if n := strings.Count(log, `"op":"begin_turn"`); n < through {
		t.Errorf("%d turns went through the server, want %d:\n%s", n, through, log)
	}
	if strings.Contains(log, s.token) {
		t.Error("the token is in the log")
	}
}

// needSocket skips where no Unix socket keeps others out.
func needSocket(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("there is no socket of the server's for commands on Windows")
	}
}

// ends ends the server in order, and gives its log.
func (s *serving) ends() string {
	s.w.T.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.w.T.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, s.out); err != nil {
		s.w.T.Fatal(err)
	}
	if err := s.cmd.Wait(); err != nil {
		s.w.T.Errorf("serve ended with %v\n%s", err, s.errs)
	}
	return s.errs.String()
}

// kill ends the server as a crash does.
func (s *serving) kill() {
	s.w.T.Helper()
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

// running is an ask whose answer has begun.
type running struct {
	w    *world
	cmd  *exec.Cmd
	out  *bytes.Buffer
	errs *bytes.Buffer
	rest io.Reader
}

// begins starts a command, and waits until it has printed a text.
func (w *world) begins(text string, args ...string) *running {
	w.T.Helper()
	r := &running{w: w, cmd: w.Command(args...), out: new(bytes.Buffer), errs: new(bytes.Buffer)}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		w.T.Fatal(err)
	}
	r.cmd.Stderr, r.rest = r.errs, out
	if err := r.cmd.Start(); err != nil {
		w.T.Fatal(err)
	}
	w.T.Cleanup(func() { _ = r.cmd.Process.Kill(); _ = r.cmd.Wait() })
	for buf := make([]byte, 512); !strings.Contains(r.out.String(), text); {
		n, err := out.Read(buf)
		r.out.Write(buf[:n])
		if err != nil {
			w.T.Fatalf("it printed %q and %v", r.out, err)
		}
	}
	return r
}

// ends waits for the end.
func (r *running) ends() result {
	r.w.T.Helper()
	if _, err := io.Copy(r.out, r.rest); err != nil {
		r.w.T.Fatal(err)
	}
	_ = r.cmd.Wait() // the status tells
	return result{r.cmd.ProcessState.ExitCode(), r.out.String(), r.errs.String()}
}

// shows waits until a chat's last words are these: the server is told of an end
// that nobody waits for.
func (w *world) shows(chat, end string) {
	w.T.Helper()
	deadline := time.Now().Add(commandtest.Wait)
	for {
		shown := w.with("", "chats", "show", chat)
		if strings.HasSuffix(shown.out, end) {
			return
		}
		if time.Now().After(deadline) {
			w.T.Fatalf("chat %s ends with\n%s%s\nand not with %q", chat, shown.out, shown.err, end)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// The turn is the command's own: Ctrl-C cancels it, and so does its death.
func TestEndingACommandCancelsItsTurnInServe(t *testing.T) {
	t.Parallel()
	needSocket(t)
	w := through(t)
	s := w.serve("--log", "json")
	r := w.begins("Half an", "ask", "slow")
	if err := r.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if got := r.ends(); got.status != 130 || got.out != "Half an answer\n" {
		t.Errorf("Ctrl-C: %d %q %s", got.status, got.out, got.err)
	}
	w.shows("1", "Half an answer\ncancelled\n")

	r = w.begins("Half an", "ask", "slow")
	if err := r.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	r.ends()
	w.shows("2", "Half an answer\ncancelled\n")
	if log := s.ends(); strings.Count(log, `"end":"cancelled"`) != 2 {
		t.Errorf("the server says\n%s", log)
	}
}

// A server that dies takes no word with it: the command says what happened, the
// chat has what came, and the note that is left is no server.
func TestServeIsKilledInTheMiddle(t *testing.T) {
	t.Parallel()
	needSocket(t)
	for name, anew := range map[string]bool{"and stays away": false, "and is started again": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := through(t)
			s := w.serve("--log", "off")
			r := w.begins("Half an", "ask", "slow")
			s.kill()
			if anew {
				w.serve("--log", "off")
			}
			got := r.ends()
			if got.status != 130 || got.out != "Half an answer\n" || !strings.Contains(got.err, "fettle: ") {
				t.Errorf("%d %q %s", got.status, got.out, got.err)
			}
			shown := w.with("", "chats", "show", "1")
			if !strings.Contains(shown.out, "Half an answer\n") || !strings.HasSuffix(shown.out, "interrupted\n") {
				t.Errorf("kept: %s%s", shown.out, shown.err)
			}
			if after := w.with("", "ask", "-c", "go on?"); after.status != 0 || !strings.HasPrefix(after.out, "Some words") {
				t.Errorf("afterwards: %d %s%s", after.status, after.out, after.err)
			}
		})
	}
}

// A server that ends in order lets turns end first; a question that comes then is
// answered without it.
func TestAskWhileServeEnds(t *testing.T) {
	t.Parallel()
	needSocket(t)
	w := through(t)
	s := w.serve("--log", "json", "--drain", "1m")
	r := w.begins("Half an", "ask", "slow")
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if got := w.with("", "ask", "now?"); got.status != 0 || !strings.HasPrefix(got.out, "Some words") {
		t.Errorf("%d %s%s", got.status, got.out, got.err)
	}
	if err := r.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if got := r.ends(); got.status != 130 {
		t.Errorf("%d %s%s", got.status, got.out, got.err)
	}
	if _, err := io.Copy(io.Discard, s.out); err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("serve ended with %v", err)
	}
}

// Where keys, the configuration or what tools see is another, or a flag is about
// this process, the question is answered here, and the store is shared for it.
func TestAskRunsByItselfWhereServeIsAnother(t *testing.T) {
	t.Parallel()
	needSocket(t)
	w := through(t)
	s := w.serve("--log", "json")
	other := &world{w.Copy()}
	for _, env := range []string{"OPENAI_API_KEY=another", "FETTLE_RETRIES=7", "PATH=" + os.Getenv("PATH") + ":/nowhere", "FETTLE_CONFIG=" + t.TempDir()} {
		other.Env = append(append([]string{}, w.Env...), env)
		if got := other.with("", "ask", "what?"); got.status != 0 || !strings.HasPrefix(got.out, "Some words") {
			t.Errorf("%s: %d %s%s", env, got.status, got.out, got.err)
		}
		if got := other.with("", "ask", "-c", "more?"); got.status != 0 || !strings.HasPrefix(got.out, "Some words") {
			t.Errorf("%s, -c: %d %s%s", env, got.status, got.out, got.err)
		}
	}
	if got := w.with("", "ask", "-c", "--record", filepath.Join(w.Dir, "tape.jsonl"), "taped?"); got.status != 0 || !commandtest.Exists(filepath.Join(w.Dir, "tape.jsonl")) {
		t.Errorf("--record: %d %s%s", got.status, got.out, got.err)
	}
	if got := w.with("", "ask", "-c", "--require-sandbox", "safe?"); got.status != 0 {
		t.Errorf("--require-sandbox: %d %s%s", got.status, got.out, got.err)
	}
	log := s.ends()
	if strings.Contains(log, `"op":"begin_turn"`) || !strings.Contains(log, `"op":"share_store"`) {
		t.Errorf("the server says\n%s", log)
	}
}

// Processes beside a server wait for each other and for it, and nothing is lost.
func TestManyCommandsBesideServe(t *testing.T) {
	t.Parallel()
	needSocket(t)
	w := through(t)
	w.serve("--log", "off")
	const n = 8
	results := make(chan result, 2*n)
	for i := range n {
		go func() {
			results <- w.with("", "ask", "-o", "json", fmt.Sprint("question ", i))
			results <- w.with("", "chats", "list", "-o", "json")
		}()
	}
	for range 2 * n {
		if r := <-results; r.status != 0 || !json.Valid([]byte(r.out)) {
			t.Errorf("%d %s%s", r.status, r.out, r.err)
		}
	}
	if chats := w.with("", "chats", "list", "-o", "json"); strings.Count(chats.out, `"title": "question`) != n {
		t.Errorf("there are %s%s", chats.out, chats.err)
	}
}
