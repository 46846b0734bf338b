package input

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/didyoumean"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

// Files reads what -f names: text files and folders as file parts, images as
// image parts, in the order of the names. All names are tried; the first fault
// is the error's message and the others are its detail.
//
// A cancelled ctx ends it at once with an error that wraps ctx's cause; every
// other error is a fault of kind Usage.
func Files(ctx context.Context, names []string, o Options) ([]provider.Part, error) {
	b := &batch{o: o}
	var wrong *fault.Fault
	for _, name := range names {
		err := b.add(ctx, name)
		var f *fault.Fault
		switch {
		case err == nil:
		case !errors.As(err, &f):
			return nil, err
		case errors.Is(err, errTotal):
			return nil, f
		case wrong == nil:
			wrong = f
		case len(wrong.Detail) < maxDetail:
			wrong.Detail = append(wrong.Detail, f.Msg)
		}
	}
	if wrong != nil {
		return nil, wrong
	}
	return b.parts, nil
}

// maxDetail bounds the lines of an error about many files.
const maxDetail = 20

// errTotal is the cause of a fault after which there is no use in going on.
var errTotal = errors.New("too much in all")

// batch is the parts that were read so far.
type batch struct {
	o     Options
	parts []provider.Part
	bytes int64
	stdin bool // it was read
}

func (b *batch) add(ctx context.Context, name string) error {
	if err := context.Cause(ctx); err != nil {
		return fmt.Errorf("read files: %w", err)
	}
	if name == "" {
		return fault.New(fault.Usage, "-f needs the name of a file or folder, or - for standard input")
	}
	if isStdin(name) {
		return b.addStdin(ctx)
	}
	info, err := os.Stat(name)
	if err != nil {
		return missing(name, err)
	}
	if info.IsDir() {
		return b.addFolder(ctx, name)
	}
	return b.addFile(ctx, name)
}

// addStdin reads standard input because it was asked for by name.
func (b *batch) addStdin(ctx context.Context) error {
	if b.stdin {
		return fault.New(fault.Usage, "standard input can be read once only")
	}
	b.stdin = true
	raw, class, err := readStdin(ctx, b.o)
	if err != nil {
		return err
	}
	if class == terminal {
		return fault.New(fault.Usage, "-f - reads a pipe or a file, and standard input is a terminal",
			fault.Run("some-command | fettle ask -f - …"), fault.Run("fettle ask -f FILE …"))
	}
	return b.addContent("stdin", "", raw, b.o.stdinBytes())
}

// addFile reads a file, a FIFO or a device.
func (b *batch) addFile(ctx context.Context, name string) error {
	told := false // once, whether it is the open or the read that waits
	waiting := func(int64) {
		if !told {
			b.o.notice("waiting for %s", sanitize.Mask(name))
		}
		told = true
	}
	f, err := openFile(ctx, name, func() { waiting(0) })
	if err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("read %s: %w", sanitize.Mask(name), context.Cause(ctx))
		}
		return missing(name, err)
	}
	defer f.Close()
	class := classify(f)
	switch class {
	case terminal:
		return fault.New(fault.Usage, sanitize.Mask(name)+" is a terminal, which is never read")
	case folder:
		return fault.New(fault.Usage, sanitize.Mask(name)+" has become a folder while it was read")
	}
	// Of a regular file the beginning tells which limit holds, before the rest
	// is read; what comes through a pipe is judged once it is here.
	limit, image := b.o.fileBytes(), false
	if class == regular {
		head := make([]byte, 16)
		n, _ := f.ReadAt(head, 0)
		if image = imageType(head[:n]) != ""; image {
			limit = MaxImage
		}
	}
	s := source{
		name: sanitize.Mask(name), limit: limit, class: class, waiting: waiting, silence: b.o.silence,
		tooLarge: func(known int64) error { return tooLarge(sanitize.Mask(name), known, limit, image) },
	}
	if class != regular {
		s.limit = max(limit, MaxImage)
	}
	raw, err := s.readAll(ctx, f)
	if err != nil {
		return err
	}
	return b.addContent(filepath.ToSlash(name), name, raw, b.o.fileBytes())
}

