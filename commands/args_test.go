package commands

import (
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/commands/term"
)

func TestFlagsMayStandAnywhere(t *testing.T) {
	t.Parallel()
	app := newApp(newRuntime(term.Test(term.TestOptions{}).Streams))
	for given, want := range map[string]string{
		"fettle":                             "fettle",
		"fettle ask hi":                      "fettle ask -- hi",
		"fettle ask hi -m a/b":               "fettle ask -m a/b -- hi",
		"fettle ask hi --model=a/b there":    "fettle ask --model=a/b -- hi there",
		"fettle ask -q hi -f x -f y":         "fettle ask -q -f x -f y -- hi",
		"fettle ask -f - hi":                 "fettle ask -f - -- hi",
		"fettle ask -q -- -m x":              "fettle ask -q -- -m x",
		"fettle ask hi --":                   "fettle ask -- hi",
		"fettle ask hi --nosuch there":       "fettle ask --nosuch -- hi there",
		"fettle ask chats list":              "fettle ask -- chats list",
		"fettle chats list -n 3":             "fettle chats list -n 3",
		"fettle chats show 3 -o json":        "fettle chats show -o json -- 3",
		"fettle chats -o json show 3":        "fettle chats show -o json -- 3",
		"fettle nosuch hi":                   "fettle -- nosuch hi",
		"fettle ask - hi":                    "fettle ask -- - hi",
		"fettle ask --no-stdin --timeout 3s": "fettle ask --no-stdin --timeout 3s",
	} {
		if got := strings.Join(reorder(app, strings.Fields(given)).args, " "); got != want {
			t.Errorf("%s\n got %s\nwant %s", given, got, want)
		}
	}
}

func TestWhatReorderFinds(t *testing.T) {
	t.Parallel()
	app := newApp(newRuntime(term.Test(term.TestOptions{}).Streams))
	for given, want := range map[string]ordered{
		"fettle --help":            {path: "fettle", help: true},
		"fettle ask hi -h":         {path: "fettle ask", help: true},
		"fettle chats list --help": {path: "fettle chats list", help: true},
		"fettle ask -- --help":     {path: "fettle ask"},
		"fettle ask hi -m":         {path: "fettle ask", missing: "-m"},
		"fettle ask hi -q":         {path: "fettle ask"},
	} {
		got := reorder(app, strings.Fields(given))
		if got.path != want.path || got.help != want.help || got.missing != want.missing {
			t.Errorf("%s: %+v", given, got)
		}
	}
}

func TestFirstBlock(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a\n```go\nx\n```\nb\n```\ny\n```": "x\n",
		"~~~\nx\n```\ny\n~~~\n":            "x\n```\ny\n",
		"````md\n```\nx\n```\n````\n":      "```\nx\n```\n",
		"```\nnot closed":                  "not closed",
		"  ```\n  x\n  ```":                "  x\n",
		"```\n```":                         "",
	} {
		if got, ok := firstBlock(text); got != want || !ok {
			t.Errorf("%q gave %q, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "no code", "`x`", "    ```\n    x", "``` a`b\nx"} {
		if got, ok := firstBlock(text); ok {
			t.Errorf("%q gave %q", text, got)
		}
	}
}
