package cas

import (
	"context"
	"errors"

	"github.com/fettle-cli/fettle/internal/kv"
)

// Empty records the state of a folder that isn't there yet: one with nothing in
// it. It is safe from a power cut when it is returned.
func (s *Store) Empty(ctx context.Context, about About) (*Manifest, error) {
	release, err := s.share(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	enc := encodeTree(nil)
	root := Sum(enc)
	err = s.keepObjects(ctx, func(b *kv.Batch) error { return s.writeTrees(ctx, b, []newTree{{digest: root, enc: enc}}) })
	if err != nil {
		return nil, err
	}
	m := s.manifestAs(&Manifest{Root: root}, &about)
	return m, s.commit(ctx, m, nil)
}

// Withdraw removes records of a chat's states that nothing has used yet, such as
// those of an import whose chat could not be made. What only they reached goes with
// the next [Store.GC].
func (s *Store) Withdraw(ctx context.Context, chatID string, list []*Manifest) error {
	if err := s.dropManifests(ctx, list); err != nil {
		return err
	}
	return s.kv.UpdateSync(ctx, func(tx *kv.Tx) error {
		var errs []error
		for _, chat := range accounts(chatID) {
			errs = append(errs, s.account(tx, chat, 0, -len(list)))
		}
		return errors.Join(errs...)
	})
}
