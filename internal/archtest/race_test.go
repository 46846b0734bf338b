//go:build race

package archtest

import (
	"fmt"
	"testing"
)

// TestMain leaves these tests to a run without the race detector: they read files in
// one goroutine each, and with it take ten times as long.
func TestMain(*testing.M) {
	fmt.Println("these tests run without the race detector alone")
}
