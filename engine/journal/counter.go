package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/fettle-cli/fettle/internal/lockfile"
)

// Counter gives out a data directory's numbers: those of chats, which people
// type, and the order in which turns were accepted.
type Counter struct {
	path string
	// Recover tells the highest numbers that are known from elsewhere, for
	// when the file is lost or broken.
	Recover func(context.Context) (Numbers, error)
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

// Next gives out the next turn number and, for a new chat, the next chat
// number (else 0). Numbers ascend by acceptance and are never given twice;
// those of a turn that then fails to be accepted are gaps. The returned sync
// makes them durable and is called before the turn is acknowledged.
func (c *Counter) Next(ctx context.Context, newChat bool) (n Numbers, sync func() error, err error) {
	if err := os.MkdirAll(filepath.Dir(c.path), 0o700); err != nil {
		return n, nil, fmt.Errorf("make data directory: %w", err)
	}
	release, err := lockfile.Acquire(ctx, c.path+".lock", nil)
	if err != nil {
		return n, nil, fmt.Errorf("lock counter: %w", err)
	}
	defer release()
	last, err := c.read(ctx)
	if err != nil {
		return n, nil, err
	}
	last.Turn++
	if newChat {
		last.Chat++
	}
	f, err := c.replace(last)
	if err != nil {
		return n, nil, fmt.Errorf("write counter: %w", err)
	}
	n = Numbers{Turn: last.Turn}
	if newChat {
		n.Chat = last.Chat
	}
	return n, func() error {
		return errors.Join(f.Sync(), f.Close(), syncDir(filepath.Dir(c.path)))
	}, nil
}

func (c *Counter) read(ctx context.Context) (Numbers, error) {
	var n Numbers
	data, err := os.ReadFile(c.path)
	if err == nil && json.Unmarshal(data, &n) == nil && n.Turn > 0 {
		return n, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return n, fmt.Errorf("read counter: %w", err)
	}
	// Lost or torn: the file was never synced before it was replaced, so
	// power loss may leave an old or an empty one. Nothing that was
	// acknowledged is forgotten by the journals and the store.
	n, err = c.Recover(ctx)
	if err != nil {
		return n, fmt.Errorf("recover counter: %w", err)
	}
	return n, nil
}

// replace swaps the file atomically and gives it open, for the sync.
func (c *Counter) replace(n Numbers) (*os.File, error) {
	data, err := json.Marshal(n)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(c.path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	if _, err = f.Write(append(data, '\n')); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return renameOpen(f, c.path+".new", c.path)
}
