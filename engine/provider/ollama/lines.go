package ollama

import (
	"bytes"
	"errors"
	"io"

	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// lineBuffer is what one network read may bring.
const lineBuffer = 8 << 10

// maxEmptyReads is how often a body may give nothing and no error, as in
// package bufio.
const maxEmptyReads = 100

var errLongLine = errors.New("a line is longer than 16 MiB")

// lines reads a body line by line. next waits for one; buffered gives the
// others that came with the same network read.
type lines struct {
	src   io.Reader
	buf   []byte
	start int // where the line that is being read begins
	seen  int // how far it is known to have no end
	end   int // what has been read
	err   error
}

// next gives the next line, without its end and valid until the next call. At
// the end of the body it gives what is left, if anything, as a line with open
// set, then io.EOF.
func (l *lines) next() (line []byte, open bool, err error) {
	for empty := 0; ; {
		if line, ok := l.buffered(); ok {
			return line, false, nil
		}
		if l.err != nil {
			line = l.buf[l.start:l.end]
			l.start = l.end
			if l.err == io.EOF && len(bytes.TrimSpace(line)) > 0 {
				return line, true, nil
			}
			return nil, false, l.err
		}
		n, err := l.fill()
		l.err = err
		if n > 0 || err != nil {
			empty = 0
		} else if empty++; empty > maxEmptyReads {
			l.err = io.ErrNoProgress
		}
	}
}

// buffered gives the next line if it has been read already.
func (l *lines) buffered() ([]byte, bool) {
	from := max(l.start, l.seen)
	n := bytes.IndexByte(l.buf[from:l.end], '\n')
	if n < 0 {
		l.seen = l.end
		return nil, false
	}
	line := l.buf[l.start : from+n]
	l.start = from + n + 1
	return bytes.TrimSuffix(line, []byte("\r")), true
}

// rest returns a line with all that follows it, up to the size of a line.
func (l *lines) rest(line []byte) []byte {
	all := append(bytes.Clone(line), '\n')
	all = append(all, l.buf[l.start:l.end]...)
	l.start = l.end
	if l.err == nil {
		more, err := io.ReadAll(io.LimitReader(l.src, int64(wire.MaxBody-min(len(all), wire.MaxBody))))
		all, l.err = append(all, more...), err
		if err == nil {
			l.err = io.EOF
		}
	}
	return bytes.TrimSpace(all)
}

func (l *lines) fill() (int, error) {
	if l.start > 0 {
		copy(l.buf, l.buf[l.start:l.end])
		l.seen -= l.start
		l.end -= l.start
		l.start = 0
	}
	if l.end == len(l.buf) {
		if l.end > wire.MaxBody {
			return 0, &wire.FormatError{Err: errLongLine}
		}
		grown := make([]byte, min(max(lineBuffer, 2*len(l.buf)), wire.MaxBody+1))
		copy(grown, l.buf[:l.end])
		l.buf = grown
	}
	n, err := l.src.Read(l.buf[l.end:])
	l.end += n
	return n, err
}
