package markdown

// lineKind is what a line is found to be.
type lineKind int

const (
	lineBlank lineKind = iota
	linePara
	linePipe // text of a paragraph that may be a table's head
	lineHeading
	lineUnderline
	lineFence
	lineFenceEnd
	lineCode
	lineIndented
	lineHTML
	lineRule
	lineTable // the second line of a table
	lineRow
	lineEmpty // quotes and items that have no text yet
)

// plan is what a line does: it goes on in the first matched containers, opens
// others, and is of a kind there.
type plan struct {
	kind    lineKind
	matched int
	open    []container
	goesOn  bool // the leaf that is open takes the line
	sign    sign
	indent  int // columns in front of a fence
	text    []byte
}

// decide reads the line at hand without changing anything.
func (b *blocks) decide(whole bool) (plan, wants) {
	c := &cursor{p: b.line, whole: whole}
	var pl plan
	for pl.matched < len(b.stack) {
		ok, w := b.stack[pl.matched].matches(c)
		if w != wantsNothing {
			return pl, w
		}
		if !ok {
			return b.starts(pl, c)
		}
		pl.matched++
	}
	switch b.leaf {
	case leafFence:
		return b.inFence(pl, c)
	case leafHTML:
		return b.inHTML(pl, c)
	}
	return b.starts(pl, c)
}

// matches tells whether a line goes on in the container, and goes over what
// belongs to it.
func (k container) matches(c *cursor) (bool, wants) {
	cols, next, ok := c.indent()
	if !ok {
		return false, wantsSome
	}
	if !k.item {
		if cols > 3 || next == len(c.p) || c.p[next] != '>' {
			return false, wantsNothing
		}
		return c.quote(cols)
	}
	if next == len(c.p) {
		c.skip(min(cols, k.indent))
		return !k.empty, wantsNothing
	}
	if cols < k.indent {
		return false, wantsNothing
	}
	c.skip(k.indent)
	return true, wantsNothing
}

// quote goes over a > and the space after it.
func (c *cursor) quote(indent int) (bool, wants) {
	c.skip(indent)
	c.take(1)
	if c.i == len(c.p) && !c.whole {
		return false, wantsSome
	}
	c.skip(1)
	return true, wantsNothing
}

func (b *blocks) inFence(pl plan, c *cursor) (plan, wants) {
	cols, next, ok := c.indent()
	if !ok {
		return pl, wantsSome
	}
	if cols <= 3 && next < len(c.p) && c.p[next] == b.fence.char {
		ends, w := closesFence(c.p[next:], b.fence.char, b.fence.width, c.whole)
		if w != wantsNothing {
			return pl, w
		}
		if ends {
			pl.kind, pl.goesOn = lineFenceEnd, true
			return pl, wantsNothing
		}
	}
	c.skip(min(cols, b.indent))
	pl.kind, pl.goesOn, pl.text = lineCode, true, c.rest()
	return pl, wantsNothing
}

func (b *blocks) inHTML(pl plan, c *cursor) (plan, wants) {
	if !c.whole {
		return pl, wantsLine
	}
	if blank, _ := c.blank(); blank && b.html == "" {
		return b.starts(pl, c)
	}
	pl.kind, pl.goesOn, pl.text = lineHTML, true, c.rest()
	return pl, wantsNothing
}

// starts reads what begins on the line after the matched containers.
func (b *blocks) starts(pl plan, c *cursor) (plan, wants) {
	for {
		cols, next, ok := c.indent()
		if !ok {
			return pl, wantsSome
		}
		if next == len(c.p) {
			if len(pl.open) > 0 {
				pl.kind = lineEmpty
			}
			return pl, wantsNothing
		}
		fresh := len(pl.open) == 0
		all := fresh && pl.matched == len(b.stack)
		if cols >= tabStop {
			return b.indented(pl, c, all)
		}
		ctx := context{whole: c.whole, para: all && b.leaf == leafPara}
		ctx.lazy = fresh && b.leaf == leafPara
		ctx.heldRow = ctx.para && b.hasRow
		if ctx.heldRow && c.whole && delimits(c.p[next:], b.row) {
			pl.kind, pl.goesOn, pl.text = lineTable, true, c.p[next:]
			return pl, wantsNothing
		}
		s, w := read(c.p[next:], ctx)
		if w != wantsNothing {
			return pl, w
		}
		if s.kind != signQuote && s.kind != signItem || pl.matched+len(pl.open) >= maxDepth {
			return b.leafOf(pl, c, s, all)
		}
		if w := pl.contain(c, s, cols); w != wantsNothing {
			return pl, w
		}
	}
}

// indented reads a line with four columns or more in front of its text.
func (b *blocks) indented(pl plan, c *cursor, all bool) (plan, wants) {
	if len(pl.open) == 0 && b.leaf == leafPara || all && b.leaf == leafTable {
		return b.leafOf(pl, c, sign{}, all)
	}
	pl.kind, pl.goesOn = lineIndented, all && b.leaf == leafIndented
	c.skip(tabStop)
	pl.text = c.rest()
	return pl, wantsNothing
}

// contain opens a quote or an item.
func (pl *plan) contain(c *cursor, s sign, cols int) wants {
	if s.kind == signQuote {
		_, w := c.quote(cols)
		if w == wantsNothing {
			pl.open = append(pl.open, container{})
		}
		return w
	}
	c.skip(cols)
	c.take(s.width)
	gap, next, ok := c.indent()
	if !ok {
		return wantsSome
	}
	k := container{item: true, sign: s, indent: cols + s.width + 1}
	switch {
	case next == len(c.p):
		c.skip(gap)
	case gap > tabStop:
		c.skip(1)
	default:
		k.indent += gap - 1
		c.skip(gap)
		box, w := task(c.p[c.i:], c.whole)
		if w != wantsNothing {
			return w
		}
		if k.box = box; box != 0 {
			c.take(3)
		}
	}
	pl.open = append(pl.open, k)
	return wantsNothing
}

// leafOf settles what a line's text is.
func (b *blocks) leafOf(pl plan, c *cursor, s sign, all bool) (plan, wants) {
	cols, next, _ := c.indent()
	pl.sign, pl.indent, pl.text = s, cols, c.p[next:]
	switch s.kind {
	case signHeading:
		pl.kind = lineHeading
	case signFence:
		pl.kind = lineFence
	case signRule:
		pl.kind = lineRule
	case signUnderline:
		pl.kind, pl.goesOn = lineUnderline, true
	case signHTML:
		pl.kind, pl.text = lineHTML, c.rest()
	default:
		if all && b.leaf == leafTable {
			pl.kind, pl.goesOn = lineRow, true
			if !c.whole {
				return pl, wantsLine
			}
			return pl, wantsNothing
		}
		pl.kind = linePara
		pl.goesOn = len(pl.open) == 0 && b.leaf == leafPara // also where containers are left out
		if s.kind == signTable && (all || !pl.goesOn) {
			pl.kind = linePipe
		}
	}
	return pl, wantsNothing
}
