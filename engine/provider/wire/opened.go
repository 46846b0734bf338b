package wire

import (
	"bytes"
	"errors"
	"io"
	"unicode/utf8"
)

// bodyKind is what a body with status 200 is by its first bytes.
type bodyKind int

const (
	textBody bodyKind = iota + 1 // an event stream, or words
	jsonBody                     // one JSON value or more
)

// firstBytes are enough to recognise what a body is.
const firstBytes = 4

// maxBlank bounds the white space ahead of the first of them.
const maxBlank = 64 << 10

// opened is a body whose first bytes have been looked at.
type opened struct {
	src  io.Reader
	head []byte
	err  error // what ended the look
}

// Read reads the body from its first byte that is no white space.
func (o *opened) Read(p []byte) (int, error) {
	if len(o.head) > 0 {
		n := copy(p, o.head)
		o.head = o.head[n:]
		return n, nil
	}
	if o.err != nil {
		return 0, o.err
	}
	return o.src.Read(p)
}

// judge looks at the first bytes of a body. Its error is a FormatError that
// names a body which is neither text nor JSON; page is the question that one of
// a web page ends with.
func (o *opened) judge(page string) (bodyKind, error) {
	o.look()
	first := o.head
	switch {
	case len(first) == 0:
		return textBody, nil
	case compression(first) != "":
		return 0, compressed(compression(first))
	case first[0] == '<':
		begin, _ := io.ReadAll(io.LimitReader(o, 512))
		return 0, &FormatError{Chunk: begin, Err: errors.New("it is a web page; " + page)}
	case binary(first):
		return 0, &FormatError{Err: errors.New("it is binary data")}
	case first[0] == '{' || first[0] == '[' || first[0] == '"':
		return jsonBody, nil
	}
	return textBody, nil
}

// JSONBody returns the body of a response with status 200 as it is read where
// that has to be JSON: any other text is the server's error in its own words,
// and the errors of other bodies name them. page is the question that the error
// of a web page ends with.
func JSONBody(body io.Reader, s Source, page string) io.Reader {
	return &judged{opened: opened{src: body}, source: s, page: page}
}

// judged is a body that is judged by its first bytes when it is first read.
type judged struct {
	opened
	source Source
	page   string
	done   bool
	err    error
}

// Read reads the body, or returns the error that it is.
func (j *judged) Read(p []byte) (int, error) {
	if !j.done {
		j.done = true
		kind, err := j.judge(j.page)
		if err == nil && kind == textBody && len(j.head) > 0 {
			words, _ := io.ReadAll(io.LimitReader(&j.opened, maxWords))
			err = j.source.words(words)
		}
		j.err = err
	}
	if j.err != nil {
		return 0, j.err
	}
	return j.opened.Read(p)
}

// words is the error of a text where JSON is due.
func (s Source) words(text []byte) error {
	if bytes.HasPrefix(text, []byte("data:")) || bytes.HasPrefix(text, []byte("event:")) {
		return s.Undecodable(&FormatError{Chunk: text, Err: errors.New("it is an event stream of another protocol")})
	}
	return s.InBody(text)
}

// look reads until there are enough bytes to tell, or no more.
func (o *opened) look() {
	buf := make([]byte, firstBuffer)
	blank := 0
	for len(o.head) < firstBytes && o.err == nil && blank < maxBlank {
		n, err := o.src.Read(buf)
		o.head, o.err = append(o.head, buf[:n]...), err
		had := len(o.head)
		o.head = bytes.TrimLeft(bytes.TrimPrefix(o.head, []byte("\xEF\xBB\xBF")), " \t\r\n")
		if blank += had - len(o.head); n == 0 {
			blank += firstBytes // a source that gives nothing is not asked for ever
		}
	}
}

// firstBuffer is what one look may bring.
const firstBuffer = 8 << 10

// binary reports whether bytes can't begin a text.
func binary(first []byte) bool {
	r, n := utf8.DecodeRune(first)
	return first[0] < ' ' || r == utf8.RuneError && n == 1 && utf8.FullRune(first)
}

// compression returns the name of the compression whose mark data begins with;
// "" is none.
func compression(data []byte) string {
	switch {
	case bytes.HasPrefix(data, []byte("\x1f\x8b")):
		return "gzip"
	case bytes.HasPrefix(data, []byte("\x28\xb5\x2f\xfd")):
		return "zstd"
	case bytes.HasPrefix(data, []byte("\x78\x01")), bytes.HasPrefix(data, []byte("\x78\x9c")), bytes.HasPrefix(data, []byte("\x78\xda")):
		return "deflate"
	}
	return ""
}

// compressed is the error of a body that is compressed in a way that is not read.
func compressed(name string) error {
	return &FormatError{Err: errors.New("it is compressed (" + name + "), which fettle did not ask for; does a proxy do that?")}
}

// bounded is a body of which at most so many bytes are read.
type bounded struct {
	src  io.Reader
	left int
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, &FormatError{Err: errors.New("it is longer than 16 MiB")}
	}
	n, err := b.src.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
