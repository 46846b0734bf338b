package engine

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/event"
)

// programs are what the calls of real programs leave, and what the program itself says of it
// afterwards, outside of the sandbox.
func programs() []struct{ name, needs, before, call, check, want string } {
	return []struct{ name, needs, before, call, check, want string }{
		{"make", "make", `printf 'all: out\nout: in\n\tcp in out\n' > Makefile; echo 1 > in`, "make", "cat out", "1\n"},
		{"sqlite", "sqlite3", `sqlite3 db 'create table t(a); insert into t values (1)'`,
			`sqlite3 db 'pragma journal_mode=wal; insert into t values (2); update t set a = a + 1; vacuum'`,
			`sqlite3 db 'pragma integrity_check; select sum(a) from t'`, "ok\n5\n"},
		{"rsync", "rsync", "mkdir from to; echo 1 > from/a; echo 1 > to/gone", "rsync -a --delete from/ to/", "ls to; cat to/a", "a\n1\n"},
		{"sed -i", "sed", "echo one > f; chmod 640 f", "sed -i s/one/two/ f", "cat f; stat -c %a f", "two\n640\n"},
		{"mv of a folder", "mv", "mkdir -p old/deep; echo 1 > old/deep/f", "mv old new", "find . -name f", "./new/deep/f\n"},
		{"tar over a tree", "tar", "mkdir d; echo 1 > d/f; tar cf a.tar d; echo 2 > d/g", "rm -r d && tar xf a.tar", "ls d", "f\n"},
		{"hard links made in the call", "ln", "echo 1 > a", "echo 2 > b; ln b c; ln -s b d", "stat -c %h b c; readlink d", "2\n2\nb\n"},
		{"a folder in place of a file", "mkdir", "echo 1 > x; mkdir y; echo 1 > y/f", "rm x; mkdir x; echo 2 > x/f; rm -r y; echo 3 > y", "cat x/f y", "2\n3\n"},
		{"modes", "chmod", "echo 1 > f; mkdir d; echo 1 > d/f", "chmod 750 f; chmod 500 d", "stat -c %a f d", "750\n500\n"},
		{"go build", "go", "printf 'module m\ngo 1.24\n' > go.mod; printf 'package main\nfunc main() { println(1) }\n' > main.go",
			"GOFLAGS=-mod=mod GOCACHE=/tmp/cache GOPATH=/tmp/go GOTOOLCHAIN=local go build -buildvcs=false -o out .", "./out 2>&1", "1\n"},
		{"npm install", "npm", `mkdir pkg; echo '{"name":"pkg","version":"1.0.0"}' > pkg/package.json; echo '{"name":"m","version":"1.0.0","dependencies":{"pkg":"file:./pkg"}}' > package.json`,
			"npm install --offline --no-audit --no-fund --cache /tmp/npm", `node -p "require('pkg/package.json').version"`, "1.0.0\n"},
	}
}

func TestRealProgramsInALayer(t *testing.T) {
	t.Parallel()
	b := layeredBench(t)
	for _, c := range programs() {
		t.Run(c.name, func(t *testing.T) {
			path, err := exec.LookPath(c.needs)
			if err != nil || !strings.HasPrefix(path, "/usr/") {
				t.Skip("a sandbox has no " + c.needs)
			}
			dir := t.TempDir()
			sh := func(line string) string {
				cmd := exec.Command("sh", "-c", line)
				cmd.Dir = dir
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%s: %v %s", line, err, out)
				}
				return string(out)
			}
			sh(c.before)
			b.first(t, dir)
			end := completed(t, b.run(next(command("", "PATH=$PATH:"+filepath.Dir(path)+"; "+c.call))))
			if end.Status != event.CallSuccess || exitCode(end.Data) != 0 || len(end.Conflicts) != 0 {
				t.Fatalf("%s %s", end.Result, end.Error)
			}
			if got := sh(c.check); got != c.want {
				t.Errorf("it left %q, want %q", got, c.want)
			}
		})
	}
	b.noLayersLeft(t)
}
