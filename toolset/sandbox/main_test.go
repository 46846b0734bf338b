package sandbox_test

import (
	"context"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/fettle-cli/fettle/toolset/sandbox"
)

// self makes the test binary a program that may be its own keeper.
var self sandbox.Self

func TestMain(m *testing.M) {
	me, status, done := sandbox.Main(os.Args)
	if done {
		os.Exit(status)
	}
	self = me
	if status, done := otherMode(); done {
		os.Exit(status)
	}
	goleak.VerifyTestMain(m)
}

func testContext() context.Context { return context.Background() }
