package kv

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// childEnv makes the test binary a child process: task, store, arguments, with
// spaces between.
const childEnv = "KV_TEST_CHILD"

func child(task string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	args := strings.Split(task, " ")
	dir := args[1]
	switch args[0] {
	case "updates": // who, how many: that many Updates of a record each
		n, err := strconv.Atoi(args[3])
		if err != nil {
			return err
		}
		return childUpdates(ctx, dir, args[2], n)
	case "stream": // who: UpdateSync for ever, saying each that is done
		return childStream(ctx, dir, args[2])
	case "hold":
		return childHold(ctx, dir)
	case "nap": // holds the store within one View until its input ends
		s := Open(dir, Options{})
		err := s.View(ctx, func(*Tx) error {
			fmt.Println("held")
			_, err := io.Copy(io.Discard, os.Stdin)
			return err
		})
		return errors.Join(err, s.Close())
	case "full":
		return childFull(ctx, dir)
	case "filled":
		return childFilled(ctx, dir)
	case "cut":
		return childCut(ctx, dir)
	case "broken":
		return childBroken(ctx, dir)
	case "memory":
		return childMemory(ctx, dir)
	}
	return fmt.Errorf("no such task %q", task)
}

func childUpdates(ctx context.Context, dir, who string, n int) error {
	s := Open(dir, Options{})
	table := chatTable()
	for i := range n {
		err := s.Update(ctx, func(tx *Tx) error {
			return table.Put(tx, &chat{ID: fmt.Sprintf("%s-%03d", who, i), Title: who})
		})
		if err != nil {
			return errors.Join(err, s.Close())
		}
	}
	return s.Close()
}

func childStream(ctx context.Context, dir, who string) error {
	s := Open(dir, Options{})
	table := chatTable()
	for i := 0; ; i++ {
		err := s.UpdateSync(ctx, func(tx *Tx) error {
			// One record that only grows, and one that is moved in its indexes.
			c := chat{ID: fmt.Sprintf("%s-%05d", who, i), Title: "streamed", Tags: []string{who}}
			c.Body = strings.Repeat(c.ID, i%2*valueThreshold/4) // every other in the value log
			last := chat{ID: "last", Number: int64(i + 1), Title: who, Tags: []string{who, strconv.Itoa(i)}}
			return errors.Join(table.Put(tx, &c), table.Put(tx, &last))
		})
		if err != nil {
			return err
		}
		fmt.Println(i)
		if i%2 == 1 {
			if err := s.LetGo(); err != nil {
				return err
			}
		}
	}
}

// childHold keeps the store open until its input ends.
func childHold(ctx context.Context, dir string) error {
	s := Open(dir, Options{Hold: true})
	if err := s.View(ctx, func(*Tx) error { return nil }); err != nil {
		return err
	}
	fmt.Println("held")
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	return s.Close()
}

type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func start(t testing.TB, task ...string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+strings.Join(task, " "))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return &process{cmd: cmd, in: in, out: bufio.NewReader(out)}
}

func (p *process) expect(t testing.TB, line string) {
	t.Helper()
	if got, err := p.out.ReadString('\n'); err != nil || got != line+"\n" {
		t.Fatalf("child said %q, %v; want %q", got, err, line)
	}
}

func (p *process) kill(t testing.TB) {
	t.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.cmd.Wait()
}

// childMemory says how much anonymous memory an open store adds, in KB: after
// one record, and after many.
func childMemory(ctx context.Context, dir string) error {
	before, err := anonymousKB()
	if err != nil {
		return err
	}
	s := Open(dir, Options{})
	table := chatTable()
	for _, n := range []int{1, 2000} {
		err := s.Batch(ctx, func(b *Batch) error {
			for i := range n {
				c := chat{ID: fmt.Sprintf("%06d", i), Number: int64(i + 1), Title: "title", Body: strings.Repeat("b", 1000+i%2000)}
				if err := table.Put(b, &c); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		after, err := anonymousKB()
		if err != nil {
			return err
		}
		fmt.Println(after - before)
	}
	return s.Close()
}

// The race detector's shadow of all memory lies between these addresses, where a Go
// program has nothing of its own (tsan_platform.h, Go on amd64 and arm64).
const shadowFrom, shadowTo = 0x1000_0000_0000, 0x7000_0000_0000

// anonymousKB is this process's anonymous memory in use, without that of the race
// detector.
func anonymousKB() (kb int, err error) {
	smaps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return 0, err
	}
	shadow := false
	for line := range strings.Lines(string(smaps)) {
		fields := strings.Fields(line)
		if from, _, ok := strings.Cut(fields[0], "-"); ok {
			at, err := strconv.ParseUint(from, 16, 64)
			if err != nil {
				return 0, err
			}
			shadow = underRace && at >= shadowFrom && at < shadowTo
		} else if fields[0] == "Anonymous:" && !shadow {
			n, err := strconv.Atoi(fields[1])
			if err != nil {
				return 0, err
			}
			kb += n
		}
	}
	return kb, nil
}
