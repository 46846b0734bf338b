package engine

import (
	"context"
	"time"

	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/kv"
)

const (

	// indexNoted is how old the note of the last use may be: a search should write nothing.
	indexNoted = 24 * time.Hour
)

// noteUse notes that a search used the index, unless that is noted already.
func (x *passageIndex) noteUse(ctx context.Context) error {
	e, now := x.s.e, x.s.e.o.Now()
	fresh := false
	err := e.View(ctx, func(tx *kv.Tx) error {
		r, err := e.Tables.Indexes.Get(tx, kv.Str(x.name))
		fresh = err == nil && now.Sub(r.UsedAt) < indexNoted
		if err != nil && store.Unreadable(err) {
			err = nil
		}
		return err
	})
	if err != nil || fresh {
		return err
	}
	release, err := e.ShareData(ctx, nil)
	if err != nil {
		return err
	}
	defer release()
	err = e.KV.Update(ctx, func(tx *kv.Tx) error {
		return e.Tables.Indexes.Put(tx, &store.DocumentIndex{Name: x.name, UsedAt: now})
	})
	if err != nil {
		return store.WaitFault(ctx, "note the use of the vectors of documents", err)
	}
	return nil
}
