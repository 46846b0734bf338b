package input

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/fettle-cli/fettle/engine/fault"
	"go.uber.org/goleak"
)

// childEnv makes the test program a reader of its own standard input.
const childEnv = "FETTLE_TEST_INPUT_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		child()
		return
	}
	goleak.VerifyTestMain(m)
}

// report is what a child tells of its reading.
type report struct {
	Bytes   int
	SHA     string
	Text    string // its beginning
	Nil     bool
	Fault   string
	Code    fault.Code
	Names   []string
	Notices []string
}

func child() {
	var r report
	o := Options{In: os.Stdin, Notice: func(s string) {
		r.Notices = append(r.Notices, s)
		fmt.Fprintln(os.Stderr, s)
	}}
	o.StdinBytes, _ = strconv.ParseInt(os.Getenv("LIMIT"), 10, 64)
	var data []byte
	var err error
	if names := os.Args[1:]; len(names) > 0 && names[0] == "-f" {
		parts, ferr := Files(context.Background(), names[1:], o)
		for _, p := range parts {
			r.Names = append(r.Names, p.Name)
			data = append(data, p.Text...)
		}
		err = ferr
	} else {
		data, err = Stdin(context.Background(), o)
	}
	r.Bytes, r.Nil, r.SHA = len(data), data == nil, sum(data)
	r.Text = string(data[:min(len(data), 100)])
	if err != nil {
		r.Fault, r.Code = err.Error(), fault.CodeOf(err)
	}
	_ = json.NewEncoder(os.Stdout).Encode(r)
}

func sum(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }

// childCmd is the test program as a child that reads its standard input.
func childCmd(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append(os.Environ(), childEnv+"=1")
	return cmd
}

// run runs a child and reads its report.
func run(t *testing.T, cmd *exec.Cmd) report {
	t.Helper()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", cmd, err)
	}
	var r report
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("%v: %v in %q", cmd, err, out)
	}
	return r
}

// notices gathers what Options.Notice gets.
type notices struct {
	mu    sync.Mutex
	lines []string
	first chan struct{}
}

func newNotices() *notices { return &notices{first: make(chan struct{})} }

func (n *notices) add(line string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.lines) == 0 {
		close(n.first)
	}
	n.lines = append(n.lines, line)
}

func (n *notices) all() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]string(nil), n.lines...)
}

// pipe is an os.Pipe that the test closes.
func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = r.Close(), w.Close() })
	return r, w
}

// wantFault checks that an error is a fault of kind Usage whose text has what
// is wanted, and returns it.
func wantFault(t *testing.T, err error, want string) *fault.Fault {
	t.Helper()
	var f *fault.Fault
	if !errors.As(err, &f) {
		t.Fatalf("the error is %v, want a fault with %q", err, want)
	}
	if f.Code != fault.Usage || !strings.Contains(f.Msg, want) || strings.Contains(f.Msg, "\n") {
		t.Fatalf("fault %s: %q, want usage with %q", f.Code, f.Msg, want)
	}
	return f
}
