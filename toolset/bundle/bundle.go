package bundle

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/internal/atomicfile"
)

// Source is where a bundle came from, in document 004's words.
type Source struct {
	// Type is "zip" for an archive of either kind, "local" for a folder, "url",
	// or "program" for what fettle itself holds.
	Type string `json:"source_type"`
	// Ref is the path or the address, as it was given, for `update`. For a toolset of
	// the program it is its name in the gallery, such as gallery:reviews. Earlier versions
	// stored the command that installed it.
	Ref string `json:"source_ref"`
}

// The types of sources.
const (
	FromArchive = "zip"
	FromFolder  = "local"
	FromURL     = "url"
	FromProgram = "program"
)

// Options is how a bundle is opened. The zero value is fine.
type Options struct {
	// TempDir is where a download or an unpacked tar.gz waits; the system's
	// folder for such files where it is empty.
	TempDir string
	// Temporaries records the files in TempDir; nil records nothing.
	Temporaries *atomicfile.Ledger
	// Progress hears how far reading is, and of how much; total is 0 where
	// that isn't known. It is called on the caller's goroutine, often.
	Progress func(done, total int64)
	// Client fetches addresses; nil means one that reaches public hosts only.
	Client *http.Client
}

// File is one file of a bundle: document 004's toolset_files.
type File struct {
	Path string `json:"path"`
	// Kind is python, artifact, asset or config.
	Kind string `json:"kind"`
	// SHA256 is of the contents, in hex.
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
}

// Bundle is one opened bundle. Its files have been read and hold.
type Bundle struct {
	Kind   Kind
	Source Source
	// Hash is the same for the same files, however they were packed.
	Hash string
	// Files are sorted by path.
	Files []File
	// Notes are for people.
	Notes []Note

	entries []entry // files, in the order of Files
	from    contents
	held    map[int][]byte // contents that were kept from the first reading, by entry
	cleanup []func() error
}

