package input

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

const (
	// maxEntries bounds the walk of a folder: a home or a root has millions.
	maxEntries = 100_000
	// sniffed is how much of a file is looked at before all of it is read;
	// binary files nearly always show themselves there.
	sniffed = 8 << 10
)

// walk is the reading of one folder.
type walk struct {
	ctx     context.Context
	root    *os.Root
	name    string // the folder, as it was given
	limit   int64  // bytes of text
	room    int    // files
	entries int
	parts   []provider.Part
	bytes   int64
	skipped []string // what is no text file, with its reason
	over    []left   // what didn't fit
}

// left is a file that didn't fit.
type left struct {
	name string
	size int64
}

// addFolder reads the text files of a folder.
func (b *batch) addFolder(ctx context.Context, name string) error {
	root, err := os.OpenRoot(name)
	if err != nil {
		return missing(name, err)
	}
	defer root.Close()
	w := &walk{ctx: ctx, root: root, name: filepath.ToSlash(name), limit: b.o.fileBytes(), room: MaxFiles - len(b.parts)}
	if err := fs.WalkDir(root.FS(), ".", w.visit); err != nil {
		return err
	}
	if len(w.over) > 0 {
		return w.tooMuch(name)
	}
	if len(w.skipped) > 0 {
		b.o.notice("%s: left out %s", sanitize.Mask(name), some(w.skipped))
	}
	if len(w.parts) == 0 {
		return fault.New(fault.Usage, sanitize.Mask(name)+" has no text files")
	}
	for _, p := range w.parts {
		if err := b.put(p); err != nil {
			return err
		}
	}
	return nil
}

// visit is called for each entry, in the order of their names.
func (w *walk) visit(name string, d fs.DirEntry, err error) error {
	if w.ctx.Err() != nil {
		return fmt.Errorf("read %s: %w", sanitize.Mask(w.name), context.Cause(w.ctx))
	}
	if w.entries++; w.entries > maxEntries {
		return fault.New(fault.Usage, fmt.Sprintf("%s has more than %d entries, the limit", sanitize.Mask(w.name), maxEntries),
			fault.Run("fettle ask -f DIR …   with a folder further down"))
	}
	if name != "." && path.Base(name) == ".git" {
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	}
	switch {
	case err != nil && name == ".":
		return missing(w.name, err)
	case err != nil:
		w.skip(name, "unreadable")
	case d.IsDir():
	case d.Type()&fs.ModeSymlink != 0:
		w.skip(name, "a link")
	case !d.Type().IsRegular():
		w.skip(name, "no regular file")
	default:
		return w.file(name)
	}
	return nil
}

func (w *walk) skip(name, why string) {
	w.skipped = append(w.skipped, sanitize.Mask(name)+" ("+why+")")
}

// file reads one file if it is text and fits.
func (w *walk) file(name string) error {
	f, err := openBeneath(w.root, name)
	if err != nil {
		w.skip(name, "unreadable")
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		w.skip(name, "no regular file")
		return nil
	}
	head := make([]byte, min(info.Size(), sniffed))
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		w.skip(name, "unreadable")
		return nil
	}
	head = head[:n]
	if !looksLikeText(head, info.Size() > int64(n)) {
		w.skip(name, "not text")
		return nil
	}
	if len(w.over) > 0 || len(w.parts) >= w.room || w.bytes+info.Size() > w.limit {
		w.over = append(w.over, left{name, info.Size()})
		return nil
	}
	rest, err := io.ReadAll(io.LimitReader(f, w.limit-w.bytes-int64(n)+1))
	if err != nil {
		w.skip(name, "unreadable")
		return nil
	}
	raw := append(head, rest...)
	if w.bytes+int64(len(raw)) > w.limit { // it has grown
		w.over = append(w.over, left{name, int64(len(raw))})
		return nil
	}
	text, bad := decode(raw)
	if bad != nil {
		w.skip(name, "not text")
		return nil
	}
	w.bytes += int64(len(raw))
	w.parts = append(w.parts, provider.Part{Kind: provider.FilePart, Name: sanitize.Mask(path.Join(w.name, name)), Text: string(text)})
	return nil
}

// looksLikeText judges a file by its beginning, which may end within a
// character if there is more.
func looksLikeText(head []byte, more bool) bool {
	if imageType(head) != "" || isPDF(head) {
		return false
	}
	_, bad := decode(head)
	return bad == nil || more && bad.at >= int64(len(head)-3)
}

// tooMuch says which limit was met and what didn't fit, largest first: leaving
// out one of those is usually what helps.
func (w *walk) tooMuch(name string) error {
	slices.SortStableFunc(w.over, func(a, b left) int { return cmp.Compare(b.size, a.size) })
	var bytes int64
	var names []string
	for _, l := range w.over {
		bytes += l.size
		names = append(names, fmt.Sprintf("%s (%s)", sanitize.Mask(l.name), size(l.size)))
	}
	msg := fmt.Sprintf("%s holds more than %s of text, the limit", sanitize.Mask(name), size(w.limit))
	hints := []string{
		"fettle ask -f DIR …   with a folder further down, or -f once for each file",
		raise("limits.file_bytes", "FETTLE_LIMITS_FILE_BYTES", w.bytes+bytes),
	}
	if len(w.parts) >= w.room {
		msg = fmt.Sprintf("%s holds more than %d text files, the limit of one question", sanitize.Mask(name), MaxFiles)
		hints = hints[:1]
	}
	return &fault.Fault{Code: fault.Usage, Msg: msg, Remedies: fault.Runs(hints), Detail: []string{
		fmt.Sprintf("fits      %s, %s", files(len(w.parts)), size(w.bytes)),
		fmt.Sprintf("left out  %s, %s: %s", files(len(w.over)), size(bytes), some(names)),
	}}
}

func files(n int) string {
	if n == 1 {
		return "1 file"
	}
	return fmt.Sprintf("%d files", n)
}
