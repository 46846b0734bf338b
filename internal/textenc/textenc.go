package textenc

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	xunicode "golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Encoding is a Unicode encoding.
type Encoding string

// The encodings.
const (
	UTF8    Encoding = "utf-8" // or an encoding that is not recognized
	UTF16LE Encoding = "utf-16le"
	UTF16BE Encoding = "utf-16be"
)

// Mark is the byte order mark of UTF-8.
const Mark = "\xef\xbb\xbf"

// sample is how much of a text decides what its encoding is.
const sample = 8000

// Detect returns the encoding of a text, and the length of its byte order mark, by its
// beginning. head may end within a character.
func Detect(head []byte) (e Encoding, mark int) {
	switch {
	case bytes.HasPrefix(head, []byte(Mark)):
		return UTF8, len(Mark)
	case bytes.HasPrefix(head, []byte("\xff\xfe\x00\x00")):
		return UTF8, 0 // UTF-32
	case bytes.HasPrefix(head, []byte("\xff\xfe")):
		return UTF16LE, 2
	case bytes.HasPrefix(head, []byte("\xfe\xff")):
		return UTF16BE, 2
	}
	return unmarked(head), 0
}

// unmarked returns the encoding of a text without a mark.
func unmarked(head []byte) Encoding {
	head = head[:min(len(head), sample)&^1]
	if bytes.IndexByte(head, 0) < 0 {
		return UTF8
	}
	var zeros [2]int // in the first and in the second byte of pairs
	for i, b := range head {
		if b == 0 {
			zeros[i%2]++
		}
	}
	switch {
	case len(head) < leastHead:
		return UTF8
	case zeros[0] == 0 && zeros[1] > 0 && isText(head, binary.LittleEndian):
		return UTF16LE
	case zeros[1] == 0 && zeros[0] > 0 && isText(head, binary.BigEndian):
		return UTF16BE
	}
	return UTF8
}

// isText reports whether the beginning of UTF-16 is text, of which at least two characters,
// and one in thirty, are ASCII.
func isText(head []byte, order binary.ByteOrder) bool {
	units := make([]uint16, len(head)/2)
	for i := range units {
		units[i] = order.Uint16(head[2*i:])
	}
	if utf16.IsSurrogate(rune(units[len(units)-1])) {
		units = units[:len(units)-1] // the other half may follow
	}
	ascii := 0
	for _, r := range utf16.Decode(units) {
		switch {
		case r == '\t' || r == '\n' || r == '\r' || r == '\f':
		case r == unicode.ReplacementChar || !unicode.IsPrint(r) && !unicode.Is(unicode.Cf, r) && !unicode.IsSpace(r):
			return false
		}
		if r < utf8.RuneSelf {
			ascii++
		}
	}
	return ascii >= 2 && ascii*30 >= len(units)
}

// ToUTF8 returns a text as UTF-8 without its byte order mark. A half of a UTF-16 pair becomes
// U+FFFD. A text whose encoding is not recognized is returned as it is.
func ToUTF8(raw []byte) []byte {
	e, mark := Detect(raw)
	if e == UTF8 {
		return raw[mark:]
	}
	order := e.Order()
	out := make([]byte, 0, len(raw))
	for i := mark; i+1 < len(raw); i += 2 {
		r := rune(order.Uint16(raw[i:]))
		if utf16.IsSurrogate(r) {
			var low rune
			if i+3 < len(raw) {
				low = rune(order.Uint16(raw[i+2:]))
			}
			if r = utf16.DecodeRune(r, low); r != unicode.ReplacementChar {
				i += 2
			}
		}
		out = utf8.AppendRune(out, r)
	}
	if (len(raw)-mark)%2 != 0 {
		out = utf8.AppendRune(out, unicode.ReplacementChar)
	}
	return out
}

// Order returns the byte order of an encoding of UTF-16.
func (e Encoding) Order() binary.ByteOrder {
	if e == UTF16BE {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// NewReader returns a reader of r as UTF-8, without its byte order mark. It decides by what
// the first read of r brings, and does not wait for more: r may be a pipe whose writer waits.
func NewReader(r io.Reader) io.Reader { return &reader{src: bufio.NewReaderSize(r, sample)} }

// reader reads a text whose encoding is found at the first read.
type reader struct {
	src  *bufio.Reader
	text io.Reader // nil before the first read
}

// Read reads a piece of the text.
func (r *reader) Read(p []byte) (int, error) {
	if r.text == nil {
		r.text = r.decoded()
	}
	return r.text.Read(p)
}

// leastHead is the shortest beginning of a text that is looked at, in bytes.
const leastHead = 4

func (r *reader) decoded() io.Reader {
	_, _ = r.src.Peek(leastHead) // an error is the next read's
	head, _ := r.src.Peek(min(r.src.Buffered(), sample))
	e, mark := Detect(head)
	_, _ = r.src.Discard(mark) // they were read
	switch e {
	case UTF16LE:
		return transform.NewReader(r.src, xunicode.UTF16(xunicode.LittleEndian, xunicode.IgnoreBOM).NewDecoder())
	case UTF16BE:
		return transform.NewReader(r.src, xunicode.UTF16(xunicode.BigEndian, xunicode.IgnoreBOM).NewDecoder())
	}
	return r.src
}
