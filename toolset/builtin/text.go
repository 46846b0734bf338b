package builtin

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/fettle-cli/fettle/internal/textenc"
)

// encoding is how a file's bytes are text.
type encoding string

const (
	utf8Text          = encoding(textenc.UTF8)
	utf16LE           = encoding(textenc.UTF16LE)
	utf16BE           = encoding(textenc.UTF16BE)
	notText  encoding = "binary"
)

// bom is the byte-order mark of UTF-8.
const bom = textenc.Mark

// sniffLength is how much of a file decides what it is, as with git.
const sniffLength = 8000

// sniff tells what a file is by its first bytes. A NUL makes it binary, and so
// does the signature of a known format, unless it is all valid text: "BM" is
// the signature of a bitmap, and the start of a sentence about BMW.
func sniff(head []byte) encoding {
	if e, _ := textenc.Detect(head); e != textenc.UTF8 {
		return encoding(e)
	}
	switch {
	case bytes.IndexByte(head, 0) >= 0:
		return notText
	case validPrefix(head):
		return utf8Text
	}
	media := http.DetectContentType(head)
	if strings.HasPrefix(media, "text/") || media == "application/octet-stream" || media == "application/postscript" {
		return utf8Text // Latin-1 and the like
	}
	return notText
}

// validPrefix is utf8.Valid, but for a character that the end cuts.
func validPrefix(head []byte) bool {
	for i := 0; i < utf8.UTFMax && i <= len(head); i++ {
		if rest := head[len(head)-i:]; utf8.Valid(head[:len(head)-i]) && !utf8.FullRune(rest) || i == 0 && utf8.Valid(head) {
			return true
		}
	}
	return false
}

// textFile reads a file as UTF-8, without a byte-order mark.
type textFile struct {
	*bufio.Reader
	encoding encoding
	bom      bool
	head     []byte // the first bytes as they are
}

// readerSize is also the longest piece in which a line is searched.
const readerSize = 64 << 10

// newTextFile looks at the file's first bytes and goes on from there. A binary
// file is read as it is.
func newTextFile(f io.Reader) (*textFile, error) {
	raw := bufio.NewReaderSize(f, readerSize)
	head, err := raw.Peek(sniffLength)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	t := &textFile{Reader: raw, encoding: sniff(head), head: bytes.Clone(head)}
	switch t.encoding {
	case utf8Text:
		t.bom = bytes.HasPrefix(head, []byte(bom))
		t.Reader = bufio.NewReaderSize(textenc.NewReader(raw), readerSize)
	case utf16LE, utf16BE:
		_, mark := textenc.Detect(head)
		t.bom = mark > 0
		t.Reader = bufio.NewReaderSize(textenc.NewReader(raw), readerSize)
	}
	return t, nil
}

// lineEndings counts both kinds.
type lineEndings struct{ crlf, lf int }

func countEndings(text string) lineEndings {
	crlf := strings.Count(text, "\r\n")
	return lineEndings{crlf: crlf, lf: strings.Count(text, "\n") - crlf}
}

// String names them as the data of a result does.
func (l lineEndings) String() string {
	switch {
	case l.crlf > 0 && l.lf > 0:
		return "mixed"
	case l.crlf > 0:
		return "crlf"
	case l.lf > 0:
		return "lf"
	}
	return "none"
}

// size writes a number of bytes for people.
func size(n int64) string {
	switch {
	case n == 1:
		return "1 byte"
	case n < 1000:
		return fmt.Sprintf("%d bytes", n)
	case n < 999_950:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	case n < 999_950_000:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}

// count writes a number of things.
func count(n int, what string) string {
	switch {
	case n == 1:
		return "1 " + what
	case strings.HasSuffix(what, "ch"):
		return fmt.Sprintf("%d %ses", n, what)
	case strings.HasSuffix(what, "ry"):
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(what, "y"))
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// countLines counts the lines of a text; a last one without an end counts too.
func countLines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// clip shortens a text to at most n bytes, at a character.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
