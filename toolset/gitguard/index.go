package gitguard

import (
	"context"
	"os"
	"sync"
	"time"
)

const (
	// maxListed bounds the folders whose contents an Index holds: about 20 MB.
	maxListed = 100_000
	// settled is how old the last change of a folder must be for its listing to be reused.
	// It exceeds the resolution of the timestamps of every file system, so a later change
	// has another timestamp.
	settled = 2 * time.Second
)

// Index holds which folders of a tree contain which folders, so that a further search
// reads only the folders that have changed. The zero value is empty. An Index is for one
// folder, and is safe for concurrent use.
//
// A listing is used as long as the folder has the same identity and the same times of the
// last change of its content and of its inode. No program can set the latter. On systems
// without it every search reads every folder.
type Index struct {
	mu   sync.Mutex
	dirs map[fileID]listing
	now  func() time.Time // nil is time.Now; tests set it
}

// listing is what a search needs of the entries of one folder.
type listing struct {
	stamp stamp
	names []name
	bare  bool // git would accept the folder as a repository
}

// name is an entry that is a folder, or that git may read as .git.
type name struct {
	text string
	git  bool
}

// stamp holds the times of the last change of a folder, in nanoseconds.
type stamp struct{ content, inode int64 }

// Scan is [Scan] that reads only the folders that have changed since the last search.
func (ix *Index) Scan(ctx context.Context, root *os.Root) (*Found, error) {
	found, lock, err := search(ctx, root, nil, ix)
	lock()
	return found, err
}

// Reset removes the listings.
func (ix *Index) Reset() { ix.replace(nil) }

// listings returns those of the last search.
func (ix *Index) listings() map[fileID]listing {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	return ix.dirs
}

// replace keeps the listings of a search in place of those before.
func (ix *Index) replace(now map[fileID]listing) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	ix.dirs = now
}

// time returns the time on the index's clock.
func (ix *Index) time() time.Time {
	if ix.now == nil {
		return time.Now()
	}
	return ix.now()
}

// listingOf reduces the entries of a folder to what a search needs.
func listingOf(entries []entry) listing {
	l := listing{bare: looksBare(among(entries))}
	for _, e := range entries {
		if git := isGit(e.name); git || e.isDir {
			l.names = append(l.names, name{e.name, git})
		}
	}
	return l
}

// fresh reports whether a listing that is taken now of a folder with this stamp can be
// recognized as outdated later.
func (s stamp) fresh(now time.Time) bool {
	return s != stamp{} && time.Unix(0, max(s.content, s.inode)).Add(settled).Before(now)
}
