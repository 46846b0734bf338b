package builtin

import (
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/fettle-cli/fettle/internal/needtest"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/builtin/readable"
	"github.com/fettle-cli/fettle/toolset/sandbox"
)

// asReader is the argument with which the test binary reads a page, as fettle
// itself does in its own way; asHung is a reader that never ends, and asGreedy
// one that takes memory until it is ended.
const (
	asReader = "read-a-page"
	asHung   = "read-for-ever"
	asGreedy = "read-too-much"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 2 {
		switch os.Args[1] {
		case asReader:
			if err := readable.Serve(os.Stdin, os.Stdout); err != nil {
				os.Exit(1)
			}
			os.Exit(0)
		case asHung:
			for i := 0; ; i++ {
			}
		case asGreedy:
			var all [][]byte
			for i := 0; ; i++ {
				all = append(all, make([]byte, 64<<20))
				for j := range all[i] {
					all[i][j] = byte(j)
				}
			}
		}
	}
	goleak.VerifyTestMain(m)
}

func newLauncher(t *testing.T) *sandbox.Launcher {
	t.Helper()
	l := sandbox.New(sandbox.Options{KeeperEnv: []string{"GORACE=" + strings.TrimSpace(os.Getenv("GORACE")+" atexit_sleep_ms=0")}})
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// need skips a test that needs something the machine lacks.
func need(t *testing.T, ok bool, what string) {
	t.Helper()
	if !ok {
		needtest.Lacking(t, what)
	}
}

// anyLevel lets commands run on every machine.
func anyLevel() toolset.Policy { return toolset.Policy{Least: toolset.LevelNone} }
