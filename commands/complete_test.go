package commands

import (
	"slices"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
)

// completed gives what a shell is told for a line whose last word the cursor
// is in, values alone.
func completed(t *testing.T, shell, line string) string {
	t.Helper()
	ts := term.Test(term.TestOptions{})
	rt := workbench.New(ts.Streams)
	words := strings.Split(line, " ")
	l := commandLine{shell: shell, cursor: words[len(words)-1], words: words[1 : len(words)-1]}
	runComplete(t.Context(), rt, newApp(rt), l)
	var values []string
	for out := range strings.Lines(ts.Stdout.String()) {
		value, _, _ := strings.Cut(strings.TrimSuffix(out, "\n"), "\t")
		values = append(values, value)
	}
	if got := ts.Stderr.String(); got != "" {
		t.Errorf("%s: stderr has %q", line, got)
	}
	return strings.Join(values, " ")
}

func TestCompleteCommandsAndFlags(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"fettle mod":                           "models",
		"fettle __":                            "",
		"fettle nosuch ":                       "",
		"fettle chats sho":                     "show",
		"fettle models ":                       "list show pull rm update",
		"fettle payloads ":                     "list show accept reject types",
		"fettle payloads types suggested_":     "suggested_values suggested_actions",
		"fettle models list --re":              "--refresh",
		"fettle models list --refresh --re":    "",
		"fettle ask --no":                      "--no-stdin --no-tools --no-stream",
		"fettle ask question --no-to":          "--no-tools",
		"fettle ask -- --no":                   "",
		"fettle ask --file x --fi":             "--file", // may be repeated
		"fettle ask -m x --mod":                "",
		"fettle ask -":                         "-m -s -p -f -c -w -t -o -x -q -v -u",
		"fettle ask -u":                        "-u",
		"fettle -":                             "--version --help",
		"fettle ask -o ":                       "text json events",
		"fettle ask -o js":                     "json",
		"fettle ask -qo js":                    "json",
		"fettle ask -oq js":                    "",
		"fettle ask --output=":                 "--output=text --output=json --output=events",
		"fettle ask --output=e":                "--output=events",
		"fettle ask --nosuch=":                 "",
		"fettle ask --quiet=":                  "",
		"fettle ask --color ":                  "auto always never",
		"fettle chats list -o ":                "text json",
		"fettle chats list -n ":                "",
		"fettle ask --timeout ":                "",
		"fettle ask --allow wri":               "write_file",
		"fettle ask -t ":                       "builtin",
		"fettle ask -f ":                       ":files",
		"fettle ask --schema ":                 ":files",
		"fettle ask --record=":                 ":files",
		"fettle ask -w ":                       ":dirs",
		"fettle workspace import ":             ":files",
		"fettle workspace export 1 ":           ":files",
		"fettle man --all ":                    ":dirs",
		"fettle ask ":                          "",
		"fettle help exi":                      "exit-codes",
		"fettle help chats ":                   "list show search branches switch rename fork compact export import rm restore purge",
		"fettle help nosuch ":                  "",
		"fettle man models ":                   "list show pull rm update",
		"fettle completion ":                   "bash zsh fish powershell",
		"fettle completion bash ":              "",
		"fettle models pull ":                  "",
		`fettle ask --output="js`:              "--output=json",
		`fettle 'models' "li`:                  "list",
		"fettle ask -f a -f b --ephemeral --e": "--extract --effort",
		"fettle ask --effort m":                "minimal medium max",
	} {
		want := strings.Fields(want)
		got := strings.Fields(completed(t, "bash", line))
		if strings.HasSuffix(line, " -") { // what all commands have is said once
			want, got = append(want, "--help"), slices.DeleteFunc(got, func(s string) bool { return strings.HasPrefix(s, "--") && s != "--help" })
			want = slices.Compact(slices.DeleteFunc(want, func(s string) bool { return s == "--version" }))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s\n%q, want\n%q", line, got, want)
		}
	}
}

func TestCompleteLeavesMatchingToShellsThatDoItThemselves(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"zsh", "fish"} {
		if got := completed(t, shell, "fettle ask -o JS"); got != "text json events" {
			t.Errorf("%s: %q", shell, got)
		}
	}
	for _, shell := range []string{"bash", "powershell", ""} {
		if got := completed(t, shell, "fettle ask -o x"); shell != "" && got != "" {
			t.Errorf("%s: %q", shell, got)
		}
	}
}

func TestEnumerated(t *testing.T) {
	t.Parallel()
	for usage, want := range map[string]string{
		" text or json": "text|json",
		" text, json (one object) or events (a line of JSON each)": "text|json=one object|events=a line of JSON each",
		": auto, always or never":                                  "auto|always|never",
		": text, json":                                             "text|json",
		": model, day or chat; the last is slow":                   "model|day|chat",
		" text, json, or yaml":                                     "text|json|yaml",
		"; may be repeated":                                        "",
		"":                                                         "",
		", such as 90s or 5m":                                      "",
		": 7d (today and the six days before), 4w, or a date such as 2026-01-31": "",
		" - is standard input; may be repeated":                                  "",
		" without asking, such as write_file or 'write_file(path=notes/**)'":     "",
		", for replay as script/FILE":                                            "",
		" times":                                                                 "",
		" (an":                                                                   "",
	} {
		var got []string
		for _, s := range enumerated(usage) {
			v := s.value
			if s.about != "" {
				v += "=" + s.about
			}
			got = append(got, v)
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%q: %q, want %q", usage, got, want)
		}
	}
}

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
	app := newApp(rt)
	app.Commands[0].Usage = "a\ttab,\na line\x1b[2J and " + strings.Repeat("much ", 100)
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

func FuzzComplete(f *testing.F) {
	f.Add("ask\x00-m", "oll", "bash")
	f.Add("chats\x00show\x00--\x00x", "--output=", "zsh")
	f.Add("ask\x00-", "-", "fish")
	f.Fuzz(func(t *testing.T, words, cursor, shell string) {
		list := strings.Split(words, "\x00")
		if at := locate(newApp(workbench.New(term.Test(term.TestOptions{}).Streams)), list); at.path == "" {
			t.Fatal("nowhere")
		}
		if at := unquoted(cursor); len(at) > len(cursor)*3 {
			t.Fatalf("%q became %q", cursor, at)
		}
		enumerated(words + cursor)
		_ = shell
	})
}
