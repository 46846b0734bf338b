package store

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/fault"
)

// MoveData is what to do where the data directory can't be written.
func MoveData() fault.Remedy {
	return fault.Try(fault.MoveData).That("keeps everything in another folder")
}

// StoreFault is the fault of an operation on the data directory that failed.
func StoreFault(doing string, err error) error {
	return fault.Wrap(fault.Store, doing, err, MoveData())
}

// WaitFault is StoreFault for what may also have been stopped while it waited.
func WaitFault(ctx context.Context, doing string, err error) error {
	if ctx.Err() != nil {
		return err
	}
	return StoreFault(doing, err)
}

// LockChat takes the lock that a turn of the chat holds to its end.
func (s *Store) LockChat(ctx context.Context, id string, onWait func(string)) (func(), error) {
	let, err := s.ShareData(ctx, onWait)
	if err != nil {
		return nil, err
	}
	release, err := s.Lock(ctx, "chat-"+id, onWait)
	if err != nil {
		let()
		return nil, err
	}
	return func() { release(); let() }, nil
}

// ShownLeft is how many paths a remark names that can't be brought back.
const ShownLeft = 5

// SomeOf names the first few of a list.
func SomeOf(all []string) string {
	if len(all) <= ShownLeft {
		return strings.Join(all, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(all[:ShownLeft], ", "), len(all)-ShownLeft)
}

// Manifest reads a manifest; nil where there is none of that id any more: a
// state that can't be told is taken anew.
func (s *Store) Manifest(ctx context.Context, id string) (*cas.Manifest, error) {
	if id == "" {
		return nil, nil
	}
	m, err := s.Snapshots.Manifest(ctx, id)
	if errors.Is(err, cas.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, StoreFault("read the state of the workspace", err)
	}
	return m, nil
}

// StateFault tells what can be done where a state can't be kept or brought
// back.
func StateFault(doing string, err error) error {
	var quota *cas.QuotaError
	var conflict *cas.ConflictError
	var damage *cas.DamageError
	var folder *cas.FolderError
	switch {
	case errors.As(err, &folder):
		return fault.Wrap(fault.Failed, doing, err, fault.Advise("add it to .fettleignore, and states leave it out"))
	case errors.As(err, &quota):
		return fault.Wrap(fault.Failed, doing, err, fault.Try(fault.StoreStats).That("says what uses the space"))
	case errors.As(err, &conflict):
		f := fault.New(fault.Failed, doing+": somebody else has changed what it would change")
		f.Err = err
		f.List(len(conflict.Paths), func(i int) string { return cas.EscapePath(conflict.Paths[i].Path) + "  " + conflict.Paths[i].Reason })
		return f
	case errors.As(err, &damage):
		return fault.Wrap(fault.Store, doing, err, fault.Try(fault.VerifyStore).That("says what it belongs to"))
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return fault.Wrap(fault.Failed, doing, err)
}

// ErrClosed is the cause with which what an Engine runs ends when it is closed.
var ErrClosed = errors.New("the engine was closed")
