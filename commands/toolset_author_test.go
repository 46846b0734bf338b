package commands_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// authors puts a toolset of a person's into the project, and packs it.
func (w *world) authors() {
	w.T.Helper()
	w.Run(0, "toolset", "init", filepath.Join(w.project(), "my-tools"))
	w.Run(0, "toolset", "pack", filepath.Join(w.project(), "my-tools"), "-O", filepath.Join(w.project(), "my-tools.zip"))
}

// workflowSteps are the commands of a GitHub workflow.
func workflowSteps(t *testing.T, text []byte) []string {
	t.Helper()
	var w struct {
		Name string
		On   any
		Jobs map[string]struct {
			RunsOn string `yaml:"runs-on"`
			Steps  []struct{ Name, Uses, Run string }
		}
	}
	if err := yaml.Unmarshal(text, &w); err != nil {
		t.Fatal(err)
	}
	var out []string
	for name, job := range w.Jobs {
		if job.RunsOn == "" {
			t.Errorf("the job %s runs on nothing", name)
		}
		for _, s := range job.Steps {
			if (s.Uses == "") == (s.Run == "") {
				t.Errorf("a step both uses and runs, or neither: %+v", s)
			}
			for line := range strings.Lines(s.Run) {
				out = append(out, strings.TrimSpace(line))
			}
		}
	}
	if w.Name == "" || w.On == nil || len(w.Jobs) == 0 {
		t.Errorf("the workflow lacks a name, what it runs on, or jobs: %+v", w)
	}
	return out
}

// runSteps runs fettle's part of a workflow in a checkout, by a shell.
func runSteps(t *testing.T, w *world, dir string, steps []string) {
	t.Helper()
	ran := 0
	for _, line := range steps {
		if !strings.HasPrefix(line, "fettle ") {
			continue
		}
		cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
		cmd.Env, cmd.Dir = append(w.Env, "GITHUB_WORKSPACE="+dir), dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
		ran++
	}
	if ran < 2 {
		t.Errorf("only %d of %q are fettle's", ran, steps)
	}
}

// TestReadmeWorkflow runs what the README tells people to put into their CI.
func TestReadmeWorkflow(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join("..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(raw), "\n## Validate toolsets in CI\n")
	_, block, ok2 := strings.Cut(section, "```yaml\n")
	block, _, ok3 := strings.Cut(block, "```")
	if !ok || !ok2 || !ok3 {
		t.Fatal("the README has no workflow")
	}
	w := exampleWorld(t)
	w.authors()
	runSteps(t, w, w.project(), workflowSteps(t, []byte(block)))
	if sarif, err := os.ReadFile(filepath.Join(w.project(), "findings.sarif")); err != nil || !strings.Contains(string(sarif), `"version": "2.1.0"`) {
		t.Errorf("the findings for code scanning: %v, %s", err, sarif)
	}
}

// TestStarterWorkflow runs what a new toolset has for GitHub.
func TestStarterWorkflow(t *testing.T) {
	t.Parallel()
	w := exampleWorld(t)
	dir := filepath.Join(w.Dir, "words")
	w.Run(0, "toolset", "init", dir, "--with", "html")
	raw, err := os.ReadFile(filepath.Join(dir, ".github", "workflows", "toolset.yml"))
	if err != nil {
		t.Fatal(err)
	}
	runSteps(t, w, dir, workflowSteps(t, raw))
}

func TestPackedToolsetsGoThroughAPipe(t *testing.T) {
	t.Parallel()
	w := exampleWorld(t)
	w.authors()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "fettle toolset pack my-tools -O - | fettle toolset validate --strict - -o json")
	cmd.Env, cmd.Dir = w.Env, w.project()
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), `"bundle": "-"`) {
		t.Errorf("%v: %s", err, out)
	}
}
