package commands

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/commands/man"
	"github.com/fettle-cli/fettle/commands/suggest"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/internal/needtest"
)

func testPages(t *testing.T) []man.Page {
	t.Helper()
	rt := workbench.New(term.Test(term.TestOptions{}).Streams)
	return man.Pages(newApp(rt), rt.Build().Version)
}

func TestEveryCommandHasAPage(t *testing.T) {
	t.Parallel()
	pages := testPages(t)
	names := map[string]bool{}
	for _, p := range pages {
		names[p.Name] = true
		text := p.Text()
		for _, want := range []string{".TH ", ".SH \"NAME\"\n", ".SH \"SYNOPSIS\"\n", ".SH \"EXIT STATUS\"\n", ".SH \"SEE ALSO\"\n"} {
			if strings.Count(text, want) != 1 {
				t.Errorf("%s has %s %d times", p.Name, strings.TrimSpace(want), strings.Count(text, want))
			}
		}
		if p.Command != nil && len(p.Command.VisibleFlags()) > 0 && !strings.Contains(text, ".SH \"OPTIONS\"\n") {
			t.Errorf("%s has no options", p.Name)
		}
		if p.Command != nil && !strings.Contains(text, ".SH \"EXAMPLES\"\n") {
			t.Errorf("%s has no examples", p.Name)
		}
		for line := range strings.Lines(text) {
			if strings.ContainsFunc(line, func(r rune) bool { return r > 0x7e || r < ' ' && r != '\n' }) {
				t.Errorf("%s: not plain ASCII: %q", p.Name, line)
			}
		}
	}
	for _, want := range []string{"fettle", "fettle-ask", "fettle-chats-list", "fettle-models-pull", "fettle-man"} {
		if !names[want] {
			t.Errorf("no page %s", want)
		}
	}
	if names["fettle-__complete"] {
		t.Error("what is hidden has a page")
	}
	// A page that is named in another one is there.
	for _, p := range pages {
		for _, ref := range strings.Split(p.Text(), `\fB`)[1:] {
			name, rest, ok := strings.Cut(ref, `\fR`)
			if name = strings.ReplaceAll(name, `\-`, "-"); ok && strings.HasPrefix(rest, "(1)") && !names[name] {
				t.Errorf("%s names %s, which isn't there", p.Name, name)
			}
		}
	}
}

// groff takes every page without a warning, and what it shows is what was
// meant: backslashes, dots, quotes and dashes.
func TestPagesAreReadByGroff(t *testing.T) {
	t.Parallel()
	groff := needtest.Program(t, "groff")
	for _, p := range testPages(t) {
		cmd := exec.CommandContext(t.Context(), groff, "-ww", "-man", "-Tutf8", "-P-c")
		cmd.Stdin = strings.NewReader(p.Text())
		var warnings strings.Builder
		cmd.Stderr = &warnings
		out, err := cmd.Output()
		if err != nil || warnings.Len() > 0 {
			t.Errorf("%s: %v %s", p.Name, err, warnings.String())
		}
		shown := strings.NewReplacer("\u2212", "-", "\u2010", "-", "\u2019", "'").Replace(string(out))
		if p.Command == nil {
			continue
		}
		for line := range strings.Lines(p.Command.UsageText) {
			if line = strings.TrimSpace(line); len(line) < 70 && !strings.Contains(shown, line) {
				t.Errorf("%s doesn't show its example %q:\n%s", p.Name, line, shown)
			}
		}
	}
}

func TestManReadsAPage(t *testing.T) {
	t.Parallel()
	man := needtest.Program(t, "man")
	file := filepath.Join(t.TempDir(), "fettle-ask.1")
	for _, p := range testPages(t) {
		if p.Name == "fettle-ask" {
			if err := os.WriteFile(file, []byte(p.Text()), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	cmd := exec.CommandContext(t.Context(), man, "-l", file)
	cmd.Env = append(os.Environ(), "MANPAGER=cat", "PAGER=cat", "MANWIDTH=80", "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "fettle-ask - ask a model one thing") || !strings.Contains(string(out), "--no-stdin") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestManOfWhatIsNotThere(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"man nosuch":         "nosuch",
		"man chats lsit":     "did you mean list?",
		"man __complete":     "__complete",
		"man --all":          "--all needs a value",
		"man --all x ask":    "--all wants a folder and no command",
		"completion":         "completion wants a shell: bash, zsh, fish, powershell",
		"completion bahs":    "did you mean bash?",
		"completion a b":     "completion wants a shell",
		"completion /../x.y": "there is no completion for",
	} {
		ts := term.Test(term.TestOptions{})
		status := Main(t.Context(), append([]string{"fettle"}, strings.Fields(args)...), ts.Streams)
		if status != 2 || !strings.Contains(ts.Stderr.String(), want) || ts.Stdout.String() != "" {
			t.Errorf("fettle %s: status %d, %q %q", args, status, ts.Stdout, ts.Stderr)
		}
	}
}

func TestCompletionPrintsAScriptForEachShell(t *testing.T) {
	t.Parallel()
	for _, shell := range append(suggest.Shells(), "pwsh") {
		ts := term.Test(term.TestOptions{})
		status := Main(t.Context(), []string{"fettle", "completion", shell}, ts.Streams)
		call := "fettle __complete " + strings.Replace(shell, "pwsh", "powershell", 1) + " -- "
		if status != 0 || !strings.Contains(ts.Stdout.String(), call) {
			t.Errorf("%s: status %d, %s", shell, status, ts.Stderr)
		}
	}
}

func TestManWritesAllPages(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "share", "man1") // neither is there yet
	ts := term.Test(term.TestOptions{})
	if status := Main(t.Context(), []string{"fettle", "man", "--all", dir}, ts.Streams); status != 0 || ts.Stdout.String() != "" {
		t.Fatalf("status %d, %q %q", status, ts.Stdout, ts.Stderr)
	}
	pages := testPages(t)
	for _, p := range pages {
		if data, err := os.ReadFile(filepath.Join(dir, p.Name+".1")); err != nil || string(data) != p.Text() {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != len(pages) {
		t.Errorf("%d files, %v; there are %d pages", len(left), err, len(pages))
	}
	ts = term.Test(term.TestOptions{})
	status := Main(t.Context(), []string{"fettle", "man", "--all", filepath.Join(dir, "fettle.1")}, ts.Streams)
	if status != 1 || !strings.HasPrefix(ts.Stderr.String(), "fettle: write the man pages: ") {
		t.Errorf("into a file: status %d, %q", status, ts.Stderr)
	}
}
