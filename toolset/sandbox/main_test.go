package sandbox_test

import (
	"context"
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if status, done := otherMode(); done {
		os.Exit(status)
	}
	goleak.VerifyTestMain(m)
}

func testContext() context.Context { return context.Background() }
