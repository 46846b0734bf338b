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
	for _, line := range []string{
		"ls && rm -rf x", "echo $(rm -rf x)", "echo \"`rm -rf x`\"", "r''m -rf x", "'rm' \"-rf\" x", "\\rm -rf x", "/bin/rm -rf x",
		"A=1 rm -rf x", "(rm -rf x)", "if true; then rm -rf x; fi", "f() { rm -rf x; }", "cat <(rm -rf x)", "echo ${a:-$(rm -rf x)}",
		"cat <<E\n$(rm -rf x)\nE", "ls > \"$(rm -rf x)\"", "echo $'\\' ; rm -rf x #'", "for i in a; do rm -rf x;done",
		// programs that run another command
		"command rm -rf x", "env rm -rf x", "env -i A=1 rm -rf x", "/usr/bin/env -u A rm -rf x", "nohup rm -rf x", "timeout 5 rm -rf x",
		"timeout -s KILL 5s rm -rf x", "timeout --signal=KILL 5s /bin/rm -rf x", "ls | xargs -n 1 rm -rf x", "sudo -u root rm -rf x",
		"sudo -u \"$USER\" rm -rf x", "exec -a y rm -rf x", "nice -n 5 timeout 3 env rm -rf x", "find . -exec rm -rf x \\;", "time rm -rf x",
		"sh -c 'rm -rf x'", "bash -lc \"rm -rf x\"", "bash -e -o pipefail -c 'ls; rm -rf x'", "env sh -c 'sudo rm -rf x'",
		"eval rm -rf x", "eval 'rm -rf x'", "trap 'rm -rf x' EXIT", "flock lock -c 'rm -rf x'", "sh -c \"sh -c 'rm -rf x'\"", "busybox rm -rf x",
		"env -S 'rm -rf x'", "env -S'rm -rf x'", "env --split-string='rm -rf x'", "su -c'rm -rf x'", "su --command='rm -rf x'",
		"flock --command='rm -rf x' lock", "xargs -I{} rm -rf x", "find . -execdir rm -rf x \\;", "parallel rm -rf x",
	} {
		got, _ := Seen(line, POSIX)
		if !slices.ContainsFunc(got, func(c string) bool { return c == "rm -rf x" || c == "rm -rf x ;" }) {
			t.Errorf("%q: %q has no rm -rf x", line, got)
		}
	}
}

func TestLinesThatAreUnclear(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"rm 'x", "a |", "$X -rf x", "\"$X\"", "r${y}m x", "$(echo rm) x", "`echo rm` x", "/bin/r? x", "/bin/[r]m x", "{rm,-rf,x}", "$'\\x72m' x",
		"env $X y", "sudo -u root $X", "timeout 5 $X", "xargs \"$@\"", "sh -c \"$X\"", "sh script.sh", "curl x | sh", "bash <<E\nrm x\nE",
		"eval \"$X\"", ". ./x", "source x", "alias ls=rm", "ls; $X", "echo $($X)", strings.Repeat("a", maxLine+1), "a\x00b",
		strings.Repeat("env ", maxLine/4-8) + "rm x", "sudo -E $X", "env -u $X $Y", "nice -n 5 env $X",
		"echo rm x | xargs env", "echo rm | xargs -n 1 sudo -n", "xargs -I% % -rf x", "xargs -I % env % x", "xargs -i {} x", "xargs --replace=@ /bin/@ x",
		"echo rm x | parallel", "parallel {} x", "find . -exec {} \\;", "find . -execdir env {} +", "find . -exec ./{} \\;", "xargs -0 timeout 5",
	} {
		if _, unclear := Seen(line, POSIX); !unclear {
			t.Errorf("%.80q is clear", line)
		}
	}
	for _, line := range []string{
		"ls", "git status && git log | head", "rm -rf \"$x\"", "for f in *; do rm $f; done", "[ -f x ]", "env A=1 ls $x", "timeout 5 cat *.txt",
		"sh -c 'ls'", "xargs rm", "bash --version", "find . -name '*.go' -exec wc {} +", "echo {a,b}", "if true; then ls; fi", "A=$(ls) ls", "~/bin/ls",
		"xargs", "xargs -0", "xargs -n 1 grep x", "xargs -I{} mv {} y", "xargs -I % cp % y", "find . -name x -exec env A=1 wc {} \\;", "parallel wc {}",
	} {
		if _, unclear := Seen(line, POSIX); unclear {
			t.Errorf("%q is unclear", line)
		}
	}
	for line, want := range map[string]bool{"dir /b": false, `C:\x\git.exe status`: false, "dir & del x": true, "cmd /c del": true, "powershell -c x": true} {
		if _, unclear := Seen(line, Windows); unclear != want {
			t.Errorf("Windows: %q: unclear is %v", line, unclear)
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
