package builtin

import (
	"bufio"
	"context"
	"errors"
	"io"
	"unicode/utf8"
)

// lineRange asks for lines of a stream.
type lineRange struct {
	offset int  // the first line, from 1
	limit  int  // most lines; 0 is all
	bytes  int  // most bytes
	toEnd  bool // count the lines to the end of the stream
}

// piece is what a lineRange gets.
type piece struct {
	text  string
	more  bool // the stream goes on
	cut   bool // the only line is not whole
	total int  // lines of the whole stream; -1 where they weren't counted
}

// read takes whole lines while they fit; a first line that doesn't is cut. It
// holds no more than the range asks for, however long lines and stream are.
func (lr lineRange) read(ctx context.Context, in *bufio.Reader) (piece, error) {
	var (
		p     = piece{total: -1}
		text  []byte
		begin int // where in text the current line begins
		line  = 1 // the current line
		open  bool
		full  bool
	)
	for {
		if err := ctx.Err(); err != nil {
			return p, err
		}
		chunk, err := in.ReadSlice('\n')
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
			return p, err
		}
		if len(chunk) > 0 {
			if line >= lr.offset && !full {
				text, full, p.cut = lr.take(text, begin, chunk, line)
				p.more = full
			}
			open = chunk[len(chunk)-1] != '\n'
			if !open {
				line++
				begin = len(text)
			}
		}
		if errors.Is(err, io.EOF) {
			p.total = line - 1
			if open {
				p.total++
			}
			break
		}
		if full && !lr.toEnd {
			break
		}
	}
	p.text = string(text)
	return p, nil
}

// take adds a chunk of a line to the text, or tells that the range is full.
func (lr lineRange) take(text []byte, begin int, chunk []byte, line int) (_ []byte, full, cut bool) {
	if lr.limit > 0 && line-lr.offset >= lr.limit {
		return text, true, false
	}
	room := lr.bytes - len(text)
	switch {
	case len(chunk) <= room:
		return append(text, chunk...), false, false
	case begin > 0:
		return text[:begin], true, false
	}
	return trimRune(append(text, chunk[:room]...)), true, true
}

// trimRune takes off the beginning of a character that was cut.
func trimRune(text []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(text); i++ {
		if c := text[len(text)-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(text[len(text)-i:]) {
				return text[:len(text)-i]
			}
			break
		}
	}
	return text
}
