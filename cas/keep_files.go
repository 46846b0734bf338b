package cas

import (
	"bytes"
	"context"
	"fmt"
	"strconv"

	"github.com/fettle-cli/fettle/internal/kv"
)

// KeepFiles stores contents from memory, each as a separate state that has one file of
// that name, and returns the states in the order of the contents. They are recorded
// together: a call that fails leaves nothing that any state reaches. It does not write
// to a folder, and writes to the disk once, however many contents there are.
func (s *Store) KeepFiles(ctx context.Context, about About, name string, contents [][]byte, limits Limits) ([]*Manifest, error) {
	release, err := s.share(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	limits = limits.complete()
	m := &importer{
		s: s, ctx: ctx, o: ImportOptions{ChatID: about.ChatID, Limits: limits},
		blobs: make(map[Digest]int64), trees: make(map[Digest]totals),
		c: &capturer{s: s, limits: limits, found: present{s: s}}, out: &Import{IDs: make(map[string]string)},
	}
	if err := s.accounts(ctx, m.c, about.ChatID); err != nil {
		return nil, err
	}
	err = s.kv.BatchSync(ctx, func(b *kv.Batch) error {
		m.batch = b
		if err := m.keepContents(contents); err != nil {
			return fmt.Errorf("keep %s: %w", name, err)
		}
		for i, content := range contents {
			root, err := m.keepFolder(name, content)
			if err != nil {
				return fmt.Errorf("keep %s: %w", name, err)
			}
			id := strconv.Itoa(i)
			m.list = append(m.list, &Manifest{ID: id, Root: root, CreatedAt: s.now(), Source: about.Source, SourceRef: about.SourceRef})
			m.out.IDs[id] = s.newID(s.now())
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.pause("files kept")
	if err := m.publish(); err != nil {
		return nil, err
	}
	return m.out.Manifests, nil
}

// keepContents stores contents, the small ones in groups.
func (m *importer) keepContents(contents [][]byte) error {
	var group []blob
	bytesIn := 0
	for _, content := range contents {
		if err := m.ctx.Err(); err != nil {
			return err
		}
		d, size := Sum(content), int64(len(content))
		if _, twice := m.blobs[d]; twice {
			continue
		}
		m.blobs[d] = size
		if size > smallBlob {
			if err := m.large(bytes.NewReader(content), d, size); err != nil {
				return err
			}
			continue
		}
		group = append(group, blob{d, append([]byte{encRaw}, content...)})
		if bytesIn += len(content); bytesIn < groupBytes && len(group) < groupBlobs {
			continue
		}
		if err := m.c.writeGroup(m.ctx, m.batch, group); err != nil {
			return err
		}
		group, bytesIn = nil, 0
	}
	return m.c.writeGroup(m.ctx, m.batch, group)
}

// keepFolder stores the folder that has one content as its only file, and returns
// the folder's digest.
func (m *importer) keepFolder(name string, content []byte) (Digest, error) {
	enc := encodeTree([]Entry{{Name: name, Kind: File, Digest: Sum(content), Size: int64(len(content))}})
	root := Sum(enc)
	if _, twice := m.trees[root]; twice {
		return root, nil
	}
	return root, m.tree(bytes.NewReader(enc), root, int64(len(enc)))
}
