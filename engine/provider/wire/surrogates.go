package wire

import (
	"bytes"
	"strings"
)

// Halves mends characters that a server cut in two: one outside the basic plane
// is two \u escapes, and a server that counts in those may end one piece of an
// answer with the first and begin the next with the second. Decoded apart, each
// is a replacement character. The zero value is ready; it belongs to one
// response.
type Halves struct {
	first []byte // the escape that ended the piece before
}

// escapeLength is that of an escape such as \ud83d.
const escapeLength = 6

// Join gives the JSON of a piece with its cut characters whole: a first half at
// the end of a string is kept back, and put before the second half that begins
// a string of a later piece. A first half that nothing follows is dropped, and a
// second one that follows nothing stays, so that it is seen to be broken. The
// result is data itself where there is nothing to mend, as nearly always.
func (h *Halves) Join(data []byte) []byte {
	if !bytes.Contains(data, []byte(`\u`)) {
		return data
	}
	if h.first != nil {
		if at := half(data, secondHalf); at >= 0 && data[at-1] == '"' {
			data = splice(data, at, at, h.first)
			h.first = nil
		}
	}
	at := half(data, firstHalf)
	if at < 0 || at+escapeLength >= len(data) || data[at+escapeLength] != '"' {
		return data
	}
	h.first = bytes.Clone(data[at : at+escapeLength])
	return splice(data, at, at+escapeLength, nil)
}

// splice puts other bytes in the place of some, in a copy.
func splice(data []byte, from, to int, by []byte) []byte {
	out := make([]byte, 0, len(data)+len(by))
	return append(append(append(out, data[:from]...), by...), data[to:]...)
}

// The third digits of the two kinds of half: D8–DB and DC–DF.
const (
	firstHalf  = "89abAB"
	secondHalf = "cdefCDEF"
)

// half finds an escape of one kind that stands alone: a first half at the end of
// a string, a second one at its beginning. -1 is none.
func half(data []byte, kind string) int {
	for i := 0; i+escapeLength <= len(data); {
		n := bytes.IndexByte(data[i:], '\\')
		if n < 0 || i+n+escapeLength > len(data) {
			return -1
		}
		at := i + n
		if data[at+1] != 'u' {
			i = at + 2 // some other escape, of two bytes
			continue
		}
		i = at + escapeLength
		if data[at+2] != 'd' && data[at+2] != 'D' || strings.IndexByte(kind, data[at+3]) < 0 ||
			!hexDigit(data[at+4]) || !hexDigit(data[at+5]) {
			continue
		}
		alone := at > 0 && data[at-1] == '"'
		if kind == firstHalf {
			alone = i < len(data) && data[i] == '"'
		}
		if alone {
			return at
		}
	}
	return -1
}

func hexDigit(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}
