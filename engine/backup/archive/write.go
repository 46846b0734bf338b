package archive

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// Writer writes a backup. It belongs to one goroutine.
type Writer struct {
	tar *tar.Writer
	zip *zstd.Encoder
	sum *sum
}

// NewWriter begins a backup; head's Format and Version are filled in.
func NewWriter(w io.Writer, head Head) (*Writer, error) {
	zip, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(true))
	if err != nil {
		return nil, err
	}
	out := &Writer{tar: tar.NewWriter(zip), zip: zip, sum: newSum()}
	head.Format, head.Version = formatName, version
	if err := out.json(headName, head); err != nil {
		return nil, errors.Join(err, zip.Close())
	}
	return out, nil
}

func (w *Writer) json(name string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	err = w.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o600, Size: int64(len(text)), Format: tar.FormatPAX})
	if err == nil {
		_, err = w.tar.Write(text)
	}
	return err
}

// Put writes an entry; r is the content of a file, of which e.Size bytes are
// read. One that has fewer by now is filled up with zeros, and full is false.
func (w *Writer) Put(e Entry, r io.Reader) (full bool, err error) {
	if !goodName(e.Name) {
		return false, fmt.Errorf("put %s into a backup: no such name can be kept", shown(e.Name))
	}
	h := &tar.Header{Name: e.Name, Mode: int64(e.Mode.Perm()), Format: tar.FormatPAX}
	switch e.Kind {
	case File:
		h.Typeflag, h.Size = tar.TypeReg, e.Size
	case Folder:
		h.Typeflag, h.Name, e.Size = tar.TypeDir, e.Name+"/", 0
	case Link:
		h.Typeflag, h.Linkname, e.Size = tar.TypeSymlink, e.Target, 0
	default:
		return false, fmt.Errorf("put %s into a backup: unknown kind %q", shown(e.Name), e.Kind)
	}
	if err := w.tar.WriteHeader(h); err != nil {
		return false, fmt.Errorf("put %s into a backup: %w", shown(e.Name), err)
	}
	w.sum.entry(e)
	if e.Kind != File {
		return true, nil
	}
	counted := &counter{r: r}
	in := io.LimitReader(io.MultiReader(counted, zeros{}), e.Size)
	if _, err := io.Copy(w.tar, w.sum.content(in)); err != nil {
		return false, fmt.Errorf("put %s into a backup: %w", shown(e.Name), err)
	}
	return counted.n >= e.Size, nil
}

// Close writes the end. Without it the file is no backup.
func (w *Writer) Close() error {
	err := w.json(endName, w.sum.result())
	if err == nil {
		err = w.tar.Close()
	}
	return errors.Join(err, w.zip.Close())
}

// Abort ends a backup that is not to be one.
func (w *Writer) Abort() { _ = w.zip.Close() }

// zeros is an endless file of them.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}
