package commands

import (
	"slices"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
)

func TestFlagsMayStandAnywhere(t *testing.T) {
	t.Parallel()
	app := newApp(workbench.New(term.Test(term.TestOptions{}).Streams))
	for given, want := range map[string]string{
		"fettle":                             "fettle",
		"fettle ask hi":                      "fettle ask -- hi",
		"fettle ask hi -m a/b":               "fettle ask --model a/b -- hi",
		"fettle ask hi --model=a/b there":    "fettle ask --model=a/b -- hi there",
		"fettle ask -q hi -f x --file y":     "fettle ask --quiet --file x --file y -- hi",
		"fettle ask -f - hi":                 "fettle ask --file - -- hi",
		"fettle ask -q -- -m x":              "fettle ask --quiet -- -m x",
		"fettle ask hi --":                   "fettle ask -- hi",
		"fettle ask chats list":              "fettle ask -- chats list",
		"fettle chats list -n 3":             "fettle chats list --limit 3",
		"fettle chats show 3 -o json":        "fettle chats show --output json -- 3",
		"fettle chats -o json show 3":        "fettle chats show --output json -- 3",
		"fettle -m a/b ask hi":               "fettle ask --model a/b -- hi",
		"fettle nosuch hi":                   "fettle -- nosuch hi",
		"fettle ask - hi":                    "fettle ask -- - hi",
		"fettle ask --no-stdin --timeout 3s": "fettle ask --no-stdin --timeout 3s",
		"fettle ask -qcx hi":                 "fettle ask --quiet --continue --extract -- hi",
		"fettle ask -qma/b hi":               "fettle ask --quiet --model a/b -- hi",
		"fettle ask -qm=a/b hi":              "fettle ask --quiet --model a/b -- hi",
		"fettle ask -qm a/b hi":              "fettle ask --quiet --model a/b -- hi",
		"fettle ask -model a/b hi":           "fettle ask --model a/b -- hi",
	} {
		if got := strings.Join(cmdline.Reorder(app, strings.Fields(given)).Args, " "); got != want {
			t.Errorf("%s\n got %s\nwant %s", given, got, want)
		}
	}
}

func TestWhatReorderFinds(t *testing.T) {
	t.Parallel()
	app := newApp(workbench.New(term.Test(term.TestOptions{}).Streams))
	for given, want := range map[string]cmdline.Ordered{
		"fettle --help":                    {Path: "fettle", Help: true},
		"fettle ask hi -h":                 {Path: "fettle ask", Help: true},
		"fettle chats list --help":         {Path: "fettle chats list", Help: true},
		"fettle ask -- --help":             {Path: "fettle ask"},
		"fettle ask hi -m":                 {Path: "fettle ask", Missing: "-m"},
		"fettle ask hi -qm":                {Path: "fettle ask", Missing: "-m"},
		"fettle ask hi -q":                 {Path: "fettle ask"},
		"fettle ask hi --nosuch=s3cret":    {Path: "fettle ask", Unknown: "--nosuch"},
		"fettle ask hi -qz":                {Path: "fettle ask", Unknown: "-qz"},
		"fettle ask hi ---q":               {Path: "fettle ask"},
		"fettle -v":                        {Path: "fettle", Unknown: "-v"},
		"fettle chats -o json":             {Path: "fettle chats", Unknown: "-o"},
		"fettle --limit 3 ask hi":          {Path: "fettle ask", Unknown: "--limit"},
		"fettle version --limit 3 --quiet": {Path: "fettle version", Unknown: "--limit"},
	} {
		got := cmdline.Reorder(app, strings.Fields(given))
		if got.Path != want.Path || got.Help != want.Help || got.Missing != want.Missing ||
			got.Unknown != want.Unknown {
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
		if got, ok := show.FirstBlock(text); got != want || !ok {
			t.Errorf("%q gave %q, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "no code", "`x`", "    ```\n    x", "``` a`b\nx"} {
		if got, ok := show.FirstBlock(text); ok {
			t.Errorf("%q gave %q", text, got)
		}
	}
}

func TestAListKeepsItsValues(t *testing.T) {
	t.Parallel()
	var v, copied cmdline.Values
	given := []string{"a,b", "", "c\xff d"}
	for _, s := range given {
		if err := v.Set(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := copied.Set(v.Serialize()); err != nil || !slices.Equal(copied, given) {
		t.Errorf("copied as %q, %v", copied, err)
	}
	if err := copied.Set(new(cmdline.Values).Serialize()); err != nil || len(copied) != 0 {
		t.Errorf("an empty list copied as %q, %v", copied, err)
	}
}

func TestShellWords(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"": `""`, "plain-1.0/x:y": "plain-1.0/x:y", "two words": `"two words"`, "what?": `"what?"`,
		`say "x"`: `'say "x"'`, "$HOME": "'$HOME'", "it's $5": `'it'\''s $5'`, "ü": `"ü"`, "!!": "'!!'",
	} {
		if got := cmdline.ShellWord(word); got != want {
			t.Errorf("%q is written %s, want %s", word, got, want)
		}
	}
}
