package commands

import (
	"slices"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/commands/term"
)

// completed gives what a shell is told for a line whose last word the cursor
// is in, values alone.
func completed(t *testing.T, shell, line string) string {
	t.Helper()
	ts := term.Test(term.TestOptions{})
	words := strings.Split(line, " ")
	args := append([]string{"fettle", "__complete", shell, "--", "=" + words[len(words)-1]}, words[1:len(words)-1]...)
	if status := Main(t.Context(), args, ts.Streams); status != 0 {
		t.Errorf("%s: status %d", line, status)
	}
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
