package engine

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
)

// crashEnv makes the test binary a program that runs one turn and prints each
// event that it was shown, until it is killed.
const crashEnv = "FETTLE_CRASH_DIR"

const crashScript = `
responses:
  - step: 0
    pace: 300us
    reasoning: Let me think about that for a little while.
    text: I write it down and say so at some length.
    calls:
      - {name: write_file, args: {path: a.txt, content: "one\n"}}
      - {name: list_files, args: {}}
  - step: 1
    pace: 300us
    text: Now the second part, which has some words too.
    calls: [{name: write_file, args: {path: b.txt, content: "two\n"}}]
  - step: 2
    pace: 300us
    text: All done, and here are some last words.
`

// crashT lets the program use the test's helpers.
type crashT struct{ testing.TB }

func (crashT) Helper()                   { /* nothing to attribute */ }
func (crashT) Fatalf(f string, a ...any) { panic(fmt.Sprintf(f, a...)) }
func (crashT) Fatal(a ...any)            { panic(fmt.Sprint(a...)) }

func crashChild(dir string) {
	e := New(testOptions(crashT{}, dir, nil))
	req := ask("go")
	req.Chat.Last = true
	id, err := e.Start(context.Background(), req)
	if fault.CodeOf(err) == fault.NotFound {
		req.Chat.Last = false
		id, err = e.Start(context.Background(), req)
	}
	if err != nil {
		panic(err)
	}
	for ev, err := range e.Follow(context.Background(), id, 0) {
		if err != nil {
			panic(err)
		}
		line, err := ev.Append(nil)
		if err != nil {
			panic(err)
		}
		os.Stdout.Write(append(line, '\n')) // one write: what was printed was acknowledged
	}
	os.Stdin.Read(make([]byte, 1)) // until it is killed, holding nothing
}

// Killed at a random point, a hundred times: every event that was shown is
// there afterwards, the history is valid, and the chat goes on.
func TestKillAtAnyPoint(t *testing.T) {
	t.Parallel()
	const workers, rounds = 4, 25
	for w := range workers {
		t.Run(fmt.Sprint(w), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "m.yaml"), []byte(crashScript), 0o600); err != nil {
				t.Fatal(err)
			}
			kinds := map[event.Type]int{}
			for range rounds {
				shown := killedTurn(t, dir)
				if len(shown) > 0 {
					kinds[checkAfterKill(t, dir, shown)]++
				}
			}
			t.Logf("turns ended as %v", kinds)
		})
	}
}

// killedTurn runs the program, kills it, and gives the lines it printed.
func killedTurn(t *testing.T, dir string) []string {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), crashEnv+"="+dir)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var shown []string
	scan := bufio.NewScanner(out)
	// Killed after so many events and a moment more, so that every point of a
	// turn has its turn on a slow machine too.
	after := rand.IntN(45)
	for len(shown) < after && scan.Scan() {
		shown = append(shown, scan.Text())
		if strings.Contains(scan.Text(), `"type":"complete"`) {
			break
		}
	}
	time.Sleep(time.Duration(rand.IntN(1500)) * time.Microsecond)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for scan.Scan() {
		shown = append(shown, scan.Text())
	}
	cmd.Wait() // killed, as it should be
	return shown
}

// checkAfterKill gives how the turn ended.
func checkAfterKill(t *testing.T, dir string, shown []string) event.Type {
	t.Helper()
	b := openBench(t, dir)
	defer b.Close()
	var first event.Event
	if err := first.UnmarshalJSON([]byte(shown[0])); err != nil {
		t.Fatal(err)
	}
	events := b.follow(store.TurnID(first.TurnID)) // checks that it is whole and valid
	for i, line := range shown {
		if i >= len(events) {
			t.Fatalf("event %d was shown and is gone: %s", i+1, line)
		}
		if got, err := events[i].Append(nil); err != nil || string(got) != line {
			t.Fatalf("event %d was shown as %s and is %s (%v)", i+1, line, got, err)
		}
	}
	req := ask("go on")
	req.Chat.Last = true
	next := b.run(req)
	if p := last[event.Complete](t, next).Payload; p.ConversationID != 1 {
		t.Errorf("the next turn is in chat %d", p.ConversationID)
	}
	return events[len(events)-1].Type()
}
