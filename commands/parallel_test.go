package commands_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/commands/commandtest"
	"github.com/fettle-cli/fettle/internal/kv"
)

const yesScript = `{responses: [{when: "", text: Yes.}]}`

// chatList is what `chats list -o json` prints.
type chatList struct {
	Chats []struct {
		Number   int64  `json:"number"`
		Title    string `json:"title"`
		Messages int    `json:"messages"`
	} `json:"chats"`
}

func (w *world) chats() chatList {
	w.T.Helper()
	out, _ := w.Run(0, "chats", "list", "--limit", "0", "-o", "json")
	var list chatList
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		w.T.Fatalf("%v in %s", err, out)
	}
	return list
}

func TestManyAsksAtOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		n      int
		script string
		answer string
	}{
		"50 plain questions": {50, yesScript, "Yes.\n"},
		"20 that call a tool": {20, `
responses:
  - {step: 0, calls: [{name: write_file, args: {path: a.txt, content: one}}]}
  - {step: 1, text: Written.}
`, "Written.\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, c.script)
			var wg sync.WaitGroup
			for i := range c.n {
				wg.Go(func() {
					if out, errs := w.Run(0, "ask", "--no-stdin", fmt.Sprintf("question %d", i)); out != c.answer || withoutWaits(errs) != "" {
						t.Errorf("question %d: %q, %q", i, out, errs)
					}
				})
			}
			wg.Wait()
			numbers, titles := map[int64]bool{}, map[string]bool{}
			for _, chat := range w.chats().Chats {
				numbers[chat.Number], titles[chat.Title] = true, true
			}
			if len(numbers) != c.n || len(titles) != c.n || !numbers[1] || !numbers[int64(c.n)] {
				t.Errorf("%d numbers and %d titles of %d chats", len(numbers), len(titles), c.n)
			}
		})
	}
}

// withoutWaits returns what a command printed on standard error without the notices that it waits for another process.
// A command prints one after a second, so that on a busy machine any of many simultaneous commands may have printed it.
func withoutWaits(errs string) string {
	var b strings.Builder
	for line := range strings.Lines(errs) {
		if !strings.HasPrefix(line, "fettle: waiting for ") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// ask A | ask -c B: B goes on with A's chat, whatever else is in the store.
func TestAPipelineGoesOnWithItsOwnChat(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{responses: [{text: A draft.}, {expect: {last: [A draft., make it rhyme]}, text: It rhymes.}]}`)
	w.Run(0, "ask", "--no-stdin", "something else")
	for round := range 5 {
		first := w.Command("ask", "--no-stdin", fmt.Sprintf("draft %d", round))
		second := w.Command("ask", "-c", "make it rhyme")
		r, wr, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		var out, errs bytes.Buffer
		first.Stdout, second.Stdin, second.Stdout, second.Stderr = wr, r, &out, &errs
		if err := second.Start(); err != nil {
			t.Fatal(err)
		}
		if err := first.Start(); err != nil {
			t.Fatal(err)
		}
		wr.Close()
		r.Close()
		if err := first.Wait(); err != nil {
			t.Fatal(err)
		}
		if err := second.Wait(); err != nil || out.String() != "It rhymes.\n" {
			t.Fatalf("round %d: %q, %v, %s", round, out.String(), err, errs.String())
		}
	}
	for _, c := range w.chats().Chats {
		want := 4
		if c.Title == "something else" {
			want = 2
		}
		if c.Messages != want {
			t.Errorf("%q has %d messages, want %d", c.Title, c.Messages, want)
		}
	}
}

func TestAskBesideALiveTurnOfTheSameChat(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
responses:
  - deltas: [{content: "One"}, {wait: 1s, content: " whole."}]
  - text: Two.
`)
	first := w.Command("ask", "--no-stdin", "first")
	out, err := first.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	head := make([]byte, 3)
	if _, err := io.ReadFull(out, head); err != nil {
		t.Fatal(err)
	}
	answer, said := w.Run(0, "ask", "--no-stdin", "-c", "second")
	if answer != "Two.\n" || !strings.Contains(said, "fettle: waiting: chat 1 is busy, pid ") {
		t.Errorf("%q, said %q", answer, said)
	}
	rest, _ := io.ReadAll(out)
	if err := first.Wait(); err != nil || string(head)+string(rest) != "One whole.\n" {
		t.Errorf("the first: %q%q, %v", head, rest, err)
	}
}

func TestAskBesideAProcessThatKeepsTheStoreBusy(t *testing.T) {
	t.Parallel()
	w := newWorld(t, yesScript)
	w.Run(0, "ask", "--no-stdin", "first")
	store := kv.Open(filepath.Join(w.Dir, "data", "store"), kv.Options{})
	defer store.Close()
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
			}
			err := store.Update(t.Context(), func(tx *kv.Tx) error {
				time.Sleep(20 * time.Millisecond) // a busy operation
				return kv.NewRawTable("busy").Put(tx, kv.Str("k"), []byte("v"))
			})
			if err != nil {
				t.Error(err)
				return
			}
		}
	}()
	for range 3 {
		if out, _ := w.Run(0, "ask", "--no-stdin", "plain"); out != "Yes.\n" {
			t.Errorf("plain: %q", out)
		}
		if out, _ := w.Run(0, "ask", "--no-stdin", "-c", "more"); out != "Yes.\n" {
			t.Errorf("-c: %q", out)
		}
	}
	close(stop)
	<-stopped
}

