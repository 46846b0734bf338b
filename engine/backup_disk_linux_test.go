package engine

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/fettle-cli/fettle/engine/backup"
	"github.com/fettle-cli/fettle/engine/backup/archive"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
)

// A backup that has no room is refused before anything is unpacked where it says
// so itself, and when the disk is full where it doesn't; what was there stays.
func TestABackupForWhichThereIsNoRoom(t *testing.T) {
	t.Parallel()
	b := changer(t, t.TempDir())
	b.did(store.ChatRef{}, `{"put":{"a.txt":"1"}}`)
	var huge bytes.Buffer
	w, err := archive.NewWriter(&huge, archive.Head{Bytes: 1 << 60})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := b.putBack(huge.Bytes(), backup.Options{Replace: true}); fault.CodeOf(err) != fault.Failed || !strings.Contains(err.Error(), "nothing was changed") {
		t.Errorf("a backup of an exabyte: %v", err)
	}
	b.sees(1, map[string]string{"a.txt": "1"})
	onSmallDisk(t, "fullrestore")
}

// childFullRestore is on a disk of its own, which a backup fills that doesn't say
// how large it is.
func childFullRestore(ctx context.Context, dir string) error {
	const size = 96 << 20
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", size)); err != nil {
		return fmt.Errorf("mount: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "m.yaml"), []byte(yes), 0o600); err != nil {
		return err
	}
	e := New(testOptions(crashT{}, dir, nil))
	id, err := e.Start(ctx, ask("go"))
	if err != nil {
		return err
	}
	for _, err := range e.Follow(ctx, id, 0) {
		if err != nil {
			return err
		}
	}
	noise := make([]byte, 1<<20)
	_, _ = rand.Read(noise)
	var raw bytes.Buffer
	w, err := archive.NewWriter(&raw, archive.Head{})
	for i := 0; i < 120 && err == nil; i++ {
		_, err = w.Put(archive.Entry{Name: fmt.Sprintf("blobs/aa/%d", i), Kind: archive.File, Size: int64(len(noise))}, bytes.NewReader(noise))
	}
	if err = errors.Join(err, w.Close()); err != nil {
		return err
	}
	if _, err := backup.Restore(ctx, e.Store, bytes.NewReader(raw.Bytes()), backup.Options{Replace: true}); !errors.Is(err, syscall.ENOSPC) || fault.CodeOf(err) != fault.Store {
		return fmt.Errorf("on a full disk: %w", err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "data", store.StagePrefix+"*")); len(left) > 0 {
		return fmt.Errorf("left behind: %v", left)
	}
	conv, err := e.Chat(ctx, store.ChatRef{Number: 1})
	if err != nil || len(conv.Messages) != 2 {
		return fmt.Errorf("the chat has %d messages: %w", len(conv.Messages), err)
	}
	return e.Close()
}
