package cas

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Stats says what uses the store's room.
type Stats struct {
	Manifests int
	Trees     int
	Blobs     int
	Bytes     int64 // of the blobs that states have, each once
	// Files and FileBytes are the large blobs on the disk, Unreached the bytes of
	// those that no state has.
	Files     int
	FileBytes int64
	Unreached int64
	// RecordBytes is the size of the folder in which the records are, which holds
	// small blobs and everything else that fettle keeps.
	RecordBytes int64
	Chats       []ChatStats // the largest first
	// Damaged are the manifests that can't be read, whose states are not counted.
	Damaged []error
}

// ChatStats is what one chat's states take.
type ChatStats struct {
	ChatID    string
	Manifests int
	Bytes     int64 // of all blobs that its states have
	Own       int64 // of those that no other chat has: what deleting it gives back
}

// Stats reads all trees, and no file's content.
func (s *Store) Stats(ctx context.Context) (*Stats, error) {
	release, err := s.share(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	out := new(Stats)
	all, err := s.allManifests(ctx, func(err error) error {
		out.Damaged = append(out.Damaged, err)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look what uses the store: %w", err)
	}
	out.Manifests = len(all)
	total := newReach(s)
	if err := s.statChats(ctx, all, total, out); err != nil {
		return nil, fmt.Errorf("look what uses the store: %w", err)
	}
	out.Trees, out.Blobs = len(total.trees), len(total.blobs)
	err = s.eachFile(func(_ string, d Digest, size int64) error {
		out.Files++
		out.FileBytes += size
		if !total.blobs[d] && !total.trees[d] {
			out.Unreached += size
		}
		return nil
	})
	if err == nil {
		out.RecordBytes, err = folderSize(s.kv.Dir())
	}
	if err != nil {
		return nil, fmt.Errorf("look what uses the store: %w", err)
	}
	return out, nil
}

// statChats visits each chat's states apart, and notes who has a blob alone.
func (s *Store) statChats(ctx context.Context, all []*Manifest, total *reach, out *Stats) error {
	roots := make(map[string][]Digest)
	for _, m := range all {
		roots[m.ChatID] = append(roots[m.ChatID], m.Root)
	}
	type holder struct {
		chat   int
		shared bool
		size   int64
	}
	holders := make(map[Digest]holder)
	for chat, list := range roots {
		at := len(out.Chats)
		c := ChatStats{ChatID: chat, Manifests: len(list)}
		r := newReach(s)
		r.blob = func(e *Entry) {
			c.Bytes += e.Size
			h, ok := holders[e.Digest]
			if !ok {
				h = holder{chat: at, size: e.Size}
				out.Bytes += e.Size
			} else {
				h.shared = true
			}
			holders[e.Digest] = h
			total.blobs[e.Digest] = true
		}
		r.tree = func(d Digest, _ []Entry) { total.trees[d] = true }
		if err := r.from(ctx, list); err != nil {
			return err
		}
		out.Chats = append(out.Chats, c)
	}
	for _, h := range holders {
		if !h.shared {
			out.Chats[h.chat].Own += h.size
		}
	}
	slices.SortFunc(out.Chats, func(a, b ChatStats) int {
		if a.Bytes != b.Bytes {
			return int(min(max(b.Bytes-a.Bytes, -1), 1))
		}
		return strings.Compare(a.ChatID, b.ChatID)
	})
	return nil
}

// folderSize adds up the files of a folder; those that go meanwhile count
// nothing.
func folderSize(dir string) (total int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return ignoreMissing(err)
		}
		info, err := e.Info()
		if err != nil {
			return ignoreMissing(err)
		}
		if info.Mode().IsRegular() {
			total += info.Size()
		}
		return nil
	})
	if os.IsNotExist(err) {
		return 0, nil
	}
	return total, err
}
