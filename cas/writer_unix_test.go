//go:build unix

package cas

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A program writes all the time while states are taken: what a state has of a file
// is one of the contents that the file was given, or that it never rested; what
// nobody writes is there each time; and once there is quiet the state is the folder.
func TestARacingWriter(t *testing.T) {
	t.Parallel()
	b := memoryBench(t)
	b.write("still/kept", "kept")
	versions := func(n int) string { return strings.Repeat(fmt.Sprintf("%06d ", n), 2000) }
	write := func(n int) error {
		whole, grown := b.path("whole"), b.path("log")
		f, err := os.OpenFile(grown, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		_, err = f.WriteString("a line of the log\n")
		return errors.Join(err, f.Close(),
			os.WriteFile(whole+".tmp", []byte(versions(n)), 0o644), os.Rename(whole+".tmp", whole),
			os.MkdirAll(b.path(fmt.Sprint("comes/", n%3)), 0o755), os.RemoveAll(b.path(fmt.Sprint("comes/", (n+1)%3))))
	}
	if err := write(0); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var writing sync.WaitGroup
	writing.Go(func() {
		for n := 1; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			if err := write(n); err != nil {
				t.Error(err)
				return
			}
		}
	})
	rested := 0
	for range sized(200, 30, 8) {
		if checkRaced(t, b, b.snap().Root, versions) {
			rested++
		}
	}
	close(stop)
	writing.Wait()
	t.Logf("in %d states the file that is replaced was at rest", rested)
	if diff := cmp.Diff(b.look(), b.entries(b.snap().Root)); diff != "" {
		t.Errorf("once nobody writes, the state isn't the folder (-folder +state):\n%s", diff)
	}
	b.mustBeSound()
}

// checkRaced tells whether the state has the content of the file that is replaced.
func checkRaced(t *testing.T, b *bench, root Digest, versions func(int) string) (rested bool) {
	t.Helper()
	failed := "failed " + reasonUnstable
	got := b.entries(root) // fails where a content isn't what its digest says
	if got["still/kept"] != "file kept" {
		t.Fatalf("what nobody writes is %q", got["still/kept"])
	}
	e, err := b.s.Lookup(t.Context(), root, "whole")
	switch {
	case err != nil:
		t.Fatalf("the file that is always there: %v", err)
	case e.Kind == File:
		rested = true
		var text strings.Builder
		var n int
		if err := b.s.Read(t.Context(), &text, e); err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Sscanf(text.String(), "%d", &n); err != nil || text.String() != versions(n) {
			t.Fatalf("a content that the file never had: %d bytes, %.40q, %v", text.Len(), text.String(), err)
		}
	case got["whole"] != failed:
		t.Fatalf("the file that is replaced is %q", got["whole"])
	}
	e, err = b.s.Lookup(t.Context(), root, "log")
	switch {
	case err != nil:
		t.Fatal(err)
	case e.Kind == File:
		var text strings.Builder
		if err := b.s.Read(t.Context(), &text, e); err != nil {
			t.Fatal(err)
		}
		if strings.ReplaceAll(text.String(), "a line of the log\n", "") != "" {
			t.Fatalf("half a line of the log, of %d bytes", text.Len())
		}
	case got["log"] != failed:
		t.Fatalf("the file that grows is %q", got["log"])
	}
	return rested
}
