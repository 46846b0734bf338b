package input

import (
	"context"
	"errors"
	"io"
	"os"
	"testing"
	"time"
)

// A stream gives what comes, and ends with its context while it waits for more.
func TestAStreamEndsWithItsContext(t *testing.T) {
	t.Parallel()
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	defer to.Close()
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	in, err := Stream(ctx, from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if _, err := to.WriteString("some"); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 16)
	if n, err := in.Read(buf); string(buf[:n]) != "some" || err != nil {
		t.Fatalf("read %q, %v", buf[:n], err)
	}
	time.AfterFunc(10*time.Millisecond, func() { cancel(why) })
	for range 2 { // it stays so
		if n, err := in.Read(buf); n != 0 || !errors.Is(err, why) {
			t.Errorf("read %d bytes, %v", n, err)
		}
	}
}

func TestAStreamEndsWithItsFile(t *testing.T) {
	t.Parallel()
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	if _, err := to.WriteString("all"); err != nil {
		t.Fatal(err)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	in, err := Stream(t.Context(), from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if all, err := io.ReadAll(in); string(all) != "all" || err != nil {
		t.Errorf("read %q, %v", all, err)
	}
}

// All reads no more than it may, and says that there is more.
func TestAllIsBounded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		most   int64
		want   string
		larger bool
	}{{4, "abcd", false}, {9, "abcd", false}, {3, "", true}} {
		from, to, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer from.Close()
		if _, err := to.WriteString("abcd"); err != nil {
			t.Fatal(err)
		}
		if err := to.Close(); err != nil {
			t.Fatal(err)
		}
		if got, larger, err := All(t.Context(), from, c.most); string(got) != c.want || larger != c.larger || err != nil {
			t.Errorf("at most %d: %q, %v, %v", c.most, got, larger, err)
		}
	}
}
