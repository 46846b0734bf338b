package markdown

import (
	"bytes"
	"strings"

	"github.com/fettle-cli/fettle/commands/term"
)

const (
	// maxHeldRows is how many rows settle a table's widths: it appears then,
	// since nobody waits for a table of a thousand rows.
	maxHeldRows = 64
	// maxHeldBytes does the same for rows that are long.
	maxHeldBytes = 64 << 10
	// maxColumns bounds the work of a row that is nothing but bars.
	maxColumns = 128

	narrowColumn = 4  // no column is narrower, if its text is wider
	wordColumn   = 16 // words up to this are not broken while there is room
)

type align int

const (
	alignLeft align = iota
	alignCentre
	alignRight
)

// cell is the text of one cell with its looks.
type cell struct {
	runs []textRun
}

type textRun struct {
	text []byte
	look attr
}

func (c *cell) text(p []byte, look attr) {
	p = bytes.ReplaceAll(p, []byte("\t"), []byte(" ")) // a copy, in any case
	c.runs = append(c.runs, textRun{p, look})
}

func (c *cell) newline() { c.text([]byte(" "), 0) }

// widths gives the columns that a cell wants and those of its longest word.
func (c *cell) widths() (all, word int) {
	var b []byte
	for _, r := range c.runs {
		b = append(b, r.text...)
	}
	words := bytes.Fields(b)
	for _, w := range words {
		word = max(word, term.Cells(string(w)))
	}
	return term.Cells(strings.TrimSpace(string(b))), word
}

// table holds rows until their widths are settled, and draws.
type table struct {
	lay    *layout
	spans  *spans
	aligns []align
	head   []cell
	rows   [][]cell
	bytes  int
	widths []int // nil until settled; empty where no grid fits
	ruled  bool  // rows have a line between them, since cells have several
	drawn  int   // rows
}

// newTable begins a table with its head and the line below it.
func newTable(lay *layout, s *spans, head, delimiters []byte) *table {
	t := &table{lay: lay, spans: s}
	for _, d := range splitRow(delimiters) {
		a := alignLeft
		switch left, right := d[0] == ':', d[len(d)-1] == ':'; {
		case left && right:
			a = alignCentre
		case right:
			a = alignRight
		}
		t.aligns = append(t.aligns, a)
	}
	look := attr(0)
	if lay.on {
		look = bold
	}
	t.head = t.cells(head, look)
	return t
}

// delimits tells whether a line is the second of a table whose first is head.
func delimits(p, head []byte) bool {
	if bytes.IndexByte(p, '|') < 0 {
		return false
	}
	cells := splitRow(p)
	for _, c := range cells {
		c = bytes.TrimSuffix(bytes.TrimPrefix(c, []byte(":")), []byte(":"))
		if len(c) == 0 || len(bytes.Trim(c, "-")) > 0 {
			return false
		}
	}
	return len(cells) > 0 && len(cells) <= maxColumns && len(cells) == len(splitRow(head))
}

// splitRow cuts a row at its bars, save those that are escaped.
func splitRow(p []byte) [][]byte {
	p = bytes.TrimPrefix(bytes.TrimSpace(p), []byte("|"))
	if n := len(p); n > 0 && p[n-1] == '|' && (n < 2 || p[n-2] != '\\') {
		p = p[:n-1]
	}
	var cells [][]byte
	start := 0
	for i := 0; i <= len(p); i++ {
		switch {
		case i < len(p) && p[i] == '\\':
			i++
		case i == len(p) || p[i] == '|':
			cells = append(cells, bytes.TrimSpace(p[start:i]))
			start = i + 1
			if len(cells) > maxColumns {
				return cells
			}
		}
	}
	if start <= len(p) && len(p) > 0 && p[len(p)-1] == '\\' {
		cells = append(cells, bytes.TrimSpace(p[start:])) // the row ends in an escape
	}
	return cells
}

// cells renders a row's cells. What is too much for the head goes into the
// last one, so that nothing is hidden.
func (t *table) cells(row []byte, look attr) []cell {
	parts := splitRow(row)
	n := len(t.aligns)
	if len(parts) > n {
		parts = append(parts[:n-1:n-1], bytes.Join(parts[n-1:], []byte(" | ")))
	}
	cells := make([]cell, n)
	for i, p := range parts {
		p = bytes.ReplaceAll(p, []byte(`\|`), []byte("|"))
		switch {
		case len(p) == 0:
		case marker(p) == len(p):
			cells[i].text(p, look)
		default:
			t.spans.render(p, 0, 0, look, &cells[i])
		}
	}
	return cells
}

// add takes a row.
func (t *table) add(row []byte) {
	cells := t.cells(row, 0)
	if t.widths != nil {
		t.draw(cells)
		return
	}
	t.rows = append(t.rows, cells)
	if t.bytes += len(row); len(t.rows) >= maxHeldRows || t.bytes >= maxHeldBytes {
		t.settle()
	}
}

// end draws what is held.
func (t *table) end() {
	if t.widths == nil {
		t.settle()
	}
}

