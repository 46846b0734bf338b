package live

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/fettle-cli/fettle/commands/term"
)

const (
	// foldLines and foldBytes are what a paste may have and still be shown.
	foldLines = 6
	foldBytes = 1200
	// firstFold is the rune that stands for the first fold; no text has it,
	// since it is for private use and taken out of what comes in.
	firstFold = 0xF0000
	maxFolds  = 1000
	// maxUndo is how many changes can be taken back.
	maxUndo = 200
	// maxLine bounds what is typed, which is looked at as a whole.
	maxLine = 64 << 10
)

// Editor is the line that a person types, of one row or more.
type Editor struct {
	text  string
	at    int // the cursor, in bytes
	folds []string
	kill  string
	undo  []state
	last  change // what the last key did, for undo and for killing on
	plain bool   // nothing is folded
}

type state struct {
	text string
	at   int
}

type change int

const (
	moved change = iota
	typed
	killed
)

// Text is what was typed, with folds as they were pasted.
func (e *Editor) Text() string {
	var b strings.Builder
	for _, r := range e.text {
		if fold, ok := e.fold(r); ok {
			b.WriteString(fold)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Shown is what was typed, with a few words for each fold.
func (e *Editor) Shown() string {
	var b strings.Builder
	for _, r := range e.text {
		b.WriteString(e.shown(r))
	}
	return b.String()
}

// Empty tells whether nothing is typed.
func (e *Editor) Empty() bool { return e.text == "" }

// Before and After are the text on both sides of the cursor.
func (e *Editor) Before() string { return e.text[:e.at] }

// After is the text behind the cursor.
func (e *Editor) After() string { return e.text[e.at:] }

// Set replaces all of it; the cursor goes to the end. It can be taken back.
func (e *Editor) Set(text string) {
	e.keep(moved)
	e.text = clean(text)
	e.at = len(e.text)
}

// Reset empties the line, and forgets folds and what could be taken back.
func (e *Editor) Reset() {
	*e = Editor{kill: e.kill, plain: e.plain}
}

// Replace puts text in the place of the last n bytes before the cursor.
func (e *Editor) Replace(n int, text string) {
	e.keep(moved)
	e.put(e.at-min(n, e.at), e.at, clean(text))
}

func (e *Editor) put(from, to int, text string) {
	if text != "" && len(e.text)-(to-from)+len(text) > maxLine {
		return
	}
	e.text = e.text[:from] + text + e.text[to:]
	e.at = from + len(text)
}

func (e *Editor) fold(r rune) (string, bool) {
	if i := int(r) - firstFold; i >= 0 && i < len(e.folds) {
		return e.folds[i], true
	}
	return "", false
}

func (e *Editor) shown(r rune) string {
	fold, ok := e.fold(r)
	if !ok {
		return string(r)
	}
	n := strings.Count(strings.TrimSuffix(fold, "\n"), "\n") + 1
	if n == 1 {
		return fmt.Sprintf("[paste %d: %s]", int(r)-firstFold+1, term.Size(int64(len(fold))))
	}
	return fmt.Sprintf("[paste %d: %d lines]", int(r)-firstFold+1, n)
}

// Paste puts a paste at the cursor: as it is, or folded where it is long.
func (e *Editor) Paste(text string) {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	e.keep(moved)
	long := strings.Count(strings.TrimSuffix(text, "\n"), "\n") >= foldLines || len(text) > foldBytes
	if long && len(e.folds) < maxFolds {
		e.folds = append(e.folds, text)
		e.put(e.at, e.at, string(rune(firstFold+len(e.folds)-1)))
		return
	}
	e.put(e.at, e.at, clean(text))
}

// clean takes out what can't be typed.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case r == '\t':
			return ' '
		case unicode.IsControl(r), r >= firstFold:
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

// keep remembers the text for undo; typing on is one change.
func (e *Editor) keep(c change) {
	if c != typed || e.last != typed {
		e.undo = append(e.undo, state{e.text, e.at})
		if len(e.undo) > maxUndo {
			e.undo = e.undo[1:]
		}
	}
	e.last = c
}

// Key edits by one key, and tells whether the editor knows it.
func (e *Editor) Key(k Key) bool {
	if k.Name == Pasted {
		e.Paste(k.Text)
		return true
	}
	if k.Name == Text && !k.Ctrl && !k.Alt {
		e.keep(typed)
		e.put(e.at, e.at, clean(k.Text))
		return true
	}
	if e.moves(k) {
		e.last = moved
		return true
	}
	return e.deletes(k) || e.takesBack(k)
}

// moves handles the keys that only move the cursor.
func (e *Editor) moves(k Key) bool {
	switch {
	case k.Name == Left && (k.Ctrl || k.Alt), k.Name == Text && k.Alt && k.Text == "b":
		e.at = e.wordLeft(isWord)
	case k.Name == Right && (k.Ctrl || k.Alt), k.Name == Text && k.Alt && k.Text == "f":
		e.at = e.wordRight()
	case k.Name == Left, k.Is('b'):
		e.at = e.left()
	case k.Name == Right, k.Is('f'):
		e.at = e.right()
	case k.Name == Home, k.Is('a'):
		e.at = e.lineBegin()
	case k.Name == End, k.Is('e'):
		e.at = e.lineEnd()
	case k.Name == Up:
		return e.vertical(-1)
	case k.Name == Down:
		return e.vertical(1)
	default:
		return false
	}
	return true
}

// deletes handles the keys that take something out.
func (e *Editor) deletes(k Key) bool {
	from, to, kill := e.at, e.at, true
	switch {
	case k.Name == Backspace && k.Alt:
		from = e.wordLeft(isWord)
	case k.Name == Backspace:
		from, kill = e.left(), false
	case k.Name == Delete, k.Is('d'):
		to, kill = e.right(), false
	case k.Is('w'):
		from = e.wordLeft(func(r rune) bool { return !unicode.IsSpace(r) })
	case k.Name == Text && k.Alt && k.Text == "d":
		to = e.wordRight()
	case k.Is('u'):
		from = e.lineBegin()
	case k.Is('k'):
		if to = e.lineEnd(); to == e.at && to < len(e.text) {
			to++ // the line's end itself
		}
	default:
		return false
	}
	if from == to {
		return true
	}
	before := e.last
	e.keep(killed)
	cut := e.text[from:to]
	switch {
	case !kill:
		e.last = moved
	case before != killed:
		e.kill = cut
	case from < e.at:
		e.kill = cut + e.kill
	default:
		e.kill += cut
	}
	e.put(from, to, "")
	return true
}

// takesBack handles yank, transpose, undo and the line's own break.
func (e *Editor) takesBack(k Key) bool {
	switch {
	case k.Is('y'):
		e.keep(moved)
		e.put(e.at, e.at, e.kill)
	case k.Is('t'):
		e.transpose()
	case k.Is('_'):
		if n := len(e.undo); n > 0 {
			e.text, e.at = e.undo[n-1].text, e.undo[n-1].at
			e.undo = e.undo[:n-1]
		}
		e.last = moved
	case k.Is('j'), k.Name == Enter && (k.Alt || k.Shift || k.Ctrl):
		e.keep(moved)
		e.put(e.at, e.at, "\n")
	default:
		return false
	}
	return true
}

func (e *Editor) transpose() {
	if e.at == len(e.text) {
		e.at = e.left()
	}
	mid, from := e.at, e.left()
	to := e.right()
	if from == mid || mid == to {
		return
	}
	e.keep(moved)
	e.put(from, to, e.text[mid:to]+e.text[from:mid])
}

// left is the begin of the character before the cursor.
func (e *Editor) left() int {
	from := e.lineBegin()
	if from == e.at {
		return max(0, e.at-1) // the line break
	}
	last := from
	for rest, state := e.text[from:e.at], -1; rest != ""; {
		var c string
		c, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if rest != "" {
			last += len(c)
		}
	}
	return last
}

func (e *Editor) right() int {
	if e.at == len(e.text) {
		return e.at
	}
	c, _, _, _ := uniseg.FirstGraphemeClusterInString(e.text[e.at:], -1)
	return e.at + len(c)
}

func (e *Editor) lineBegin() int { return strings.LastIndexByte(e.text[:e.at], '\n') + 1 }

func (e *Editor) lineEnd() int {
	if i := strings.IndexByte(e.text[e.at:], '\n'); i >= 0 {
		return e.at + i
	}
	return len(e.text)
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r >= firstFold }

func (e *Editor) wordLeft(in func(rune) bool) int {
	at := e.at
	skip := func(want bool) {
		for at > 0 {
			r, n := utf8.DecodeLastRuneInString(e.text[:at])
			if in(r) != want {
				return
			}
			at -= n
		}
	}
	skip(false)
	skip(true)
	return at
}

func (e *Editor) wordRight() int {
	at := e.at
	skip := func(want bool) {
		for at < len(e.text) {
			r, n := utf8.DecodeRuneInString(e.text[at:])
			if isWord(r) != want {
				return
			}
			at += n
		}
	}
	skip(false)
	skip(true)
	return at
}

// vertical moves to the line above or below; there may be none.
func (e *Editor) vertical(by int) bool {
	begin := e.lineBegin()
	col := term.Cells(e.text[begin:e.at])
	var from int
	switch {
	case by < 0 && begin == 0:
		return false
	case by < 0:
		from = strings.LastIndexByte(e.text[:begin-1], '\n') + 1
	default:
		end := e.lineEnd()
		if end == len(e.text) {
			return false
		}
		from = end + 1
	}
	e.at = from
	for end := e.lineEnd(); e.at < end && term.Cells(e.text[from:e.at]) < col; {
		e.at = e.right()
	}
	return true
}
