package builtin

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/wspath"
)

// maxInstructions bounds a regular expression. RE2 takes at most that many
// steps a byte, so that a piece of readerSize takes less than a second.
const maxInstructions = 2000

// finder finds the first match in a piece of a line, as begin and end, or
// gives -1.
func (a searchArgs) finder() (func([]byte) (int, int), error) {
	if a.Query == "" {
		return nil, toolset.Errorf("query is empty")
	}
	if !a.Regexp && !a.IgnoreCase {
		text := []byte(a.Query)
		if bytes.ContainsAny(text, "\r\n") {
			return nil, toolset.Errorf("query has a line break; search_files searches line by line")
		}
		return func(line []byte) (int, int) {
			i := bytes.Index(line, text)
			return i, i + len(text)
		}, nil
	}
	expr := a.Query
	if !a.Regexp {
		expr = regexp.QuoteMeta(expr)
	}
	if a.IgnoreCase {
		expr = "(?i)" + expr
	}
	parsed, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, badRegexp(err)
	}
	prog, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, badRegexp(err)
	}
	if len(prog.Inst) > maxInstructions {
		return nil, toolset.Errorf("the regular expression is too large; write it without high repetition counts")
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, badRegexp(err)
	}
	return func(line []byte) (int, int) {
		if at := re.FindIndex(line); at != nil {
			return at[0], at[1]
		}
		return -1, -1
	}, nil
}

func badRegexp(err error) error {
	msg := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
	return toolset.Errorf("query is no valid regular expression: %s (RE2 syntax; to search for the text itself, leave regexp out)", msg)
}

// searcher goes through files and gathers matches.
type searcher struct {
	ctx     context.Context
	ws      *toolset.Workspace
	find    func([]byte) (int, int)
	glob    func(rel string) bool
	context int
	limit   int

	data searchData
	out  strings.Builder
	stop bool // a match was found that isn't shown
	// hidden counts the files and folders that a rule denies.
	hidden int
	// asked counts the files whose text the editor was asked for, and unasked those that
	// came after the bound. failed is set where the editor failed, which ends the asking.
	asked, unasked int
	failed         bool
}

// file searches one file, if it is text.
func (s *searcher) file(at place) error {
	f, err := s.open(at)
	if err != nil {
		return err
	}
	defer f.Close()
	text, err := newTextFile(f)
	if err != nil {
		return wspath.Explain("search", at.Given, err)
	}
	if text.encoding == notText {
		s.data.Binary++
		return nil
	}
	s.data.Files++
	scan := fileScan{s: s, name: at.Given, first: len(s.data.Matches)}
	if err := scan.lines(text.Reader); err != nil {
		return explainUnlessEnded(s.ctx, "search", at.Given, err)
	}
	return nil
}

// maxAsked bounds the files whose text a search asks an editor for. An editor may load
// each one that it is asked for.
const maxAsked = 200

// open opens what is searched of a file: what the editor has of it and has not saved, as
// long as not too many were asked for.
func (s *searcher) open(at place) (content, error) {
	ws := s.ws
	if ws.Editor != nil && s.asked >= maxAsked {
		s.unasked++
		without := *ws
		without.Editor = nil
		ws = &without
	}
	s.asked++
	f, note, err := openContent(s.ctx, ws, at)
	if _, unsaved := f.(editorContent); note != "" && !unsaved { // it failed once, and may wait as long each time
		s.asked, s.failed = maxAsked, true
	}
	return f, err
}

// fileScan is the search of one file. It holds a piece of a line and some
// lines of context, never the file.
type fileScan struct {
	s       *searcher
	name    string
	first   int      // the index of the file's first match
	before  []string // the last lines, at most as many as the context
	pending int      // lines of context that the last match is still due
	printed int      // the last line in the output; 0 is none
}

// scanLine is what is kept of one line.
type scanLine struct {
	head   []byte // its beginning
	long   bool   // there is more than head
	length int
	tail   []byte // the end of the last piece, where a match may begin
	column int    // of the match, from 1; 0 is none
	shown  string // what is around the match
}

// overlap is how much of a piece is looked at again with the next one, so that
// a match of a query's greatest length isn't lost between two.
const overlap = 4 << 10

