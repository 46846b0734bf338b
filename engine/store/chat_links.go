package store

import (
	"bytes"
	"context"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/internal/kv"
)

// treeGroup is how many messages are read while the store is held once.
const treeGroup = 5000

// chatLinks reads all messages of a chat without their content. damaged reports that
// one could not be read.
func (s *Store) chatLinks(ctx context.Context, chatID string) (links []chat.MessageLink, damaged bool, err error) {
	r := kv.Range{Prefix: kv.Str(chatID), Limit: treeGroup}
	for n := treeGroup; n == treeGroup; {
		n = 0
		err := s.View(ctx, func(tx *kv.Tx) error {
			after := r.After
			for l, err := range s.Tables.links.Scan(tx, r) {
				n++
				if err != nil && s.LeavesOut(err) {
					damaged = true
					continue
				}
				if err != nil {
					return err
				}
				links = append(links, *l)
				r.After = s.Tables.links.KeyOf(l)
			}
			if bytes.Equal(after, r.After) { // all of the group are damaged
				n = 0
			}
			return nil
		})
		if err != nil {
			return nil, false, err
		}
	}
	return links, damaged, nil
}