// settle fixes the widths and draws the rows so far.
func (t *table) settle() {
	t.widths = t.fit()
	rows := t.rows
	t.rows = nil
	if len(t.widths) == 0 {
		for _, r := range rows {
			t.draw(r)
		}
		if len(rows) == 0 {
			t.record(make([]cell, len(t.head)))
		}
		return
	}
	for _, r := range rows {
		for i := range r {
			all, _ := r[i].widths()
			t.ruled = t.ruled || all > t.widths[i]
		}
	}
	t.grid(t.head)
	t.bar()
	for _, r := range rows {
		t.draw(r)
	}
}

// draw writes one row.
func (t *table) draw(r []cell) {
	switch {
	case len(t.widths) == 0 && t.drawn > 0:
		t.lay.blank()
		t.record(r)
	case len(t.widths) == 0:
		t.record(r)
	default:
		if t.ruled && t.drawn > 0 {
			t.bar()
		}
		t.grid(r)
	}
	t.drawn++
}

// record writes a row as lines of "head: cell", where the columns don't fit
// beside each other.
func (t *table) record(r []cell) {
	for i := range r {
		for _, run := range t.head[i].runs {
			t.lay.text(run.text, run.look)
		}
		t.lay.text([]byte(": "), 0)
		for _, run := range r[i].runs {
			t.lay.text(run.text, run.look)
		}
		t.lay.newline()
	}
}

// bars gives what tables are drawn with.
func (t *table) bars() (bar, rule, cross string) {
	if t.lay.on {
		return "│", "─", "─┼─"
	}
	return "|", "-", "-|-"
}

// bar draws a line across.
func (t *table) bar() {
	_, rule, cross := t.bars()
	var b strings.Builder
	for i, w := range t.widths {
		if i > 0 {
			b.WriteString(cross)
		}
		b.WriteString(strings.Repeat(rule, w))
	}
	t.lay.line(b.String(), dim)
}

// grid draws a row; each cell is wrapped to its column.
func (t *table) grid(r []cell) {
	lines := 1
	boxes := make([]box, len(r))
	for i := range r {
		boxes[i] = t.wrap(&r[i], t.widths[i])
		lines = max(lines, len(boxes[i].lines))
	}
	t.lay.newline()
	for n := range lines {
		t.gridLine(boxes, n)
	}
}

// gridLine draws the nth line of a row. Spaces are written once something
// follows them, so that no line ends in them.
func (t *table) gridLine(boxes []box, n int) {
	l := t.lay
	l.begin()
	spaces := 0
	put := func(p []byte, look attr) {
		for range spaces {
			l.out = append(l.out, ' ')
		}
		spaces = 0
		l.mark(string(p), look)
	}
	bar, _, _ := t.bars()
	for i, b := range boxes {
		if i > 0 {
			spaces++
			put([]byte(bar), dim)
			spaces++
		}
		text, width := b.line(n)
		pad := t.widths[i] - width
		front := 0
		switch t.aligns[i] {
		case alignCentre:
			front = pad / 2
		case alignRight:
			front = pad
		}
		spaces += front
		if len(text) > 0 {
			put(text, 0)
		}
		spaces += pad - front
	}
	l.breakLine()
}

// box is a wrapped cell.
type box struct {
	lines  [][]byte
	widths []int
}

func (b box) line(n int) ([]byte, int) {
	if n >= len(b.lines) {
		return nil, 0
	}
	return b.lines[n], b.widths[n]
}

func (t *table) wrap(c *cell, width int) box {
	l := layout{width: max(width, 1), on: t.lay.on, hard: true}
	for _, r := range c.runs {
		l.text(r.text, r.look)
	}
	l.newline()
	if len(l.out) == 0 {
		return box{}
	}
	return box{bytes.Split(bytes.TrimSuffix(l.out, []byte("\n")), []byte("\n")), l.widths}
}

// fit gives each column the width that it wants if all do fit, else shares
// out what there is: the widest give first, down to their longest word, then
// below it. It gives nothing where that is too narrow to read.
func (t *table) fit() []int {
	n := len(t.head)
	want, least := make([]int, n), make([]int, n)
	for _, r := range append([][]cell{t.head}, t.rows...) {
		for i := range r {
			all, word := r[i].widths()
			want[i] = max(want[i], all)
			want[i] = max(want[i], 1)
			least[i] = max(least[i], 1, min(word, wordColumn), min(all, narrowColumn))
		}
	}
	room := t.lay.room() - 3*(n-1)
	if sum(least) > room {
		for i := range least {
			least[i] = min(least[i], narrowColumn)
		}
	}
	if sum(least) > room {
		return []int{}
	}
	// The highest bound that all columns can be cut to and fit.
	lo, hi := 0, room
	for lo < hi {
		mid := (lo + hi + 1) / 2
		if sum(bounded(want, least, mid)) <= room {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	widths := bounded(want, least, lo)
	for i := range widths {
		if sum(widths) < room && widths[i] < want[i] {
			widths[i]++ // what the division left over
		}
	}
	return widths
}

func bounded(want, least []int, bound int) []int {
	w := make([]int, len(want))
	for i := range w {
		w[i] = max(least[i], min(want[i], bound))
	}
	return w
}

func sum(ns []int) int {
	total := 0
	for _, n := range ns {
		total += n
	}
	return total
}