func (f *fileScan) lines(in *bufio.Reader) error {
	var line scanLine
	for number := 1; !f.s.stop; {
		if err := f.s.ctx.Err(); err != nil {
			return err
		}
		chunk, err := in.ReadSlice('\n')
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
		ended := err == nil
		if ended {
			chunk = bytes.TrimSuffix(bytes.TrimSuffix(chunk, []byte("\n")), []byte("\r"))
		}
		eof := errors.Is(err, io.EOF)
		if len(chunk) > 0 || ended {
			line.add(chunk, !ended && !eof, f.s.find)
		}
		if ended || eof && line.length > 0 {
			f.emit(number, &line)
			number++
			line = scanLine{head: line.head[:0]}
		}
		if eof {
			break
		}
	}
	return nil
}

// add takes a piece of a line; more tells that another follows.
func (l *scanLine) add(chunk []byte, more bool, find func([]byte) (int, int)) {
	if room := maxShownLine - len(l.head); room > 0 {
		l.head = append(l.head, chunk[:min(room, len(chunk))]...)
	}
	hay, skew := chunk, l.length
	if len(l.tail) > 0 {
		hay, skew = append(l.tail, chunk...), l.length-len(l.tail)
	}
	if l.column == 0 {
		if begin, end := find(hay); begin >= 0 {
			l.column = skew + begin + 1
			l.shown = around(hay, begin, end, skew > 0, more)
		}
	}
	l.length += len(chunk)
	l.long = l.length > len(l.head)
	l.tail = nil
	if more {
		l.tail = bytes.Clone(hay[max(len(hay)-overlap, 0):])
	}
}

// around cuts what is shown of a long line: the match, and more behind than
// before it.
func around(hay []byte, begin, end int, cutBefore, cutAfter bool) string {
	from, to := 0, len(hay)
	if len(hay) > maxShownLine {
		from = max(begin-maxShownLine/4, 0)
		to = min(max(from+maxShownLine, min(end, begin+maxShownLine)), len(hay))
	}
	text := strings.ToValidUTF8(string(hay[from:to]), "")
	if from > 0 || cutBefore {
		text = "…" + text
	}
	if to < len(hay) || cutAfter {
		text += "…"
	}
	return text
}

// text is what is shown of a line that is context.
func (l *scanLine) text() string {
	text := strings.ToValidUTF8(string(l.head), "\uFFFD")
	if l.long {
		return strings.ToValidUTF8(string(l.head), "") + "…"
	}
	return text
}

// emit puts a line that matches, or that is context, into the result.
func (f *fileScan) emit(number int, l *scanLine) {
	s := f.s
	if l.column > 0 && (len(s.data.Matches) >= s.limit || s.out.Len() >= maxSearchText) {
		s.stop, s.data.Truncated = true, true
		return
	}
	if l.column == 0 && s.context == 0 {
		return
	}
	text := l.text()
	for i := len(s.data.Matches) - 1; i >= f.first && number-s.data.Matches[i].Line <= s.context; i-- {
		s.data.Matches[i].After = append(s.data.Matches[i].After, text)
	}
	switch {
	case l.column > 0:
		f.heading(number)
		for i, b := range f.before {
			if n := number - len(f.before) + i; n > f.printed {
				fmt.Fprintf(&s.out, "%d- %s\n", n, b)
			}
		}
		fmt.Fprintf(&s.out, "%d: %s\n", number, l.shown)
		s.data.Matches = append(s.data.Matches, match{
			Path: dataName(f.name), Line: number, Column: l.column, Text: l.shown,
			Before: append([]string(nil), f.before...),
		})
		f.pending, f.printed = s.context, number
	case f.pending > 0:
		fmt.Fprintf(&s.out, "%d- %s\n", number, text)
		f.pending--
		f.printed = number
	}
	if s.context > 0 {
		f.before = append(f.before, text)
		if len(f.before) > s.context {
			f.before = f.before[1:]
		}
	}
}

// heading writes the file's name before its first match, and a line between
// matches that are apart.
func (f *fileScan) heading(number int) {
	switch {
	case f.printed == 0:
		if f.s.out.Len() > 0 {
			f.s.out.WriteByte('\n')
		}
		f.s.out.WriteString(wspath.Show(f.name) + "\n")
	case f.s.context > 0 && number-len(f.before) > f.printed+1:
		f.s.out.WriteString("--\n")
	}
}
