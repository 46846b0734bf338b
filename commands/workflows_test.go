package commands_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/commands/commandtest"
	"github.com/fettle-cli/fettle/internal/needtest"
)

// instanceOf reads an instance as -o json prints it.
func instanceOf(t *testing.T, out string) (state string, steps []string, results map[string]json.RawMessage) {
	t.Helper()
	var got struct {
		Instance struct {
			State string `json:"state"`
			Steps []struct {
				ID     string          `json:"id"`
				State  string          `json:"state"`
				Result json.RawMessage `json:"result"`
			} `json:"steps"`
		} `json:"instance"`
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	results = map[string]json.RawMessage{}
	for _, s := range got.Instance.Steps {
		steps = append(steps, s.ID+" "+s.State)
		results[s.ID] = s.Result
	}
	return got.Instance.State, steps, results
}

// The workflows of the example toolsets from their start over their checkpoint
// to their end: the tools are real, the agents' model is a script that answers
// only if it is given what the steps before it gave.
func TestTheWorkflowsOfTheExamples(t *testing.T) {
	t.Parallel()
	needtest.Program(t, "python3")
	for _, c := range []struct {
		toolset, workflow, input, model string
		after                           []string // the steps behind the checkpoint
		answer                          string
	}{
		{
			"reviews", "vendor_finder", `{"category": "movers", "location": "Portland, OR"}`,
			`{responses: [{when: "movers in Portland, OR[\\s\\S]*vendor \\| score[\\s\\S]*Careful Hands Movers \\| 94", text: Take Careful Hands.}]}`,
			[]string{"find done", "compare done", "recommend done"}, "Take Careful Hands.",
		},
		{
			"research", "research", `{"question": "What reduces errors on night shifts?", "aspects": ["planned naps"]}`,
			"responses:\n  - {when: '^Question: What reduces[\\s\\S]*Passages:[\\s\\S]*lowered errors[\\s\\S]*naps.md', text: 'Planned naps do. [1]'}\n" +
				"  - {when: '^Answer:\\s+Planned naps do[\\s\\S]*Passages:', text: It holds.}\n",
			[]string{"collect done", "write done", "check done"}, "It holds.",
		},
	} {
		t.Run(c.workflow, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, c.model)
			// Nothing is asked outside: the texts are in the folder.
			w.Env = append(w.Env, "RESEARCH_WIKIPEDIA_URL=http://127.0.0.1:1/", "RESEARCH_OPENALEX_URL=http://127.0.0.1:1/")
			commandtest.Put(t, filepath.Join(w.Dir, "folder", "naps.md"), "# Planned naps\n\nA planned nap of thirty minutes lowered errors from 4.1 to 2.6 percent on night shifts.\n")
			w.Run(0, "toolset", "import", commandtest.Toolset(t, c.toolset), "--yes")
			out, _ := w.Run(0, "workflows", "start", c.workflow, c.input, "-o", "json", "-w", filepath.Join(w.Dir, "folder"), "--yes")
			state, steps, _ := instanceOf(t, out)
			if state != "waiting" || steps[0] != c.after[0] || !strings.HasSuffix(steps[1], " pending") {
				t.Fatalf("at the checkpoint it is %s: %v", state, steps)
			}
			out, _ = w.Run(0, "workflows", "act", "last", "continue", "-o", "json", "--yes")
			state, steps, results := instanceOf(t, out)
			if state != "complete" || strings.Join(steps, ", ") != strings.Join(c.after, ", ") {
				t.Fatalf("at the end it is %s: %v", state, steps)
			}
			last := strings.Fields(c.after[len(c.after)-1])[0]
			if got := string(results[last]); !strings.Contains(got, c.answer) {
				t.Errorf("%s gave %s", last, got)
			}
			if out, _ = w.Run(0, "chats", "show", "1"); !strings.Contains(out, c.answer) {
				t.Errorf("the chat lacks the answer:\n%s", out)
			}
		})
	}
}

const slowManifest = `manifest_version: "1"
id: slow
name: Slow
version: 1.0.0
description: A step that waits.
tools:
  - id: step
    description: Notes its name, and waits.
    entrypoint: tools.step:step
    input_schema: {type: object, properties: {name: {type: string}}, required: [name]}
workflows:
  - id: three
    steps:
      - {id: one, tool: step, args: {name: one}}
      - {id: two, tool: step, args: {name: two}}
      - {id: three, tool: step, args: {name: three}}
`

const slowTool = `import pathlib, time

def step(workspace, name):
    with open(pathlib.Path(workspace) / "log", "a") as log:
        log.write(name + "\n")
    while not (pathlib.Path(workspace) / ("go-" + name)).exists():
        time.sleep(0.02)
    return {"did": name}
`

// A kill at any step leaves an instance that can be gone on with: what was done
// is not done again, and what ran is done again only because it is asked for.
func TestAWorkflowIsKilled(t *testing.T) {
	t.Parallel()
	needtest.Program(t, "python3")
	w := newWorld(t, "{}")
	commandtest.Put(t, filepath.Join(w.Dir, "slow", "toolset.yaml"), slowManifest)
	commandtest.Put(t, filepath.Join(w.Dir, "slow", "tools", "step.py"), slowTool)
	w.Run(0, "toolset", "import", "slow", "--yes")
	folder := filepath.Join(w.Dir, "folder")
	log := func() string {
		text, err := os.ReadFile(filepath.Join(folder, "log"))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return string(text)
	}
	// begun reports whether a step wrote its name: to the folder, or to the layer of its call.
	begun := func(want string) bool {
		layers, err := filepath.Glob(filepath.Join(w.Dir, "data", "layers", "*", "upper", "log"))
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(append(layers, filepath.Join(folder, "log")), func(file string) bool {
			text, err := os.ReadFile(file)
			return err == nil && strings.HasSuffix(string(text), want)
		})
	}
	commandtest.Put(t, filepath.Join(folder, "keep"), "")
	begin := []string{"workflows", "start", "three", "-w", folder, "--yes"}
	want := ""
	for n, name := range []string{"one", "two", "three"} {
		cmd := w.Command(begin...)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		want += name + "\n"
		for deadline := time.Now().Add(time.Minute); !begun(want); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				_ = cmd.Process.Kill()
				t.Fatalf("the step %s did not begin: %s\n%s", name, log(), errs.String())
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed
		out, _ := w.Run(0, "workflows", "show", "last", "-o", "json")
		state, steps, _ := instanceOf(t, out)
		if state != "interrupted" || steps[n] != name+" interrupted" || n > 0 && !strings.HasSuffix(steps[n-1], " done") {
			t.Fatalf("killed in %s it is %s: %v", name, state, steps)
		}
		commandtest.Put(t, filepath.Join(folder, "go-"+name), "")
		begin = []string{"workflows", "act", "last", "retry", "--yes"}
		want = name + "\n" // done again
	}
	w.Run(0, begin...)
	out, _ := w.Run(0, "workflows", "show", "last", "-o", "json")
	if state, steps, _ := instanceOf(t, out); state != "complete" {
		t.Errorf("at the end it is %s: %v", state, steps)
	}
	// What the steps wrote before they were killed is in the layers of their calls, if these
	// have any, and else in the folder.
	inLayers, inFolder := "one\ntwo\nthree\n", "one\none\ntwo\ntwo\nthree\nthree\n"
	if got := log(); got != inLayers && got != inFolder {
		t.Errorf("the steps ran so:\n%s", got)
	}
	w.Run(2, "workflows", "act", "last", "retry")
}
