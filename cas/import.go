package cas

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/fettle-cli/fettle/internal/kv"
)

// ImportOptions bound an import, for its file is a stranger's.
type ImportOptions struct {
	// ChatID is the chat that the states become those of.
	ChatID string
	// MaxBytes bounds what the file may hold when unpacked; 0 is 64 GB.
	MaxBytes int64
	Limits   Limits // Chat, Total and KeepFree count
	// Maker tells by the file's extra parts what ran in a tool call, for its state; of
	// what it gives, the first kilobyte is kept. A state of which it says nothing is
	// one of the source Imported. It may be nil.
	Maker func(extras []Extra, call string) string
}

// Import is what was imported.
type Import struct {
	ChatID string // in the store that the file is from
	// Manifests are the new records, in the order of the file, IDs the new id of
	// each old one.
	Manifests []*Manifest
	IDs       map[string]string
	Extras    []Extra
}

const (
	defaultImport   = 64 << 30
	maxImported     = 100_000 // manifests
	maxMembers      = 10_000_000
	maxManifestText = 64 << 20
	maxExtra        = 256 << 20 // of all of them
	maxHead         = 64 << 10
	// maxUnfolded is how many entries one state may have. Trees name each other,
	// so a small file could hold a state of 2^1000.
	maxUnfolded = 10_000_000
)

// Import reads what [Store.Export] wrote. Each content and tree is checked
// against its digest, and each tree against what came before it, so that nothing
// of the store itself can be claimed by its digest. Records are made at the end:
// an import that fails has left nothing that any state reaches. The new states
// have new ids.
func (s *Store) Import(ctx context.Context, r io.Reader, o ImportOptions) (*Import, error) {
	out, err := s.importAll(ctx, r, o)
	if err != nil && ctx.Err() != nil { // what a reader says of that is no fault of the file
		return nil, context.Cause(ctx)
	}
	return out, err
}