// Open reads a bundle from a path or an https address. Whether a file is a ZIP
// or a tar.gz is told by looking, not by its name; a manifest file means the
// folder that it lies in.
func Open(ctx context.Context, ref string, o Options) (*Bundle, error) {
	if scheme, _, ok := strings.Cut(ref, "://"); ok && !strings.ContainsAny(scheme, `/\`) {
		return Fetch(ctx, ref, o)
	}
	info, err := os.Stat(ref)
	if err != nil {
		return nil, fmt.Errorf("open bundle: %w", err)
	}
	if info.IsDir() {
		return OpenFolder(ctx, ref, o)
	}
	if isManifest(filepath.Base(ref)) {
		return OpenFolder(ctx, filepath.Dir(ref), o)
	}
	if !info.Mode().IsRegular() {
		return nil, refuse(Type, "", "open bundle %s: it is neither a file nor a folder", Printable(ref))
	}
	f, err := os.Open(ref)
	if err != nil {
		return nil, fmt.Errorf("open bundle: %w", err)
	}
	b, err := openFile(ctx, f, o)
	if err != nil {
		return nil, err
	}
	b.Source = Source{Type: FromArchive, Ref: ref}
	return b, nil
}

// openFile reads an archive; the file is the bundle's from here on.
func openFile(ctx context.Context, f *os.File, o Options) (*Bundle, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	var b *Bundle
	if isGzip(f) {
		b, err = openTarGz(ctx, io.NewSectionReader(f, 0, info.Size()), info.Size(), o)
		err = errors.Join(err, f.Close()) // its contents are in a file of our own
	} else if info.Size() <= maxHeld {
		// read once, small archives cost one call instead of two for each entry
		raw := make([]byte, info.Size())
		_, err = io.ReadFull(io.NewSectionReader(f, 0, info.Size()), raw)
		if err = errors.Join(err, f.Close()); err == nil {
			b, err = OpenZIP(ctx, bytes.NewReader(raw), int64(len(raw)), o)
		}
	} else {
		b, err = OpenZIP(ctx, f, info.Size(), o)
		if err != nil {
			err = errors.Join(err, f.Close())
		} else {
			b.cleanup = append(b.cleanup, f.Close)
		}
	}
	if err != nil {
		if b != nil {
			err = errors.Join(err, b.Close())
		}
		return nil, err
	}
	return b, nil
}

// OpenZIP reads a ZIP that is already at hand, such as an upload. The reader
// must give the same bytes until Close; it isn't closed.
func OpenZIP(ctx context.Context, r io.ReaderAt, size int64, o Options) (*Bundle, error) {
	signed := mcpbTrailer(r, size)
	zipped, err := readZIP(r, size-signed)
	if err != nil {
		return nil, err
	}
	all := make([]entry, len(zipped))
	unmarked := false
	for i, e := range zipped {
		unmarked = unmarked || e.unmarked()
		mode := e.external >> 16
		all[i] = entry{
			raw: strings.TrimSuffix(e.name, "/"), dir: e.dir(), size: e.size, packed: e.packed, index: i,
			exec: !e.dir() && mode&modeType == modeRegular && mode&modeSpecial != 0,
		}
	}
	b, err := build(ctx, all, &zipContents{r: r, entries: zipped}, buildOptions{Options: o})
	if err != nil {
		return nil, err
	}
	if unmarked {
		b.Notes = append(b.Notes, Note{Code: NoteNames, Msg: "names beyond ASCII are not marked as UTF-8; they were taken as such"})
	}
	if signed > 0 {
		if b.Kind != MCPB {
			return nil, errors.Join(refuse(Format, "", "something lies behind the end of the ZIP"), b.Close())
		}
		b.Notes = append(b.Notes, Note{Code: NoteSigned, Msg: "it is signed; who signed it was not checked"})
	}
	b.Source = Source{Type: FromArchive}
	return b, nil
}

type buildOptions struct {
	Options
	own bool // a folder of the user's
}

// build makes a bundle of entries and their contents.
func build(ctx context.Context, all []entry, from contents, o buildOptions) (*Bundle, error) {
	l, err := arrange(all, o.own)
	if err != nil {
		return nil, errors.Join(err, from.close())
	}
	b := &Bundle{Kind: l.kind, Notes: l.notes, from: from}
	for _, e := range l.entries {
		if !e.dir {
			b.entries = append(b.entries, e)
		}
	}
	slices.SortFunc(b.entries, func(x, y entry) int { return cmp.Compare(x.path, y.path) })
	if err := b.readAll(ctx, o.Progress); err != nil {
		return nil, errors.Join(err, from.close())
	}
	if err := b.recognise(); err != nil {
		return nil, errors.Join(err, from.close())
	}
	b.describe()
	return b, nil
}

// recognise makes sure that a manifest.json is an MCP bundle's.
func (b *Bundle) recognise() error {
	if b.Kind != MCPB {
		return nil
	}
	raw, err := b.ReadFile(MCPB.ManifestFile())
	if err != nil {
		return err
	}
	if !bytes.Contains(raw, []byte(`"manifest_version"`)) && !bytes.Contains(raw, []byte(`"dxt_version"`)) {
		return refuse(Manifest, "", "there is no toolset.yaml, and manifest.json isn't an MCP bundle's")
	}
	return nil
}

// describe fills in what is said of the files, and the hash.
func (b *Bundle) describe() {
	sum := sha256.New()
	_, _ = io.WriteString(sum, "fettle bundle 1\n")
	for _, e := range b.entries {
		hash := hex.EncodeToString(e.sha256[:])
		b.Files = append(b.Files, File{Path: e.path, Kind: fileKind(e.path), SHA256: hash, Size: e.size})
		_, _ = fmt.Fprintf(sum, "%s %s\n", hash, e.path) // no path holds a line break
	}
	b.Hash = hex.EncodeToString(sum.Sum(nil))
}

func fileKind(path string) string {
	top, rest, _ := strings.Cut(path, "/")
	switch {
	case top == "tools" && strings.HasSuffix(path, ".py"):
		return "python"
	case top == "artifacts" && rest != "":
		return "artifact"
	case isManifest(path):
		return "config"
	}
	return "asset"
}

// Find gives a file by its path.
func (b *Bundle) Find(path string) (File, bool) {
	i, ok := b.index(path)
	if !ok {
		return File{}, false
	}
	return b.Files[i], true
}

func (b *Bundle) index(path string) (int, bool) {
	return slices.BinarySearchFunc(b.entries, path, func(e entry, p string) int { return cmp.Compare(e.path, p) })
}

// Manifest gives the manifest file: toolset.yaml, manifest.json or SKILL.md.
func (b *Bundle) Manifest() ([]byte, error) { return b.ReadFile(b.Kind.ManifestFile()) }

// ReadFile gives one file's contents, checked against its hash. It is an
// [fs.ErrNotExist] where there is none of that path.
func (b *Bundle) ReadFile(path string) ([]byte, error) {
	i, ok := b.index(path)
	if !ok {
		return nil, fmt.Errorf("read %s: %w", Printable(path), fs.ErrNotExist)
	}
	if data, ok := b.held[i]; ok {
		return bytes.Clone(data), nil
	}
	buf := bytes.NewBuffer(make([]byte, 0, b.entries[i].size+bytes.MinRead))
	if err := b.copy(buf, i, nil); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// copy writes one file's contents and checks that they are what was opened.
func (b *Bundle) copy(w io.Writer, i int, buf []byte) error {
	e := &b.entries[i]
	if data, ok := b.held[i]; ok {
		_, err := w.Write(data)
		return wrap(err, e.path)
	}
	r, err := b.from.open(e.index)
	if err != nil {
		return wrap(err, e.path)
	}
	defer r.Close()
	sum := sha256.New()
	if buf == nil {
		buf = make([]byte, copyBuffer)
	}
	limited := io.LimitReader(r, e.size+1) // a folder's file may have grown
	n, err := io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{io.TeeReader(limited, sum)}, buf)
	if err != nil {
		return wrap(err, e.path)
	}
	if n != e.size || !bytes.Equal(sum.Sum(nil), e.sha256[:]) {
		return refuse(Changed, e.path, "it has changed since it was looked at; begin again")
	}
	return nil
}

// Close lets go of files and removes temporary ones. It may be called again.
func (b *Bundle) Close() error {
	var errs []error
	if b.from != nil {
		errs = append(errs, b.from.close())
	}
	for _, f := range b.cleanup {
		errs = append(errs, f())
	}
	b.from, b.cleanup, b.held = closed{}, nil, nil
	return errors.Join(errs...)
}

// closed is what is left of a closed bundle.
type closed struct{}

func (closed) open(int) (io.ReadCloser, error) { return nil, fs.ErrClosed }
func (closed) close() error                    { return nil }
