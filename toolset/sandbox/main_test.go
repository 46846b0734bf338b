package sandbox_test

import (
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	for _, mode := range []func() (int, bool){toolMode, otherMode} {
		if status, done := mode(); done {
			os.Exit(status)
		}
	}
	goleak.VerifyTestMain(m)
}

// keeperEnv spares each supervisor the second that the race detector waits at its
// end.
func keeperEnv() []string {
	return []string{"GORACE=" + strings.TrimSpace(os.Getenv("GORACE")+" atexit_sleep_ms=0")}
}