func (s *Store) importAll(ctx context.Context, r io.Reader, o ImportOptions) (*Import, error) {
	release, err := s.share(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	if o.MaxBytes <= 0 {
		o.MaxBytes = defaultImport
	}
	o.Limits = o.Limits.complete()
	m := &importer{
		s: s, ctx: ctx, o: o, blobs: make(map[Digest]int64), trees: make(map[Digest]totals),
		c:   &capturer{s: s, limits: o.Limits, found: present{s: s}},
		out: &Import{IDs: make(map[string]string)},
	}
	if err := s.accounts(ctx, m.c, o.ChatID); err != nil {
		return nil, err
	}
	zip, err := gzip.NewReader(bufio.NewReaderSize(r, 1<<16))
	switch {
	case errors.Is(err, io.EOF):
		return nil, &ImportError{Reason: "it is empty"}
	case err != nil:
		return nil, &ImportError{Reason: noHistory}
	}
	in := &bounded{r: zip, left: o.MaxBytes}
	if err := m.read(tar.NewReader(in)); err != nil {
		return nil, err
	}
	if _, err := io.Copy(io.Discard, in); err != nil { // to the checksum at the end
		return nil, m.fault(err)
	}
	return m.out, m.publish()
}

// noHistory is the reason for what no export begins like.
const noHistory = "it is no history of files that fettle wrote"

// fault says what is wrong with the archive itself.
func (m *importer) fault(err error) *ImportError {
	switch {
	case errors.Is(err, errTooMuch):
		return &ImportError{Reason: "it holds more than " + sizeText(m.o.MaxBytes)}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &ImportError{Reason: "it was cut short"}
	}
	return &ImportError{Reason: "it is damaged: " + err.Error()}
}

// bounded is a reader that fails past a bound, rather than end there.
type bounded struct {
	r    io.Reader
	left int64
}

var errTooMuch = errors.New("it holds more than may be imported")

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooMuch
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

type importer struct {
	s     *Store
	ctx   context.Context
	o     ImportOptions
	c     *capturer
	batch *kv.Batch
	blobs map[Digest]int64 // those of the file, with their sizes
	trees map[Digest]totals
	list  []*Manifest
	total int64 // bytes of all members
	extra int64
	ended bool
	out   *Import
}

// totals sum up a tree with all below it.
type totals struct {
	depth, entries, files, failed int
	bytes                         int64
}

// read takes the members in their order.
func (m *importer) read(in *tar.Reader) error {
	return m.s.kv.BatchSync(m.ctx, func(b *kv.Batch) error {
		m.batch = b
		for n := 0; ; n++ {
			h, err := in.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			switch {
			case err != nil && n == 0 && !errors.Is(err, errTooMuch):
				return &ImportError{Reason: noHistory, whole: true}
			case err != nil:
				return m.fault(err)
			}
			if err := m.ctx.Err(); err != nil {
				return err
			}
			if err := m.member(in, h, n); err != nil {
				return m.named(h.Name, err)
			}
		}
		if !m.ended {
			return &ImportError{Reason: "it was cut short"}
		}
		return nil
	})
}

// named says which member a fault of the file is in.
func (m *importer) named(name string, err error) error {
	var bad *ImportError
	switch {
	case errors.As(err, &bad):
		if !bad.whole {
			bad.Member = EscapePath(name)
		}
		return bad
	case errors.Is(err, errTooMuch), errors.Is(err, io.ErrUnexpectedEOF):
		return m.fault(err) // which member it was says nothing
	case errors.Is(err, errTree), errors.Is(err, gzip.ErrChecksum), errors.As(err, new(flate.CorruptInputError)):
		return &ImportError{Member: EscapePath(name), Reason: err.Error()}
	}
	return fmt.Errorf("import history: %w", err)
}

func refuse(format string, args ...any) error {
	return &ImportError{Reason: fmt.Sprintf(format, args...)}
}

func (m *importer) member(in *tar.Reader, h *tar.Header, n int) error {
	switch {
	case n == 0 && h.Name != headMember:
		return &ImportError{Reason: noHistory, whole: true}
	case h.Typeflag != tar.TypeReg || h.Size < 0:
		return refuse("it is no file")
	case h.Size > m.o.MaxBytes-m.total: // also of one that is mostly holes
		return errTooMuch
	case n >= maxMembers:
		return refuse("too many members")
	case m.ended:
		return refuse("a member behind the end")
	case n > 0 && h.Name == headMember:
		return refuse("it is there twice")
	}
	m.total += h.Size
	kind, rest, _ := strings.Cut(h.Name, "/")
	switch kind + "/" {
	case headMember + "/":
		return m.head(in)
	case manifestsMember + "/":
		return m.manifests(in, h.Size)
	case endMember + "/":
		return m.end(in)
	case blobPrefix, treePrefix:
		d, err := ParseDigest(rest)
		if err != nil {
			return refuse("its name is no digest")
		}
		if kind+"/" == treePrefix {
			return m.tree(in, d, h.Size)
		}
		return m.blob(in, d, h.Size)
	case extraPrefix:
		return m.extraPart(in, rest, h.Size)
	}
	return refuse("an unknown member")
}

func (m *importer) head(in io.Reader) error {
	var h exportHead
	if err := json.NewDecoder(io.LimitReader(in, maxHead)).Decode(&h); err != nil || h.Format != exportFormat {
		return &ImportError{Reason: noHistory, whole: true}
	}
	if h.Version != exportVersion {
		return &ImportError{Reason: fmt.Sprintf("it is of version %d, and this fettle reads %d", h.Version, exportVersion), whole: true}
	}
	m.out.ChatID = h.ChatID
	return nil
}

func (m *importer) end(in io.Reader) error {
	var e exportEnd
	if err := json.NewDecoder(io.LimitReader(in, maxHead)).Decode(&e); err != nil {
		return refuse("it can't be read: %v", err)
	}
	if e.Blobs != len(m.blobs) || e.Trees != len(m.trees) || e.Manifests != len(m.list) {
		return refuse("it counts other members than there are")
	}
	m.ended = true
	return nil
}

func (m *importer) extraPart(in io.Reader, name string, size int64) error {
	if m.extra += size; m.extra > maxExtra {
		return refuse("more than %s besides the files", sizeText(maxExtra))
	}
	if !extraName(name) {
		return refuse("its name is none for a part")
	}
	body, err := io.ReadAll(in)
	m.out.Extras = append(m.out.Extras, Extra{Name: name, Body: body})
	return err
}

// blob checks and keeps a content.
func (m *importer) blob(in io.Reader, d Digest, size int64) error {
	if _, twice := m.blobs[d]; twice {
		return refuse("it is there twice")
	}
	m.blobs[d] = size
	if size > smallBlob {
		return m.large(in, d, size)
	}
	record := make([]byte, 1+size)
	record[0] = encRaw
	if _, err := io.ReadFull(in, record[1:]); err != nil {
		return err
	}
	if Sum(record[1:]) != d {
		return refuse("its content has another digest")
	}
	return m.c.writeGroup(m.ctx, m.batch, []blob{{d, record}})
}

func (m *importer) large(in io.Reader, d Digest, size int64) error {
	if err := m.s.roomFor(size, m.o.Limits.KeepFree); err != nil {
		return err
	}
	tmp, err := m.s.tempFile()
	if err != nil {
		return err
	}
	c := copier{ctx: m.ctx, sum: sha256.New()}
	n, err := c.copy(tmp, in)
	if err == nil && (n != size || c.digest() != d) {
		err = refuse("its content has another digest")
	}
	if err == nil {
		err = errors.Join(tmp.Chmod(0o400), tmp.Sync())
	}
	if err = errors.Join(err, tmp.Close()); err == nil {
		kept := false
		if kept, err = m.c.keep(tmp, d, size); kept {
			return nil
		}
	}
	return errors.Join(err, os.Remove(tmp.Name()))
}

// tree checks and keeps a tree. What it names must have come before.
func (m *importer) tree(in io.Reader, d Digest, size int64) error {
	if _, twice := m.trees[d]; twice {
		return refuse("it is there twice")
	}
	if size > maxTree {
		return refuse("a folder of %s of names", sizeText(size))
	}
	enc, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	if Sum(enc) != d {
		return refuse("its content has another digest")
	}
	entries, err := decodeTree(enc)
	if err != nil {
		return err
	}
	sum, err := m.sum(entries)
	if err != nil {
		return err
	}
	m.trees[d] = sum
	return m.s.putTree(m.batch, newTree{digest: d, enc: enc})
}

// sum adds up a tree, all of which must be in the file.
func (m *importer) sum(entries []Entry) (totals, error) {
	t := totals{entries: len(entries)}
	for i := range entries {
		e := &entries[i]
		switch {
		case e.content():
			if size, ok := m.blobs[e.Digest]; !ok || size != e.Size {
				return t, refuse("%q isn't in the file", EscapePath(e.Name))
			}
			t.files++
			t.bytes += e.Size
		case e.Kind == Folder:
			below, ok := m.trees[e.Digest]
			if !ok {
				return t, refuse("%q isn't in the file", EscapePath(e.Name))
			}
			t.depth = max(t.depth, below.depth+1)
			t.entries += below.entries
			t.files += below.files
			t.failed += below.failed
			t.bytes += below.bytes
		case e.Kind == Failed:
			t.failed++
		}
		if t.depth > maxDepth || t.entries > maxUnfolded || t.bytes < 0 {
			return t, refuse("a state that is too deep or too large")
		}
	}
	return t, nil
}

// manifests reads the states; they are recorded at the end.
func (m *importer) manifests(in io.Reader, size int64) error {
	if size > maxManifestText || m.list != nil {
		return refuse("too many states")
	}
	text, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	m.list = []*Manifest{}
	dec := json.NewDecoder(bytes.NewReader(text))
	for dec.More() {
		old := new(Manifest)
		if err := dec.Decode(old); err != nil {
			return refuse("it can't be read: %v", err)
		}
		if _, ok := m.trees[old.Root]; !ok {
			return refuse("a state whose files aren't in the file")
		}
		if _, twice := m.out.IDs[old.ID]; twice || old.ID == "" || len(m.list) >= maxImported {
			return refuse("a state without an id of its own")
		}
		m.list = append(m.list, old)
		m.out.IDs[old.ID] = m.s.newID(m.s.now())
	}
	return nil
}

// publish records the states. Their numbers are counted anew, for the file may
// say anything.
func (m *importer) publish() error {
	now := m.s.now().UTC()
	for _, old := range m.list {
		n := &Manifest{
			ID: m.out.IDs[old.ID], ChatID: m.o.ChatID, ParentID: m.out.IDs[old.ParentID], Root: old.Root,
			GroundID: m.out.IDs[old.GroundID], CreatedAt: old.CreatedAt.UTC(), Source: old.Source, SourceRef: old.SourceRef,
			Steps: old.Steps, SinceID: m.out.IDs[old.SinceID], Shared: old.Shared, Foreign: true,
		}
		if n.Source == Restored {
			n.SourceRef = m.renamed(n.SourceRef)
		}
		if !n.Source.known() {
			n.Source, n.SourceRef = Imported, ""
		}
		if len(n.SourceRef) > maxName {
			n.SourceRef = ""
		}
		if n.Source == ToolRun && m.o.Maker != nil {
			maker := m.o.Maker(m.out.Extras, n.SourceRef)
			n.Maker = strings.ToValidUTF8(maker[:min(len(maker), maxName)], "")
			if n.Maker == "" {
				n.Source, n.SourceRef = Imported, ""
			}
		}
		if n.CreatedAt.After(now) || n.CreatedAt.Year() < 1970 {
			n.CreatedAt = now
		}
		t := m.trees[old.Root]
		n.Files, n.Bytes, n.Failed, n.Complete = t.files, t.bytes, t.failed, t.failed == 0
		m.out.Manifests = append(m.out.Manifests, n)
	}
	added := m.c.added.Load()
	if n := len(m.out.Manifests); n > 0 {
		m.out.Manifests[n-1].Added = added
	}
	count := func(tx *kv.Tx) error {
		for _, chat := range accounts(m.o.ChatID) {
			if err := m.s.account(tx, chat, added, len(m.out.Manifests)); err != nil {
				return err
			}
		}
		return nil
	}
	err := m.s.kv.UpdateSync(m.ctx, func(tx *kv.Tx) error { return errors.Join(count(tx), m.put(tx)) })
	var big *kv.TooBigError
	if errors.As(err, &big) {
		// More than a thousand states: each is whole, so a crash between leaves
		// some of them.
		if err = m.s.kv.Update(m.ctx, count); err == nil {
			err = m.s.kv.BatchSync(m.ctx, func(b *kv.Batch) error { return m.put(b) })
		}
	}
	return err
}

// renamed returns the reference of a restored state with the new id of the state that it
// names, if it names one of the import.
func (m *importer) renamed(ref string) string {
	id := strings.TrimSuffix(strings.TrimPrefix(ref, UndoneAlone), "^")
	now, ok := m.out.IDs[id]
	if !ok || id == "" {
		return ref
	}
	return strings.Replace(ref, id, now, 1)
}

func (m *importer) put(w kv.Writer) error {
	for _, n := range m.out.Manifests {
		if err := m.s.putManifest(w, n); err != nil {
			return err
		}
	}
	return nil
}

// known tells the sources that this program has.
func (s Source) known() bool {
	switch s {
	case UserUpload, ToolRun, Branch, Edit, External, Interrupted, Restored, Imported, CallVersion:
		return true
	}
	return false
}
