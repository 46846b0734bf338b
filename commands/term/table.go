package term

import (
	"fmt"
	"strings"
)

const (
	columnGap   = 2  // between two columns
	comfortable = 12 // a cuttable column is cut to this before any is cut further
	narrowest   = 4  // and to this at most: "ab…z"
)

// Column is one column of a Table.
type Column struct {
	Title string
	Cut   bool                // may be cut in the middle where the width wants it
	Prose bool                // what is cut of it is its end, not its middle
	Right bool                // numbers: aligned at the right
	Style func(string) string // colours a cell, once its width is settled
}

// Table prints an aligned list. On a terminal it has a dim header, fits the
// width and cuts the cells of columns that may be cut; elsewhere each row is a
// line of cells between tabs, whole and without a header, as programs want it.
// Nothing is written before Flush. A Table belongs to one goroutine.
type Table struct {
	out  *Output
	cols []Column
	rows [][]string
}

// NewTable begins a table for o.
func NewTable(o *Output, cols ...Column) *Table { return &Table{out: o, cols: cols} }

// Row adds a row. Cells are cleaned; missing ones are empty, and one too many
// is a mistake in the program.
func (t *Table) Row(cells ...string) {
	if len(cells) > len(t.cols) {
		panic(fmt.Sprintf("term: a row of %d cells in a table of %d columns", len(cells), len(t.cols)))
	}
	row := make([]string, len(t.cols))
	for i, c := range cells {
		row[i] = Clean(c)
	}
	t.rows = append(t.rows, row)
}

// Flush writes the rows and forgets them. Without rows it writes nothing.
func (t *Table) Flush() error {
	if len(t.rows) == 0 {
		return nil
	}
	var b strings.Builder
	if t.out.IsTerminal() {
		t.draw(&b)
	} else {
		for _, row := range t.rows {
			b.WriteString(strings.Join(row, "\t"))
			b.WriteByte('\n')
		}
	}
	t.rows = nil
	_, err := t.out.WriteString(b.String())
	return err
}

func (t *Table) draw(b *strings.Builder) {
	widths := t.fit(t.out.Width())
	titles := make([]string, len(t.cols))
	titled := false
	for i, c := range t.cols {
		titles[i] = c.Title
		titled = titled || c.Title != ""
	}
	if titled {
		dim := t.out.Style().Dim
		t.line(b, widths, titles, func(int) func(string) string { return dim })
	}
	for _, row := range t.rows {
		t.line(b, widths, row, func(i int) func(string) string { return t.cols[i].Style })
	}
}

// line draws one row; the last filled cell is not padded, so that no line ends
// in spaces.
func (t *Table) line(b *strings.Builder, widths []int, row []string, style func(int) func(string) string) {
	pad := 0
	for i, cell := range row {
		if t.cols[i].Prose {
			cell = CutEnd(cell, widths[i])
		} else {
			cell = CutMiddle(cell, widths[i])
		}
		space := widths[i] - Cells(cell)
		if cell != "" {
			if t.cols[i].Right {
				pad, space = pad+space, 0
			}
			b.WriteString(strings.Repeat(" ", pad))
			pad = 0
			if f := style(i); f != nil {
				cell = f(cell)
			}
			b.WriteString(cell)
		}
		pad += space + columnGap
	}
	b.WriteByte('\n')
}

// fit settles the widths: what each column wants, less what has to be cut, the
// widest cuttable column first.
func (t *Table) fit(limit int) []int {
	widths := make([]int, len(t.cols))
	total := -columnGap
	for i, c := range t.cols {
		widths[i] = Cells(c.Title)
		for _, row := range t.rows {
			widths[i] = max(widths[i], Cells(row[i]))
		}
		if c.Cut && limit > 0 {
			widths[i] = min(widths[i], limit)
		}
		total += widths[i] + columnGap
	}
	for _, floor := range []int{comfortable, narrowest} {
		for limit > 0 && total > limit {
			i := t.widest(widths, floor)
			if i < 0 {
				break
			}
			widths[i]--
			total--
		}
	}
	return widths
}

// widest gives the widest column that may be cut and is wider than floor, or -1.
func (t *Table) widest(widths []int, floor int) int {
	at := -1
	for i, c := range t.cols {
		if c.Cut && widths[i] > max(floor, Cells(c.Title)) && (at < 0 || widths[i] > widths[at]) {
			at = i
		}
	}
	return at
}
