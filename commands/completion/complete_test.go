package completion

import (
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
)

// bash puts a value into the line as it is, so none may mean more than itself.
func TestCompletionGivesNoShellAnythingToRun(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{
		"ollama/qwen3:8b": true, "hf.co/Some_One/Model-1.5:Q4_K_M": true, "größe": true, "--flag=x": true, "100%": true, "a@b": true,
		"": false, ":files": false, "~root": false, "a b": false, "$(reboot)": false, "`id`": false, "a;b": false, "a|b": false,
		"a&b": false, "a>b": false, "'a": false, `a"b`: false, `a\b`: false, "a\nb": false, "a\tb": false, "\x1b[31m": false,
		"*": false, "a?": false, "[x]": false, "{a,b}": false, "!x": false, "a#b": false, "a\u202eb": false, "a\u200bb": false,
	} {
		if got := harmless(value); got != want {
			t.Errorf("%q: %v", value, got)
		}
	}
	ts := term.Test(term.TestOptions{})
	rt := workbench.New(ts.Streams)
	app := &cli.App{Commands: []*cli.Command{{Name: "ask", Usage: "a\ttab,\na line\x1b[2J and " + strings.Repeat("much ", 100)}}}
	runComplete(t.Context(), rt, app, commandLine{shell: "zsh"})
	for line := range strings.Lines(ts.Stdout.String()) {
		if strings.Count(line, "\t") > 1 || strings.Contains(line, "\x1b") || len(line) > 300 || !strings.HasSuffix(line, "\n") {
			t.Errorf("%q", line)
		}
	}
}

func TestUnquoted(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"plain": "plain", `"a b"`: "a b", `"open`: "open", `'a"b'`: `a"b`, `a\ b`: "a b", `"a\"b`: `a"b`, `'a\b'`: `a\b`, `--x="y`: "--x=y", `\`: "",
	} {
		if got := unquoted(word); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}

func FuzzUnquoted(f *testing.F) {
	f.Add("--output=")
	f.Add(`"a\"b`)
	f.Fuzz(func(t *testing.T, cursor string) {
		if at := unquoted(cursor); len(at) > len(cursor)*3 {
			t.Fatalf("%q became %q", cursor, at)
		}
	})
}
