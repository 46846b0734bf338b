package strictyaml

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/fettle-cli/fettle/internal/textenc"
)

// checkText finds what YAML's reader refuses without a place, and what would cost too much.
func checkText(data []byte, o Options) *Problem {
	if e, _ := textenc.Detect(data); e != textenc.UTF8 {
		return &Problem{Msg: "the file is UTF-16; save it as UTF-8"}
	}
	line, column, marks, head := 1, 1, 0, true
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		rest := data[i+size:]
		if kind, msg := refused(r, size, rest, o.Portable); msg != "" {
			return &Problem{Kind: kind, Line: line, Column: column, Msg: msg}
		}
		if o.Portable && r == '%' && column == 1 && head {
			return &Problem{Kind: Tag, Line: line, Column: column, Msg: "a directive (%) is not read here; " + o.Subject + " is plain YAML 1.2"}
		}
		if column == 1 && r != '#' && r != '\r' && r != '\n' { // only comments precede directives
			head = false
		}
		if isMark(r) {
			marks++
		}
		i += size
		column++
		if endsLine(r, rest) {
			line, column = line+1, 1
		}
	}
	if o.MaxMarks > 0 && marks > o.MaxMarks {
		return &Problem{Kind: TooLarge, Msg: fmt.Sprintf("%s can't have this many values: %d characters that begin one, and %d is the limit", o.Subject, marks, o.MaxMarks)}
	}
	return nil
}

// refused reports why a character can't be in a file; the message is empty if it can.
func refused(r rune, size int, rest []byte, portable bool) (Kind, string) {
	switch {
	case r == utf8.RuneError && size == 1:
		return Syntax, "this byte is not UTF-8"
	case portable && r == '\r' && !bytes.HasPrefix(rest, []byte("\n")):
		return Syntax, "a carriage return without a line feed; end lines as Unix or Windows does"
	case !allowed(r) || portable && (r == 0x85 || r == '\u2028' || r == '\u2029'):
		return Syntax, fmt.Sprintf("the control character %U is not allowed in a file; write it as an escape in quotes", r)
	}
	return Syntax, ""
}

// allowed reports whether YAML 1.2 (§5.1) allows a character unescaped.
func allowed(r rune) bool {
	return r == '\t' || r == '\n' || r == '\r' || r == 0x85 ||
		r >= 0x20 && r <= 0x7e || r >= 0xa0 && r <= 0xd7ff ||
		r >= 0xe000 && r <= 0xfffd && r != '\ufeff' || r >= 0x10000
}

// isMark reports whether a value can begin after a character; each value has one.
func isMark(r rune) bool {
	switch r {
	case '\n', '\r', ',', ':', '-', '?', '[', '{':
		return true
	}
	return false
}

// endsLine reports whether a line ends with r, which rest follows. YAML's parser counts
// lines at all of these.
func endsLine(r rune, rest []byte) bool {
	switch r {
	case '\n', '\u0085', '\u2028', '\u2029':
		return true
	case '\r':
		return !bytes.HasPrefix(rest, []byte("\n"))
	}
	return false
}
