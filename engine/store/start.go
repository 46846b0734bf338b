package store

import (
	"context"

	"github.com/fettle-cli/fettle/engine/fault"
)

// RoomHint is what to do where the data directory can't be written.
const RoomHint = "export FETTLE_DATA=DIR   keeps everything in another folder"

func StoreFault(doing string, err error) error {
	return fault.Wrap(fault.Store, doing, err, RoomHint)
}

// WaitFault is storeFault for what may also have been stopped while it waited.
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
