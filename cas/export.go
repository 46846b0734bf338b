package cas

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/fettle-cli/fettle/internal/record"
)

const (
	// exportFormat and exportVersion are in the first member of an export.
	exportFormat  = "fettle-history"
	exportVersion = 1

	headMember      = "format.json"
	manifestsMember = "manifests.jsonl"
	endMember       = "end.json"
	blobPrefix      = "blobs/"
	treePrefix      = "trees/"
	extraPrefix     = "extra/"
)

// exportHead is the first member of an export.
type exportHead struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	ChatID  string `json:"chat_id"`
}

// exportEnd is the last member. An export that ends without it was cut short.
type exportEnd struct {
	Blobs     int `json:"blobs"`
	Trees     int `json:"trees"`
	Manifests int `json:"manifests"`
}

// Extra is a part of an export that isn't the workspace's: what else a chat is.
type Extra struct {
	Name string // letters, digits, dots and dashes
	Body []byte
}

// Export writes a chat's states, with all that they reach, as one file that
// [Store.Import] reads; the package comment has the format. The same states give
// the same bytes. Every content is checked while it is written.
func (s *Store) Export(ctx context.Context, w io.Writer, chatID string, extras ...Extra) error {
	release, err := s.share(ctx)
	if err != nil {
		return err
	}
	defer release()
	list, err := s.Manifests(ctx, chatID)
	if err != nil {
		return fmt.Errorf("export chat %s: %w", chatID, err)
	}
	if len(list) == 0 && len(extras) == 0 {
		return fmt.Errorf("export chat %s: it has no states: %w", chatID, ErrNotFound)
	}
	zip, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		return err
	}
	x := &exporter{s: s, ctx: ctx, tar: tar.NewWriter(zip), blobs: make(map[Digest]bool), trees: make(map[Digest]bool)}
	err = x.all(chatID, list, extras)
	if err == nil {
		err = x.tar.Close()
	}
	if err == nil {
		err = zip.Close()
	}
	if err != nil {
		return fmt.Errorf("export chat %s: %w", chatID, err)
	}
	return nil
}

// exporter writes members so that each comes after what it names: the reader
// can check it at once.
type exporter struct {
	s     *Store
	ctx   context.Context
	tar   *tar.Writer
	blobs map[Digest]bool
	trees map[Digest]bool
}

func (x *exporter) all(chatID string, list []*Manifest, extras []Extra) error {
	head := exportHead{Format: exportFormat, Version: exportVersion, ChatID: chatID}
	if err := x.json(headMember, head); err != nil {
		return err
	}
	for _, e := range extras {
		if !extraName(e.Name) {
			return fmt.Errorf("%q can't be the name of a part", e.Name)
		}
		if err := x.member(extraPrefix+e.Name, e.Body); err != nil {
			return err
		}
	}
	var lines bytes.Buffer
	for _, m := range list {
		if err := x.tree(m.Root, 0); err != nil {
			return err
		}
		text, err := record.Marshal(m)
		if err != nil {
			return err
		}
		lines.Write(append(text, '\n'))
	}
	if err := x.member(manifestsMember, lines.Bytes()); err != nil {
		return err
	}
	return x.json(endMember, exportEnd{Blobs: len(x.blobs), Trees: len(x.trees), Manifests: len(list)})
}

// extraName takes names that are safe in a path and in messages.
func extraName(name string) bool {
	if name == "" || len(name) > 100 || name[0] == '.' {
		return false
	}
	for _, c := range []byte(name) {
		ok := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '-' || c == '_'
		if !ok {
			return false
		}
	}
	return true
}

func (x *exporter) json(name string, v any) error {
	text, err := record.Marshal(v)
	if err != nil {
		return err
	}
	return x.member(name, append(text, '\n'))
}

func (x *exporter) member(name string, body []byte) error {
	if err := x.header(name, int64(len(body))); err != nil {
		return err
	}
	_, err := x.tar.Write(body)
	return err
}

// header begins a member. It has no time and no owner, so that the same states
// give the same file.
func (x *exporter) header(name string, size int64) error {
	return x.tar.WriteHeader(&tar.Header{
		Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o644, ModTime: time.Unix(0, 0),
	})
}

// tree writes a tree after all that is in it.
func (x *exporter) tree(d Digest, depth int) error {
	if x.trees[d] {
		return nil
	}
	if depth > maxDepth+1 {
		return fmt.Errorf("more than %d folders deep", maxDepth)
	}
	entries, err := x.s.Tree(x.ctx, d)
	if err != nil {
		return err
	}
	for i := range entries {
		e := &entries[i]
		switch {
		case e.Kind == Folder:
			err = x.tree(e.Digest, depth+1)
		case e.content():
			err = x.blob(e)
		}
		if err != nil {
			return err
		}
	}
	x.trees[d] = true
	return x.member(treePrefix+d.String(), encodeTree(entries))
}

func (x *exporter) blob(e *Entry) error {
	if x.blobs[e.Digest] {
		return nil
	}
	x.blobs[e.Digest] = true
	if err := x.header(blobPrefix+e.Digest.String(), e.Size); err != nil {
		return err
	}
	return x.s.Read(x.ctx, x.tar, *e)
}
