package markdown

import (
	"bytes"
	"strings"

	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/term/code"
)

const (
	ruleWidth = 40 // of rules and fences: enough to see, and no wrapping later
	maxLabel  = 24 // of a language's name
)

// begin starts the block that a line begins.
func (b *blocks) begin(pl plan) {
	switch pl.kind {
	case linePara:
		b.leaf, b.mode = leafPara, modeText
		b.in.look = 0
		b.in.feed(pl.text)
	case linePipe:
		b.leaf, b.in.look = leafPara, 0
		b.hold(pl.text, true)
	case lineHeading:
		b.heading(pl)
	case lineFence:
		b.leaf, b.fence, b.indent = leafFence, pl.sign, pl.indent
		b.colour = nil
		b.openFence(pl.text)
		b.lay.colour = b.colour // not of the line above the code
	case lineIndented:
		b.leaf, b.lay.colour = leafIndented, nil
		b.indentedCode(pl.text)
	case lineHTML:
		b.leaf = leafHTML
		b.html, _ = htmlBlock(bytes.TrimLeft(pl.text, " \t"), false)
		b.htmlLine(pl.text)
	case lineRule:
		b.lay.line(b.rule("─", "---", min(ruleWidth, b.lay.room())), dim)
	}
}

// continued gives a line to the block that is open.
func (b *blocks) continued(pl plan) {
	switch pl.kind {
	case linePara:
		b.flushRow()
		b.in.newline()
		b.mode = modeText
		b.in.feed(pl.text)
	case linePipe:
		b.flushRow()
		b.hold(pl.text, false)
	case lineUnderline:
		b.underline(pl)
	case lineFenceEnd:
		fence := strings.Repeat(string(rune(b.fence.char)), b.fence.width)
		b.lay.line(b.rule("─", fence, min(ruleWidth, b.lay.room())), dim)
		b.leaf, b.lay.colour = leafNone, nil
	case lineCode:
		b.mode = modeCode
		b.lay.verbatim(pl.text)
	case lineIndented:
		for ; b.blanks > 0; b.blanks-- {
			b.lay.endVerbatim()
		}
		b.indentedCode(pl.text)
	case lineHTML:
		b.htmlLine(pl.text)
	case lineTable:
		b.openTable(pl.text)
	case lineRow:
		b.table.add(pl.text)
	}
}

// hold keeps a line that may be a table's head.
func (b *blocks) hold(p []byte, first bool) {
	b.row = append(b.row[:0], p...)
	b.hasRow, b.rowFirst = true, first
}

// flushRow shows a held line as text, since no table followed.
func (b *blocks) flushRow() {
	if !b.hasRow {
		return
	}
	b.hasRow = false
	if !b.rowFirst {
		b.in.newline()
	}
	b.in.feed(b.row)
}

func (b *blocks) openTable(delimiters []byte) {
	b.hasRow = false
	if !b.rowFirst {
		b.in.end()
		b.lay.newline()
	}
	b.leaf = leafTable
	b.table = newTable(b.lay, b.spans, b.row, delimiters)
}

// rule is a line, or the characters of the source where looks are off.
func (b *blocks) rule(sign, plain string, n int) string {
	if !b.lay.on {
		return plain
	}
	return strings.Repeat(sign, n)
}

func (b *blocks) heading(pl plan) {
	text := bytes.Trim(pl.text[pl.sign.width:], " \t")
	if end := bytes.TrimRight(text, "#"); len(end) == 0 || end[len(end)-1] == ' ' || end[len(end)-1] == '\t' {
		text = bytes.TrimRight(end, " \t")
	}
	look := bold
	switch {
	case !b.lay.on:
		b.lay.text(append(bytes.Repeat([]byte("#"), pl.sign.width), ' '), 0)
	case pl.sign.width == 1:
		look |= underline
	case pl.sign.width > 2:
		look |= italic
	}
	b.in.look = look
	b.in.feed(text)
	b.in.end()
	b.lay.newline()
}

// underline ends a paragraph that turns out to be a heading; its text is
// written already.
func (b *blocks) underline(pl plan) {
	b.flushRow()
	b.in.end()
	b.lay.endWord()
	width := min(max(b.lay.col-b.lay.left, 3), b.lay.room())
	b.lay.newline()
	b.leaf = leafNone
	sign := "─"
	if pl.sign.char == '=' {
		sign = "═"
	}
	b.lay.line(b.rule(sign, strings.Repeat(string(rune(pl.sign.char)), width), width), dim)
}

// openFence shows the line above a block of code, with its language.
func (b *blocks) openFence(line []byte) {
	info := strings.TrimSpace(string(line[b.fence.width:]))
	width := min(ruleWidth, b.lay.room())
	if !b.lay.on {
		b.lay.line(strings.Repeat(string(rune(b.fence.char)), b.fence.width)+info, 0)
		return
	}
	label, _, _ := strings.Cut(info, " ")
	if b.highlight {
		b.colour = code.New(label, term.NewStyle(term.Colours16))
	}
	if label = term.CutEnd(decode([]byte(label)), min(maxLabel, width-6)); label == "" {
		b.lay.line(strings.Repeat("─", width), dim)
		return
	}
	head := "── " + label + " "
	b.lay.line(head+strings.Repeat("─", width-term.Cells(head)), dim)
}

func (b *blocks) indentedCode(p []byte) {
	b.lay.verbatim([]byte("    "))
	b.lay.verbatim(p)
	b.mode = modeCode
}

// htmlLine shows a line of HTML as it is written.
func (b *blocks) htmlLine(p []byte) {
	b.lay.line(string(p), dim)
	if b.html != "" && b.html.ends(p) {
		b.leaf = leafNone
	}
}