// The reader goes away: the turn is cancelled, nothing is said, and what came
// is kept.
func TestAClosedPipe(t *testing.T) {
	t.Parallel()
	var script strings.Builder
	script.WriteString("pace: 1ms\nresponses:\n  - deltas:\n")
	for i := range 20000 {
		fmt.Fprintf(&script, "      - content: \"line %d\\n\"\n", i)
	}
	w := newWorld(t, script.String())
	cmd := w.Command("ask", "--no-stdin", "go")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "line 0\n" {
		t.Fatalf("%q, %v", line, err)
	}
	out.Close()
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 141 || errs.Len() > 0 {
		t.Errorf("status %d, said %q", code, errs.String())
	}
	shown, _ := w.Run(0, "chats", "show", "1")
	if !strings.Contains(shown, "line 0\n") || !strings.Contains(shown, "cancelled") {
		t.Errorf("kept:\n%s", shown)
	}
}

// A signal cancels the turn; what came is printed and kept.
func TestASignal(t *testing.T) {
	t.Parallel()
	for _, sig := range commandtest.EndingSignals() {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, `{responses: [{deltas: [{content: "Half an"}], hang: true}]}`)
			cmd := w.Command("ask", "--no-stdin", "go")
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			var errs bytes.Buffer
			cmd.Stderr = &errs
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			head := make([]byte, 7)
			if _, err := io.ReadFull(out, head); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			rest, _ := io.ReadAll(out)
			cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != 130 || string(rest) != "\n" || errs.Len() > 0 {
				t.Errorf("status %d, %q after %q, said %q", code, rest, head, errs.String())
			}
			if shown, _ := w.Run(0, "chats", "show"); !strings.Contains(shown, "Half an\ncancelled\n") {
				t.Errorf("kept:\n%s", shown)
			}
		})
	}
}

// Standard input: what is slow loses nothing, what is silent is announced.
func TestSlowAndSilentInput(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{responses: [{expect: {last: [one, two, three]}, text: All three.}]}`)
	cmd := w.Command("ask", "what?")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	errs := bufio.NewReader(said)
	notice, err := errs.ReadString('\n') // after a second of silence
	if err != nil || notice != "fettle: waiting for standard input; --no-stdin skips it\n" {
		t.Errorf("said %q, %v", notice, err)
	}
	for _, word := range []string{"one", "two", "three"} {
		io.WriteString(in, word+"\n")
		time.Sleep(20 * time.Millisecond)
	}
	in.Close()
	if more, err := io.ReadAll(errs); err != nil || len(more) > 0 {
		t.Errorf("then said %q, %v", more, err)
	}
	if err := cmd.Wait(); err != nil || out.String() != "All three.\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
}

func TestLargeInput(t *testing.T) {
	t.Parallel()
	w := newWorld(t, yesScript)
	data := bytes.Repeat([]byte("0123456789abcde\n"), 50<<20/16)
	cmd := w.Command("ask", "what?")
	cmd.Stdin = bytes.NewReader(data)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if code := cmd.ProcessState.ExitCode(); code == 0 && out.String() == "Yes.\n" {
		return // it works
	} else if code != 2 || !strings.Contains(errs.String(), "MiB") {
		t.Errorf("50 MB: status %d, %v, %q", code, err, errs.String())
	}
}

// No escape code reaches a pipe, and the model can't put one there.
func TestAModelCantDriveTheTerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{responses: [{text: "a\e]0;title\ab\e[31mred\u009bx\rend"}]}`)
	out, _ := w.Run(0, "ask", "--no-stdin", "--color", "always", "go")
	for _, bad := range []string{"\x1b", "\a", "\u009b", "\r"} {
		if strings.Contains(out, bad) {
			t.Errorf("%q in %q", bad, out)
		}
	}
	if !strings.Contains(out, "title") || !strings.Contains(out, "red") {
		t.Errorf("the text itself is gone: %q", out)
	}
}

func TestFoldingABacklog(t *testing.T) {
	t.Parallel()
	w := newWorld(t, yesScript)
	for i := range 70 {
		if err := w.Command("ask", "--no-stdin", fmt.Sprint(i)).Run(); err != nil {
			t.Fatal(err)
		}
	}
	left, err := filepath.Glob(filepath.Join(w.Dir, "data", "journal", "*.jsonl"))
	if err != nil || len(left) > 64 {
		t.Errorf("%d journals wait, %v", len(left), err)
	}
	if n := len(w.chats().Chats); n != 70 {
		t.Errorf("%d chats", n)
	}
}
