package bundle

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/mholt/archiver/v4"
)

func isGzip(r io.ReaderAt) bool {
	var head [2]byte
	_, err := r.ReadAt(head[:], 0)
	return err == nil && head == [2]byte{0x1f, 0x8b}
}

// spool is a temporary file with the contents of a tar, one after the other: a
// tar.gz can't be read from its middle.
type spool struct {
	file   *os.File
	remove func() error
	parts  []part
}

type part struct{ offset, size int64 }

func (s *spool) open(index int) (io.ReadCloser, error) {
	p := s.parts[index]
	return io.NopCloser(io.NewSectionReader(s.file, p.offset, p.size)), nil
}

// close removes the file; it is of no use to anyone else.
func (s *spool) close() error { return s.remove() }

// openTarGz unpacks a tar.gz into a spool, under a toolset's bounds, and judges
// its names as those of a ZIP are judged.
func openTarGz(ctx context.Context, f io.Reader, size int64, o Options) (*Bundle, error) {
	if size > maxArchive {
		return nil, refuse(Size, "", "the archive has %d bytes; %d are allowed", size, int64(maxArchive))
	}
	tmp, remove, err := o.Temporaries.TempFile(o.TempDir, "fettle-bundle-", ".spool")
	if err != nil {
		return nil, err
	}
	s := &spool{file: tmp, remove: remove}
	all, err := s.fill(ctx, f, size)
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	b, err := build(ctx, all, s, buildOptions{Options: o})
	if err != nil {
		return nil, err
	}
	b.Source = Source{Type: FromArchive}
	return b, nil
}

// fill reads the archive to its end, so that nothing lies behind it.
func (s *spool) fill(ctx context.Context, f io.Reader, size int64) ([]entry, error) {
	packed := bufio.NewReader(f)
	gz, err := gzip.NewReader(packed)
	if err != nil {
		return nil, refuse(Format, "", "the tar.gz is broken")
	}
	gz.Multistream(false)
	plain := &counted{from: gz, max: maxSpool, packed: size}
	var all []entry
	offset := int64(0)
	err = archiver.Tar{}.Extract(ctx, plain, func(_ context.Context, f archiver.FileInfo) error {
		e, err := tarEntry(f)
		if err != nil {
			return err
		}
		if e.dir && e.raw == "" { // the root, as tar -C folder . writes it
			return nil
		}
		if len(all) >= maxEntries {
			return refuse(Count, "", "it has more than %d entries", maxEntries)
		}
		if !e.dir {
			if offset+e.size > Toolset.limits().total {
				return refuse(Size, "", "it has more than %d bytes unpacked", Toolset.limits().total)
			}
			if err := s.take(f, &e, offset); err != nil {
				return err
			}
			offset += e.size
		}
		e.index = len(all)
		all = append(all, e)
		s.parts = append(s.parts, part{offset - e.size, e.size})
		return nil
	})
	if err != nil {
		return nil, tarError(ctx, err)
	}
	// what follows the end mark is padding, or something that other readers see
	if err := onlyZeros(plain); err != nil {
		return nil, err
	}
	if _, err := packed.Peek(1); !errors.Is(err, io.EOF) {
		return nil, refuse(Format, "", "something lies behind the end of the tar.gz")
	}
	return all, nil
}

// maxSpool bounds what is unpacked: a toolset's contents with their headers. An
// MCP bundle, which may be larger, is always a ZIP.
const maxSpool = 64*mib + maxEntries*3*512

// tarEntry takes one header of a tar. Links arrive looking like files, so the
// header's own type is what counts.
func tarEntry(f archiver.FileInfo) (entry, error) {
	hdr, ok := f.Header.(*tar.Header)
	if !ok {
		return entry{}, refuse(Format, f.NameInArchive, "it has no header")
	}
	e := entry{raw: strings.TrimPrefix(hdr.Name, "./"), size: hdr.Size, packed: -1}
	switch hdr.Typeflag {
	case tar.TypeReg:
		if strings.HasSuffix(e.raw, "/") {
			return entry{}, refuse(Type, hdr.Name, "its name and its type disagree on whether it is a folder")
		}
		e.exec = hdr.Mode&modeSpecial != 0
	case tar.TypeDir:
		e.dir, e.size = true, 0
		if e.raw = strings.TrimSuffix(e.raw, "/"); e.raw == "." {
			e.raw = ""
		}
	default:
		return entry{}, refuse(Type, hdr.Name, "it is a link or a special file; a bundle has files and folders")
	}
	for key := range hdr.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return entry{}, refuse(Type, hdr.Name, "it is a sparse file; a bundle has whole ones")
		}
	}
	if hdr.Linkname != "" {
		return entry{}, refuse(Type, hdr.Name, "it is a link; a bundle has files and folders")
	}
	if !e.dir && hdr.Size > Toolset.limits().entry {
		return entry{}, refuse(Size, hdr.Name, "it has %d bytes; %d are allowed", hdr.Size, Toolset.limits().entry)
	}
	return e, nil
}

func (s *spool) take(f archiver.FileInfo, e *entry, offset int64) error {
	r, err := f.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	n, err := io.Copy(io.NewOffsetWriter(s.file, offset), r)
	if err == nil && n != e.size {
		err = refuse(Checksum, e.raw, "it holds %d bytes, not the %d that it tells", n, e.size)
	}
	return err
}

// tarError tells a broken archive from trouble of ours.
func tarError(ctx context.Context, err error) error {
	var e *Error
	switch {
	case errors.As(err, &e):
		return e
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, tar.ErrHeader), errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader), errors.Is(err, io.ErrUnexpectedEOF):
		return &Error{Code: Format, Msg: "the tar.gz is broken or cut off"}
	}
	return &Error{Code: Format, Msg: "the tar.gz can't be read", Err: err}
}

// counted stops a stream that unpacks to more than a bundle may have, or that
// grows as no honest one does.
type counted struct {
	from   io.Reader
	n, max int64
	packed int64
}

// Read passes bytes on while there aren't too many.
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.n += int64(n)
	switch ratio := Toolset.limits(); {
	case c.n > c.max:
		return 0, refuse(Size, "", "it has more than %d bytes unpacked", c.max)
	case c.n > ratio.ratioOf && c.n/ratio.ratio > c.packed:
		return 0, refuse(Bomb, "", "it grows from %d bytes to more than %d", c.packed, c.n)
	}
	return n, err
}

func onlyZeros(r io.Reader) error {
	buf := make([]byte, 4<<10)
	for {
		n, err := r.Read(buf)
		for _, c := range buf[:n] {
			if c != 0 {
				return refuse(Format, "", "something lies behind the end of the tar")
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return tarError(context.Background(), err)
		}
	}
}
