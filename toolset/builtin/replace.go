package builtin

import (
	"bytes"
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/fettle-cli/fettle/toolset"
)

// maxShownLines bounds the line numbers that a message or a result lists.
const maxShownLines = 20

// applyEdits makes the edits one after another; each sees what those before it
// made. An error means that nothing is changed.
func applyEdits(raw []byte, edits []edit) ([]byte, []editDone, error) {
	out := raw
	done := make([]editDone, 0, len(edits))
	for i, e := range edits {
		next, d, err := applyEdit(out, e)
		if err != nil && len(edits) > 1 {
			return nil, nil, toolset.Errorf("edit %d of %d: %w\nNone of the edits was made.", i+1, len(edits), err)
		}
		if err != nil {
			return nil, nil, err
		}
		out = next
		done = append(done, d)
	}
	return out, done, nil
}

// document is a file's text with plain newlines, and the way back to its
// bytes. Matching happens on the plain text, so that a match never splits a
// CRLF, and a model's LF finds the file's CRLF.
type document struct {
	raw   []byte // without the byte-order mark
	plain string
	crlf  []int // the places in plain of the newlines that are CRLF in raw
	// wantsCRLF is the line ending of new lines in a file without any.
	wantsCRLF bool
}

func newDocument(raw []byte) document {
	d := document{raw: raw}
	if !bytes.Contains(raw, []byte("\r\n")) {
		d.plain = string(raw)
		return d
	}
	var b strings.Builder
	b.Grow(len(raw))
	for rest := raw; ; {
		i := bytes.Index(rest, []byte("\r\n"))
		if i < 0 {
			b.Write(rest)
			break
		}
		b.Write(rest[:i])
		d.crlf = append(d.crlf, b.Len())
		b.WriteByte('\n')
		rest = rest[i+2:]
	}
	d.plain = b.String()
	return d
}

// at gives the place in raw of a place in plain: each CRLF before it took one
// byte more. The place of a newline is that of its CR.
func (d document) at(plain int) int { return plain + d.crlfBefore(plain) }

func (d document) crlfBefore(plain int) int { return sort.SearchInts(d.crlf, plain) }

// line is the number of the line in which a place lies.
func (d document) line(plain int) int { return strings.Count(d.plain[:plain], "\n") + 1 }

func plainNewlines(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

func applyEdit(raw []byte, e edit) ([]byte, editDone, error) {
	mark := []byte{}
	if bytes.HasPrefix(raw, []byte(bom)) {
		mark, raw = raw[:len(bom)], raw[len(bom):]
		e.OldText = strings.TrimPrefix(e.OldText, bom)
		e.NewText = strings.TrimPrefix(e.NewText, bom)
	}
	before, after := plainNewlines(e.OldText), plainNewlines(e.NewText)
	switch {
	case before == "":
		return nil, editDone{}, errors.New("old_text is empty; to write a whole file, use write_file")
	case before == after:
		return nil, editDone{}, errors.New("old_text and new_text are the same")
	}
	d := newDocument(raw)
	d.wantsCRLF = strings.Contains(e.NewText, "\r\n")
	places, before, after := d.find(e, before, after)
	switch {
	case len(places) == 0:
		return nil, editDone{}, d.noMatch(before, after)
	case len(places) > 1 && !e.ReplaceAll:
		return nil, editDone{}, d.manyMatches(places)
	}
	done := editDone{Replacements: len(places)}
	for _, p := range places[:min(len(places), maxShownLines)] {
		done.Lines = append(done.Lines, d.line(p))
	}
	return append(bytes.Clone(mark), d.replace(places, before, after)...), done, nil
}

// find gives the places where the text stands, and the text to replace there.
func (d document) find(e edit, before, after string) (places []int, old, new string) {
	places = d.matches(before, e.ReplaceAll)
	if len(places) == 0 && strings.HasSuffix(before, "\n") && strings.HasSuffix(after, "\n") {
		// The last line of a file without a final newline: models give one.
		trimmed := strings.TrimSuffix(before, "\n")
		if trimmed != "" && strings.HasSuffix(d.plain, trimmed) {
			return []int{len(d.plain) - len(trimmed)}, trimmed, strings.TrimSuffix(after, "\n")
		}
	}
	if len(places) > 1 && strings.Contains(e.OldText, "\r\n") {
		// Asked for with CRLF, in a file that has both: the exact ones count.
		var exact []int
		for _, p := range places {
			if string(d.raw[d.at(p):d.at(p+len(before))]) == e.OldText {
				exact = append(exact, p)
			}
		}
		if len(exact) > 0 {
			places = exact
		}
	}
	return places, before, after
}

// matches lists where the text stands. Where one is to be replaced, those that
// overlap count too: "aa" stands in "aaa" twice, and which one is meant can't
// be known.
func (d document) matches(text string, all bool) []int {
	var places []int
	step := 1
	if all {
		step = len(text)
	}
	for from := 0; ; {
		i := strings.Index(d.plain[from:], text)
		if i < 0 {
			return places
		}
		places = append(places, from+i)
		from += i + step
	}
}

// replace puts new where old stands. Only the bytes in which the two differ
// are touched; what both begin and end with stays as it is in the file.
func (d document) replace(places []int, old, new string) []byte {
	head, tail := common(old, new)
	middle := new[head : len(new)-tail]
	out := make([]byte, 0, len(d.raw)+len(places)*len(middle))
	from := 0
	for _, p := range places {
		start, end := d.at(p+head), d.at(p+len(old)-tail)
		out = append(out, d.raw[from:start]...)
		if d.endsLinesWithCRLF(p, p+len(old)) {
			out = append(out, strings.ReplaceAll(middle, "\n", "\r\n")...)
		} else {
			out = append(out, middle...)
		}
		from = end
	}
	return append(out, d.raw[from:]...)
}

// common is the length of the beginning and of the end that two texts share.
func common(a, b string) (head, tail int) {
	n := min(len(a), len(b))
	for head < n && a[head] == b[head] {
		head++
	}
	for tail < n-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return head, tail
}

// endsLinesWithCRLF tells which line ending new lines get between two places:
// the one that most of the lines there have; where there are none, the one
// that the line there has, or the line before it; in a file of one line, the
// one that the model gave.
func (d document) endsLinesWithCRLF(from, to int) bool {
	if all := strings.Count(d.plain[from:to], "\n"); all > 0 {
		crlf := d.crlfBefore(to) - d.crlfBefore(from)
		return 2*crlf > all
	}
	if i := strings.IndexByte(d.plain[to:], '\n'); i >= 0 {
		return d.isCRLF(to + i)
	}
	if i := strings.LastIndexByte(d.plain[:from], '\n'); i >= 0 {
		return d.isCRLF(i)
	}
	return d.wantsCRLF
}

func (d document) isCRLF(newline int) bool {
	i := d.crlfBefore(newline)
	return i < len(d.crlf) && d.crlf[i] == newline
}

func (d document) manyMatches(places []int) error {
	var lines []string
	for _, p := range places[:min(len(places), maxShownLines)] {
		lines = append(lines, fmt.Sprint(d.line(p)))
	}
	more := ""
	if len(places) > maxShownLines {
		more = " and on"
	}
	return fmt.Errorf("old_text stands there %d times, in lines %s%s; add lines around it until it stands there once, or set replace_all", len(places), strings.Join(lines, ", "), more)
}
