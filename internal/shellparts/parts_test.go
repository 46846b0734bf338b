package shellparts

import (
	"slices"
	"strings"
	"testing"
)

func TestSimple(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		"git status":                      {"git status"},
		"git   status\t-s":                {"git status -s"},
		"git status && git log -1":        {"git status", "git log -1"},
		"git log | head -3; ls || true &": {"git log", "head -3", "ls", "true"},
		"go test ./... 2>&1 | tail":       {"go test ./...", "tail"},
		"make >/dev/null 2>/dev/null":     {"make"},
		"echo 'a; rm -rf b' \"c && d\"":   {"echo 'a; rm -rf b' \"c && d\""},
		"echo $HOME \"$x\" ${y}":          {"echo $HOME \"$x\" ${y}"},
		"ls # rm -rf x":                   {"ls"},
		"git status\nls":                  {"git status", "ls"},
		"git \\\n status":                 {"git status"},
	} {
		if got, ok := Simple(line, POSIX); !ok || !slices.Equal(got, want) {
			t.Errorf("%q: %q %v, want %q", line, got, ok, want)
		}
	}
}

func TestNotSimple(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"", " ", "# nothing", "git status $(rm -rf x)", "git status `rm x`", "git status \"$(rm x)\"", "git status ${x:-$(rm x)}",
		"git status ${x:=y}", "git status ${x@P}", "git status ${!x}", "git status $((a[$(rm x)]))", "git status $((1))", "git status <(rm x)",
		"git status > file", "git status >> file", "git status < file", "git status <<E\n$(rm x)\nE", "git status <<< x", "git status &> file",
		"git status >&file", "git status >| file", "git status 3<>file",
		"X=1 git status", "X=1", "(git status)", "{ git status; }", "! (ls)", "if ls; then rm x; fi", "for i in a; do rm $i; done",
		"while rm x; do :; done", "case a in a) rm x;; esac", "f() { rm x; }; f", "function f { rm x; }", "$X status", "${X} status", "\"git\" status",
		"g\"it\" status", "echo $'\\' ; rm -rf x #'", "git status {a,b}$(rm x)", "[[ -f x ]]", "((x=1))", "let x=1",
		"coproc rm x", "git status 'unclosed", "git status &&", "git status ; ;", "export PATH=x", "declare x=1", "git status\x00rm x", "time (rm x)",
		strings.Repeat("a", maxLine+1),
	} {
		if got, ok := Simple(line, POSIX); ok {
			t.Errorf("%.60q is taken for %q", line, got)
		}
	}
}

func TestWindowsLines(t *testing.T) {
	t.Parallel()
	if got, ok := Simple("git  status -s", Windows); !ok || !slices.Equal(got, []string{"git status -s"}) {
		t.Errorf("%q %v", got, ok)
	}
	for _, line := range []string{"", "git status & del x", "git status; del x", "git status | del", "git status $(del x)", "git %X%", "git 'a'", "git\ndel x", "git > x"} {
		if got, ok := Simple(line, Windows); ok {
			t.Errorf("%q is taken for %q", line, got)
		}
	}
}

func TestSeen(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"ls && rm -rf x":               "rm -rf x",
		"echo $(rm -rf x)":             "rm -rf x",
		"echo \"`rm -rf x`\"":          "rm -rf x",
		"r''m -rf x":                   "rm -rf x",
		"'rm' \"-rf\" x":               "rm -rf x",
		"\\rm -rf x":                   "rm -rf x",
		"/bin/rm -rf x":                "rm -rf x",
		"A=1 rm -rf x":                 "rm -rf x",
		"(rm -rf x)":                   "rm -rf x",
		"if true; then rm -rf x; fi":   "rm -rf x",
		"f() { rm -rf x; }":            "rm -rf x",
		"cat <(rm -rf x)":              "rm -rf x",
		"echo ${a:-$(rm -rf x)}":       "rm -rf x",
		"cat <<E\n$(rm -rf x)\nE":      "rm -rf x",
		"ls > \"$(rm -rf x)\"":         "rm -rf x",
		"echo $'\\' ; rm -rf x #'":     "rm -rf x",
		"for i in a; do rm -rf x;done": "rm -rf x",
	} {
		if got := Seen(line, POSIX); !slices.Contains(got, want) {
			t.Errorf("%q: %q lacks %q", line, got, want)
		}
	}
}

func FuzzParts(f *testing.F) {
	for _, s := range []string{"git status && ls", "echo $(x) > y", "a 'b' \"c$d\"", "a <<E\nx\nE", "${", "\xff\n;;"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		parts, ok := Simple(line, POSIX)
		if ok && len(parts) == 0 {
			t.Errorf("%q is simple without a part", line)
		}
		for _, p := range parts {
			if strings.Contains(p, "$(") && !strings.ContainsAny(p, `'\`) {
				t.Errorf("%q has the part %q", line, p)
			}
		}
		Seen(line, POSIX)
		Simple(line, Windows)
	})
}
