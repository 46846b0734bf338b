package chat

import (
	"errors"
	"io"
	"sort"
)

// documentSource is the input of a [DocumentReader]. It bounds the size of a
// document, and counts lines.
type documentSource struct {
	r     io.Reader
	at    int64 // bytes read so far
	limit int64 // the offset at which a document is too large
	// line is the number of the line at the offset from which on the ends of
	// lines are known.
	line int
	ends []int64 // offsets of the ends of lines
}

var errDocumentSize = errors.New("a document is too large")

// Read reads on, unless the document is too large.
func (s *documentSource) Read(p []byte) (int, error) {
	if s.at > s.limit {
		return 0, errDocumentSize
	}
	n, err := s.r.Read(p)
	for i, b := range p[:n] {
		if b == '\n' {
			s.ends = append(s.ends, s.at+int64(i))
		}
	}
	s.at += int64(n)
	return n, err
}

// lineAt returns the number of the line that has a byte, from 1.
func (s *documentSource) lineAt(offset int64) int {
	return s.line + sort.Search(len(s.ends), func(i int) bool { return s.ends[i] >= offset })
}

// forget drops the records of the lines before an offset.
func (s *documentSource) forget(offset int64) {
	n := s.lineAt(offset) - s.line
	s.ends, s.line = append(s.ends[:0], s.ends[n:]...), s.line+n
}