// addContent makes a part of what was read. path is empty for standard input.
func (b *batch) addContent(name, path string, raw []byte, textLimit int64) error {
	shown := sanitize.Mask(name)
	if mime := imageType(raw); mime != "" {
		if len(raw) > MaxImage {
			return tooLarge(shown, int64(len(raw)), MaxImage, true)
		}
		return b.put(provider.Part{Kind: provider.ImagePart, Name: shown, MIME: mime, Data: raw})
	}
	if int64(len(raw)) > textLimit {
		return tooLarge(shown, int64(len(raw)), textLimit, false)
	}
	if path == "" && name == "stdin" {
		shown = "standard input"
	}
	if isPDF(raw) {
		return binaryFault(shown, path, raw, &notText{what: "a PDF"})
	}
	text, replaced, bad := mend(raw)
	if bad != nil {
		return binaryFault(shown, path, raw, bad)
	}
	b.o.noteMended(shown, replaced)
	return b.put(provider.Part{Kind: provider.FilePart, Name: sanitize.Mask(name), Text: string(text)})
}

func (b *batch) put(p provider.Part) error {
	b.bytes += int64(len(p.Text) + len(p.Data))
	if limit := max(MaxTotal, b.o.fileBytes()); b.bytes > limit {
		return &fault.Fault{
			Code: fault.Usage, Err: errTotal,
			Msg: fmt.Sprintf("the files hold more than %s together, the limit", size(limit)),
		}
	}
	if len(b.parts) >= MaxFiles {
		return &fault.Fault{
			Code: fault.Usage, Err: errTotal,
			Msg: fmt.Sprintf("these are more than %d files, the limit", MaxFiles),
		}
	}
	b.parts = append(b.parts, p)
	return nil
}

// tooLarge is the error of a file over its limit; known is its size, or 0.
func tooLarge(name string, known, limit int64, image bool) error {
	has, hint := "is larger than "+size(limit)+", the limit", raise("limits.file_bytes", "FETTLE_LIMITS_FILE_BYTES", max(known, 4*limit))
	if known > limit {
		has = fmt.Sprintf("has %s; the limit is %s", size(known), size(limit))
		hint = raise("limits.file_bytes", "FETTLE_LIMITS_FILE_BYTES", known)
	}
	if image {
		has, hint = has+" for an image", "make it smaller; providers take no larger ones"
	}
	return fault.New(fault.Usage, name+" "+has, fault.Run(hint))
}

// maxNames bounds how many names of a folder are compared for a suggestion.
const maxNames = 10_000

// missing says why a file can't be opened and, where it isn't there, what its
// folder has instead.
func missing(name string, err error) error {
	shown := sanitize.Mask(name)
	if !errors.Is(err, fs.ErrNotExist) {
		f := fault.New(fault.Usage, fmt.Sprintf("%s can't be read: %v", shown, reason(err)))
		f.Err = err
		return f
	}
	f := &fault.Fault{Code: fault.Usage, Msg: shown + " doesn't exist", Err: err}
	dir, base := filepath.Split(name)
	if dir == "" {
		dir = "."
	}
	if _, err := os.Stat(dir); err != nil {
		f.Msg += ", and neither does its folder"
		return f
	}
	if near := didyoumean.Of(base, list(dir)); near != "" {
		near = filepath.Join(filepath.Dir(name), near)
		f.Msg += "; did you mean " + sanitize.Mask(near) + "?"
		f.Remedies = []fault.Remedy{fault.Run("fettle ask -f " + quote(near) + " …")}
	}
	if strings.ContainsAny(base, "*?[") {
		f.Remedies = append(f.Remedies, fault.Run("leave the quotes out: the shell turns * into names"))
	}
	return f
}

func list(dir string) []string {
	d, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(maxNames)
	return names
}
