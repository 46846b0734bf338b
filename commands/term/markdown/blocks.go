package markdown

import (
	"bytes"
	"strconv"

	"github.com/fettle-cli/fettle/commands/term/code"
)

const (
	// maxDepth bounds quotes and items inside each other; deeper ones are
	// text. Each line is matched against all of them.
	maxDepth = 32
	// maxStart is how long the begin of a line is read anew with each chunk;
	// after it the line is read once, at its end.
	maxStart = 256
	// maxLine bounds a line that has to be seen whole; one that is longer is
	// taken as if it ended there.
	maxLine = 64 << 10
)

// leaf is the block that takes the lines' text.
type leaf int

const (
	leafNone leaf = iota
	leafPara
	leafFence
	leafIndented
	leafHTML
	leafTable
)

// container is a quote or an item.
type container struct {
	item   bool
	indent int  // columns that an item's lines have to be indented
	empty  bool // an item that has no text yet
	sign   sign
	box    byte
}

// mode is what happens to the rest of a line.
type mode int

const (
	modeStart mode = iota // it is undecided what the line is
	modeHold              // it has to be seen whole
	modeText
	modeCode
)

// blocks finds the blocks of a document, line by line, and renders them.
type blocks struct {
	lay   *layout
	spans *spans
	in    inline

	mode  mode
	line  []byte // the undecided begin of a line
	stack []container
	leaf  leaf

	fence  sign
	indent int // of the fence

	highlight bool           // code is coloured
	colour    *code.Colourer // of the fence
	html      htmlEnd
	table     *table

	row      []byte // a paragraph's last line, if a table may begin with it
	hasRow   bool
	rowFirst bool // it is the paragraph's first line too

	blanks int    // empty lines since the last block
	lists  []sign // by depth, the last item of the list that may go on there
}

func newBlocks(lay *layout) *blocks {
	s := newSpans(lay.on)
	return &blocks{lay: lay, spans: s, in: inline{out: lay, spans: s}}
}

// feed takes clean text.
func (b *blocks) feed(p []byte) {
	for len(p) > 0 {
		n := bytes.IndexByte(p, '\n')
		if n < 0 {
			b.part(p)
			return
		}
		b.part(p[:n])
		b.endLine()
		p = p[n+1:]
	}
}

// part takes a piece of a line.
func (b *blocks) part(p []byte) {
	for len(p) > 0 {
		switch b.mode {
		case modeText:
			b.in.feed(p)
			return
		case modeCode:
			b.lay.verbatim(p)
			return
		}
		n := min(len(p), maxLine-len(b.line))
		b.line = append(b.line, p[:n]...)
		p = p[n:]
		full := len(b.line) == maxLine
		if b.mode == modeHold && !full {
			return
		}
		pl, w := b.decide(false)
		switch {
		case w == wantsNothing:
			b.apply(pl)
		case full:
			b.endLine()
		case w == wantsLine || len(b.line) > maxStart:
			b.mode = modeHold
		}
	}
}

// endLine takes a line's end.
func (b *blocks) endLine() {
	if b.mode == modeStart || b.mode == modeHold {
		pl, _ := b.decide(true)
		b.apply(pl)
	}
	switch {
	case b.mode == modeCode:
		b.lay.endVerbatim()
	case b.mode == modeText && !b.in.held:
		b.lay.endWord() // its last word needn't wait for the next line
	}
	b.mode = modeStart
	b.line = b.line[:0]
}

// close takes the document's end.
func (b *blocks) close() {
	if len(b.line) > 0 || b.mode != modeStart {
		b.endLine()
	}
	b.closeTo(0)
	b.lay.newline()
}

// closeTo ends the leaf and the containers from depth n on.
func (b *blocks) closeTo(n int) {
	b.closeLeaf()
	for len(b.stack) > n {
		b.lay.pop()
		b.stack = b.stack[:len(b.stack)-1]
	}
	b.lists = b.lists[:min(len(b.lists), n+1)]
}

func (b *blocks) closeLeaf() {
	switch b.leaf {
	case leafPara:
		b.flushRow()
		b.in.end()
		b.lay.newline()
	case leafTable:
		b.table.end()
		b.table = nil
	}
	b.leaf = leafNone
}

// apply does what a line was found to be.
func (b *blocks) apply(pl plan) {
	if pl.kind == lineBlank {
		if b.leaf != leafIndented || pl.matched < len(b.stack) {
			b.closeTo(pl.matched)
		}
		b.blanks++
		return
	}
	if pl.goesOn {
		b.continued(pl)
		return
	}
	b.closeTo(pl.matched)
	heading := pl.kind == lineHeading && len(pl.open) == 0 && !b.lay.awaits()
	if (b.blanks > 0 || heading) && b.lay.begun {
		b.lay.blank()
	}
	b.blanks = 0
	for _, c := range pl.open {
		b.push(c)
	}
	if len(b.lists) > len(b.stack) {
		b.lists = b.lists[:len(b.stack)] // a list is ended by any other block
	}
	for i := range b.stack {
		b.stack[i].empty = false
	}
	if pl.kind == lineEmpty {
		b.stack[len(b.stack)-1].empty = true // matters for items
		return
	}
	b.begin(pl)
}

// push opens a container with its mark.
func (b *blocks) push(c container) {
	depth := len(b.stack)
	for len(b.lists) <= depth {
		b.lists = append(b.lists, sign{})
	}
	if c.item && c.sign.char != 0 && c.sign.width > 1 {
		if last := b.lists[depth]; last.kind == signItem && last.char == c.sign.char && last.width > 1 {
			c.sign.number = last.number + 1
		}
	}
	b.lists[depth] = c.sign
	b.stack = append(b.stack, c)
	b.lay.push(c.mark(b.lay.on))
}

func (c container) mark(on bool) mark {
	if !c.item {
		if on {
			return mark{first: "│ ", rest: "│ ", look: dim}
		}
		return mark{first: "> ", rest: "> "}
	}
	var s string
	switch {
	case c.sign.width > 1:
		s = strconv.Itoa(c.sign.number) + string(rune(c.sign.char)) + " "
	case !on:
		s = "- "
	case c.box == 0:
		s = "• "
	}
	switch {
	case c.box == 'x' && on:
		s += "☑ "
	case c.box != 0 && on:
		s += "☐ "
	case c.box == 'x':
		s += "[x] "
	case c.box != 0:
		s += "[ ] "
	}
	return mark{first: s, rest: spaces(s)}
}

// spaces is as wide as a bullet.
func spaces(s string) string {
	n := 0
	for range s {
		n++ // no bullet has a wide character
	}
	return string(bytes.Repeat([]byte(" "), n))
}
