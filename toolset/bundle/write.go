package bundle

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"time"

	"github.com/mholt/archiver/v4"
)

// WriteZIP writes the bundle as a ZIP: the same bytes for the same files. The
// manifest comes first, the others by their paths; every entry is deflated and
// has the same time and mode. replace are files that take the place of the
// bundle's, or come to them. Only a toolset is written: one of another kind
// needs a toolset.yaml among replace.
func (b *Bundle) WriteZIP(ctx context.Context, w io.Writer, replace map[string][]byte) error {
	var list []archiver.FileInfo
	for i := range b.entries {
		e := &b.entries[i]
		if _, ok := replace[e.path]; !ok {
			list = append(list, b.zipped(i))
		}
	}
	for _, p := range slices.Sorted(maps.Keys(replace)) {
		list = append(list, fixed(p, int64(len(replace[p])), func() (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(replace[p])), nil
		}))
	}
	slices.SortFunc(list, func(x, y archiver.FileInfo) int {
		return cmp.Or(rank(x.NameInArchive)-rank(y.NameInArchive), cmp.Compare(x.NameInArchive, y.NameInArchive))
	})
	if err := writable(list); err != nil {
		return fmt.Errorf("write bundle: %w", err)
	}
	// The archiver passes over what fails when the ZIP is closed.
	out := &sticky{to: w}
	if err := (archiver.Zip{Compression: methodDeflate}).Archive(ctx, out, list); err != nil {
		return fmt.Errorf("write bundle: %w", err)
	}
	if out.err != nil {
		return fmt.Errorf("write bundle: %w", out.err)
	}
	return nil
}

func rank(p string) int {
	if p == Toolset.ManifestFile() {
		return 0
	}
	return 1
}

// writable holds what is to be written against the rules for what is read.
func writable(list []archiver.FileInfo) error {
	all := make([]entry, len(list))
	for i, f := range list {
		all[i] = entry{raw: f.NameInArchive, size: f.Size(), packed: -1}
	}
	l, err := arrange(all, false)
	if err != nil {
		return err
	}
	if l.kind != Toolset {
		return refuse(Manifest, "", "there is no toolset.yaml to write")
	}
	return nil
}

func (b *Bundle) zipped(i int) archiver.FileInfo {
	e := &b.entries[i]
	return fixed(e.path, e.size, func() (io.ReadCloser, error) {
		var buf bytes.Buffer
		if err := b.copy(&buf, i, nil); err != nil {
			return nil, err
		}
		return io.NopCloser(&buf), nil
	})
}

// fixed is a file of which nothing but name and contents matters.
func fixed(p string, size int64, open func() (io.ReadCloser, error)) archiver.FileInfo {
	info := plainInfo{path.Base(p), size}
	return archiver.FileInfo{FileInfo: info, NameInArchive: p, Open: func() (fs.File, error) {
		r, err := open()
		if err != nil {
			return nil, err
		}
		return plainFile{r, info}, nil
	}}
}

type plainInfo struct {
	name string
	size int64
}

func (i plainInfo) Name() string    { return i.name }
func (i plainInfo) Size() int64     { return i.size }
func (plainInfo) Mode() fs.FileMode { return 0o644 }
func (plainInfo) IsDir() bool       { return false }
func (plainInfo) Sys() any          { return nil }

// ModTime is the first that a ZIP can tell; an earlier one would be written
// differently by each packer.
func (plainInfo) ModTime() time.Time { return time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC) }

type plainFile struct {
	io.ReadCloser
	info plainInfo
}

func (f plainFile) Stat() (fs.FileInfo, error) { return f.info, nil }

// sticky remembers the first error of a writer.
type sticky struct {
	to  io.Writer
	err error
}

// Write passes bytes on until one write fails.
func (s *sticky) Write(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.to.Write(p)
	s.err = err
	return n, err
}
