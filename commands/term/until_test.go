package term

import (
	"context"
	"errors"
	"io"
	"os"
	"syscall"
	"testing"
	"time"
)

func TestAWriteEndsWithItsContext(t *testing.T) {
	t.Parallel()
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	o := &Output{w: out, set: &settings{}, screen: &screen{}}
	ctx, cancel := context.WithCancel(t.Context())
	w := o.Until(ctx)
	if n, err := w.Write([]byte("first")); n != 5 || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	got := make([]byte, 5)
	if _, err := io.ReadFull(in, got); string(got) != "first" || err != nil {
		t.Fatalf("read %q, %v", got, err)
	}
	stuck := make(chan error)
	go func() {
		_, err := w.Write(make([]byte, 10<<20)) // more than a pipe holds
		stuck <- err
	}()
	cancel()
	select {
	case err := <-stuck:
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the write did not end")
	}
	if _, err := w.Write([]byte("later")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := o.Err(); err != nil { // and it isn't held up
		t.Errorf("the stream has %v", err)
	}
	in.Close()
}

func TestAWriteThatNobodyReadsIsKept(t *testing.T) {
	t.Parallel()
	syscall.ForkLock.RLock() // a child that another test starts would keep the end that is read open
	in, out, err := os.Pipe()
	if err == nil {
		err = in.Close()
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	o := &Output{w: out, set: &settings{}, screen: &screen{}}
	if _, err := o.Until(t.Context()).Write([]byte("x")); err == nil || !errors.Is(o.Err(), err) {
		t.Errorf("%v, and the stream has %v", err, o.Err())
	}
}
