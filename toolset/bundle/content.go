package bundle

import (
	"bufio"
	"bytes"
	"compress/flate"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"strings"
	"unicode/utf8"
)

// contents gives the files of a source, by the index of their entry.
type contents interface {
	// open begins to read one file. Its reader gives an [*Error] where the
	// source isn't what it told.
	open(index int) (io.ReadCloser, error)
	close() error
}

// zipContents reads entries of a ZIP. One is open at a time.
type zipContents struct {
	r       io.ReaderAt
	entries []zipEntry
	buffer  *bufio.Reader
	inflate io.ReadCloser
	closer  io.Closer
}

func (z *zipContents) open(index int) (io.ReadCloser, error) {
	e := &z.entries[index]
	packed := io.NewSectionReader(z.r, e.data, e.packed)
	if z.buffer == nil {
		z.buffer = bufio.NewReaderSize(packed, 32<<10)
	} else {
		z.buffer.Reset(packed)
	}
	f := &zipFile{entry: e, packed: z.buffer, from: z.buffer, crc: crc32.NewIEEE(), left: e.size}
	if e.method == methodDeflate {
		if z.inflate == nil {
			z.inflate = flate.NewReader(z.buffer)
		} else if err := z.inflate.(flate.Resetter).Reset(z.buffer, nil); err != nil {
			return nil, err
		}
		f.from = z.inflate
	}
	return f, nil
}

func (z *zipContents) close() error {
	if z.closer == nil {
		return nil
	}
	return z.closer.Close()
}

// zipFile counts and checks what it unpacks.
type zipFile struct {
	entry  *zipEntry
	packed *bufio.Reader
	from   io.Reader
	crc    hash.Hash32
	left   int64
	done   bool
}

// Read unpacks; it gives io.EOF only where size and checksum are right.
func (f *zipFile) Read(p []byte) (int, error) {
	if f.done {
		return 0, io.EOF
	}
	n, err := f.from.Read(p)
	f.left -= int64(n)
	switch {
	case f.left < 0:
		return 0, f.entry.refuse(Checksum, "it holds more than the %d bytes that it tells", f.entry.size)
	case err != nil && !errors.Is(err, io.EOF):
		return 0, f.entry.refuse(Checksum, "its packed contents are broken")
	}
	_, _ = f.crc.Write(p[:n]) // a hash takes all
	if err == nil {
		return n, nil
	}
	f.done = true
	switch _, more := f.packed.Peek(1); {
	case f.left > 0:
		return 0, f.entry.refuse(Checksum, "it holds %d bytes less than it tells", f.left)
	case f.crc.Sum32() != f.entry.crc:
		return 0, f.entry.refuse(Checksum, "its contents don't match its checksum")
	case !errors.Is(more, io.EOF):
		return 0, f.entry.refuse(Format, "something lies behind its packed contents")
	}
	return n, io.EOF
}

func (f *zipFile) Close() error { return nil }

// copyBuffer is what one read of contents takes; files are small.
const copyBuffer = 64 << 10

// readAll reads every file once: sizes and checksums hold, text is text, and
// each has its hash.
func (b *Bundle) readAll(ctx context.Context, progress func(done, total int64)) error {
	buf := make([]byte, copyBuffer)
	lim := b.Kind.limits()
	done, total, room := int64(0), int64(0), int64(maxHeld)
	for _, e := range b.entries {
		total += e.size
	}
	for i := range b.entries {
		e := &b.entries[i]
		if e.dir {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		keep := b.holds(i, room)
		size, err := b.readOne(e, buf, lim, keep)
		if err != nil {
			return err
		}
		if keep != nil {
			b.held[i] = keep.Bytes()
			room -= size
		}
		e.size = size
		if done += size; done > lim.total {
			return refuse(Size, "", "it has more than %d bytes unpacked", lim.total)
		}
		if progress != nil {
			progress(done, total)
		}
	}
	return nil
}

// maxHeld bounds the bytes that are kept in memory of one bundle: packed ones,
// and unpacked ones. Most toolsets are far smaller, and are unpacked once.
const maxHeld = 8 * mib

// holds gives the buffer in which a file's contents are kept; nil where there
// is no room. A folder's files aren't kept: what they are at the end counts.
func (b *Bundle) holds(i int, room int64) *bytes.Buffer {
	if _, own := b.from.(*folder); own || b.entries[i].size > room {
		return nil
	}
	if b.held == nil {
		b.held = make(map[int][]byte, len(b.entries))
	}
	return bytes.NewBuffer(make([]byte, 0, b.entries[i].size))
}

// readOne reads one file, and keeps it where there is a buffer.
func (b *Bundle) readOne(e *entry, buf []byte, lim limits, keep *bytes.Buffer) (int64, error) {
	r, err := b.from.open(e.index)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	sum := sha256.New()
	text := textProbe{on: b.Kind == Toolset && strings.HasPrefix(e.path, "tools/")}
	size := int64(0)
	for {
		n, err := r.Read(buf)
		if size += int64(n); size > lim.entry {
			return 0, refuse(Size, e.path, "it has more than %d bytes", lim.entry)
		}
		_, _ = sum.Write(buf[:n])
		text.see(buf[:n])
		if keep != nil {
			keep.Write(buf[:n])
		}
		switch {
		case errors.Is(err, io.EOF):
			sum.Sum(e.sha256[:0])
			if !text.good() {
				return 0, refuse(TopLevel, e.path, "what lies in tools is text in UTF-8, so that people can look through it; data belongs into assets")
			}
			return size, nil
		case err != nil:
			return 0, wrap(err, e.path)
		}
	}
}

// wrap names the file in an error that isn't one of ours.
func wrap(err error, path string) error {
	var e *Error
	if err == nil || errors.As(err, &e) {
		return err
	}
	return fmt.Errorf("read %s: %w", Printable(path), err)
}

// textProbe tells text from other bytes while they go by.
type textProbe struct {
	on, bad bool
	rest    [utf8.UTFMax]byte
	n       int // bytes of a character that the last piece left unfinished
}

func (t *textProbe) see(p []byte) {
	if !t.on || t.bad || len(p) == 0 {
		return
	}
	if t.n > 0 {
		for t.n < utf8.UTFMax && len(p) > 0 && !utf8.FullRune(t.rest[:t.n]) {
			t.rest[t.n] = p[0]
			t.n++
			p = p[1:]
		}
		if !utf8.FullRune(t.rest[:t.n]) {
			return
		}
		if r, size := utf8.DecodeRune(t.rest[:t.n]); r == utf8.RuneError && size == 1 {
			t.bad = true
			return
		}
		t.n = 0
	}
	end := len(p)
	for back := 1; back < utf8.UTFMax && back <= len(p); back++ {
		if c := p[len(p)-back]; utf8.RuneStart(c) {
			if !utf8.FullRune(p[len(p)-back:]) {
				end = len(p) - back
			}
			break
		}
	}
	t.n = copy(t.rest[:], p[end:])
	t.bad = !utf8.Valid(p[:end]) || strings.ContainsRune(string(p[:end]), 0)
}

func (t *textProbe) good() bool { return !t.bad && t.n == 0 }
