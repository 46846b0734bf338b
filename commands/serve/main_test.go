package serve_test

import (
	"testing"

	"github.com/fettle-cli/fettle/commands/commandtest"
)

func TestMain(m *testing.M) { commandtest.Main(m) }

// world is a data directory with a scripted model, for tests in Go.
type world struct{ *commandtest.World }

func newWorld(t *testing.T, script string) *world { return &world{commandtest.New(t, script)} }
