package input

import (
	"context"
	"fmt"
	"io"
	"os"
)

// Stream gives an open file as a reader that ends with ctx, also while it waits for
// data: the error is ctx's cause then. It is for what is read as it comes. It belongs
// to one goroutine; Close gives back what it took, and leaves f open.
func Stream(ctx context.Context, f *os.File) (io.ReadCloser, error) {
	r, err := newReader(ctx, f, classify(f))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", f.Name(), err)
	}
	return &streamReader{ctx: ctx, r: r}, nil
}

type streamReader struct {
	ctx context.Context
	r   reader
}

// Read reads what is there, and waits for it as long as its context lasts.
func (s *streamReader) Read(p []byte) (int, error) {
	if err := context.Cause(s.ctx); err != nil {
		return 0, err
	}
	n, err := s.r.read(s.ctx, p, -1)
	if closed(err) { // there is none
		err = io.EOF
	}
	return n, err
}

// Close makes the reader unusable.
func (s *streamReader) Close() error {
	s.r.close()
	return nil
}

// All reads an open file to its end, and no more than most bytes of it: larger tells
// that there are more. It ends with ctx, as [Stream] does.
func All(ctx context.Context, f *os.File, most int64) (data []byte, larger bool, err error) {
	r, err := Stream(ctx, f)
	if err != nil {
		return nil, false, err
	}
	defer r.Close() // it was only read
	data, err = io.ReadAll(io.LimitReader(r, most+1))
	if int64(len(data)) > most {
		return nil, true, err
	}
	return data, false, err
}

// Named is a file's name for people: - is standard input.
func Named(file string) string {
	if file == "-" {
		return "standard input"
	}
	return file
}
