package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/fettle-cli/fettle/internal/atomicfile"
	"github.com/fettle-cli/fettle/internal/lockfile"
)

// counterTime bounds the wait for the counter's lock. Its holder is done in a
// moment, unless the file was lost and it has to ask the store, for which
// processes wait for ten seconds.
const counterTime = 15 * time.Second

// Counter gives out a data directory's numbers: those of chats, which people
// type, and the order in which turns were accepted.
type Counter struct {
	path string
	// Recover tells the highest numbers that are known from elsewhere, for
	// when the file is lost or broken.
	Recover func(context.Context) (Numbers, error)
	// OnWait is called with the holder of the counter's lock, once a wait for it has
	// taken [lockfile.Soon]. It may be nil.
	OnWait func(owner string)
}

// Numbers are the last ones given out.
type Numbers struct {
	Chat int64 `json:"chat"`
	Turn int64 `json:"turn"`
}

// NewCounter uses <data>/counter.json.
func NewCounter(dataDir string, rec func(context.Context) (Numbers, error)) *Counter {
	return &Counter{path: filepath.Join(dataDir, "counter.json"), Recover: rec}
}

// Next returns the next turn number and, for a new chat, the next chat number
// (else 0). Numbers ascend by acceptance and are never given twice; those of a
// turn that then fails to be accepted are gaps. The returned sync makes them
// durable, with all that were given before, and is called before the turn is
// acknowledged. No file is open until then: other processes replace the file.
func (c *Counter) Next(ctx context.Context, newChat bool) (n Numbers, sync func() error, err error) {
	if err := os.MkdirAll(filepath.Dir(c.path), 0o700); err != nil {
		return n, nil, fmt.Errorf("make data directory: %w", err)
	}
	sync, err = c.change(ctx, func(last *Numbers) {
		last.Turn++
		n.Turn = last.Turn
		if newChat {
			last.Chat++
			n.Chat = last.Chat
		}
	})
	return n, sync, err
}

// Raise lets all numbers from now on be above these, for when numbers turn up
// that the file, put back from a copy perhaps, doesn't know of.
func (c *Counter) Raise(ctx context.Context, above Numbers) error {
	sync, err := c.change(ctx, func(last *Numbers) {
		last.Chat, last.Turn = max(last.Chat, above.Chat), max(last.Turn, above.Turn)
	})
	if err != nil {
		return err
	}
	return sync()
}

// change replaces the file under its lock.
func (c *Counter) change(ctx context.Context, how func(last *Numbers)) (sync func() error, err error) {
	release, err := lockfile.Wait(ctx, c.path+".lock", lockfile.Patience{Bound: counterTime, Quiet: lockfile.Soon, OnWait: c.OnWait})
	if err != nil {
		return nil, fmt.Errorf("lock counter: %w", err)
	}
	defer release()
	limited, cancel := context.WithTimeout(ctx, counterTime)
	defer cancel()
	last, err := c.read(limited)
	if err != nil {
		return nil, err
	}
	how(&last)
	data, err := json.Marshal(last)
	if err == nil {
		err = atomicfile.Write(c.path, append(data, '\n'), atomicfile.Cached)
	}
	if err != nil {
		return nil, fmt.Errorf("write counter: %w", err)
	}
	return c.sync, nil
}

// sync makes the file durable that has the counter's name by now. Another
// process may have replaced it; its numbers are higher then.
func (c *Counter) sync() error {
	if err := atomicfile.SyncFile(c.path); err != nil {
		return fmt.Errorf("sync counter: %w", err)
	}
	return nil
}

func (c *Counter) read(ctx context.Context) (Numbers, error) {
	var n Numbers
	data, err := atomicfile.ReadFile(c.path)
	if err == nil && json.Unmarshal(data, &n) == nil && n.Turn > 0 {
		return n, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return n, fmt.Errorf("read counter: %w", err)
	}
	// The file isn't synced before it is replaced, so a power cut may leave an
	// old or an empty one. The journals and the store have every number that
	// was acknowledged.
	n, err = c.Recover(ctx)
	if err != nil {
		return n, fmt.Errorf("recover counter: %w", err)
	}
	return n, nil
}
