package markdown

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// reference renders a whole document that goldmark has parsed, blocks and all,
// through the same layout. It is what streaming has to come to. It knows no
// tables, and takes no reference definitions.
func reference(src string, width int, on bool) string {
	lay := &layout{width: width, on: on}
	b := newBlocks(lay)
	p := parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithInlineParsers(
			util.Prioritized(parser.NewCodeSpanParser(), 1),
			util.Prioritized(parser.NewLinkParser(), 2),
			util.Prioritized(parser.NewAutoLinkParser(), 3),
			util.Prioritized(parser.NewRawHTMLParser(), 4),
			util.Prioritized(parser.NewEmphasisParser(), 5),
			util.Prioritized(strikeParser{}, 6),
		),
	)
	r := &referee{b: b, lay: lay, src: []byte(src)}
	doc := p.Parse(text.NewReader(r.src))
	r.children(doc)
	lay.newline()
	return string(lay.out)
}

type referee struct {
	b   *blocks
	lay *layout
	src []byte
}

func (r *referee) children(n ast.Node) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		r.block(c)
	}
}

func (r *referee) inline(n ast.Node, look attr) {
	w := spanWalk{on: r.lay.on, out: r.lay, src: r.src, to: len(r.src)}
	w.children(n, look)
}

func (r *referee) lines(n ast.Node) []string {
	var out []string
	for i := range n.Lines().Len() {
		seg := n.Lines().At(i)
		out = append(out, strings.TrimRight(string(seg.Value(r.src)), "\n"))
	}
	return out
}

func (r *referee) block(n ast.Node) {
	blank := n.HasBlankPreviousLines()
	if _, ok := n.(*ast.Heading); ok && !r.lay.awaits() {
		blank = true
	}
	if blank && r.lay.begun && !r.lay.awaits() && !bytes.HasSuffix(r.lay.out, []byte("\n\n")) && !bytes.HasSuffix(r.lay.out, []byte("│"+reset+"\n")) {
		r.lay.blank()
	}
	switch n := n.(type) {
	case *ast.List:
		number := n.Start
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			if c.HasBlankPreviousLines() && c != n.FirstChild() {
				r.lay.blank()
			}
			r.item(n, c, number)
			number++
		}
	case *ast.Blockquote:
		r.lay.push(container{}.mark(r.lay.on))
		r.children(n)
		r.lay.pop()
	default:
		r.leaf(n)
	}
}

func (r *referee) item(list *ast.List, n ast.Node, number int) {
	k := container{item: true, sign: sign{kind: signItem, width: 1, char: list.Marker}}
	if list.IsOrdered() {
		k.sign.width, k.sign.number = 2, number
	}
	r.lay.push(k.mark(r.lay.on))
	r.children(n)
	r.lay.pop()
}

func (r *referee) leaf(n ast.Node) {
	switch n := n.(type) {
	case *ast.Heading:
		r.heading(n)
	case *ast.ThematicBreak:
		r.b.begin(plan{kind: lineRule})
	case *ast.FencedCodeBlock:
		r.fenced(n)
	case *ast.CodeBlock:
		for _, l := range r.lines(n) {
			if strings.TrimSpace(l) == "" {
				r.lay.endVerbatim()
				continue
			}
			r.lay.verbatim([]byte("    " + l))
			r.lay.endVerbatim()
		}
	case *ast.HTMLBlock:
		for _, l := range r.lines(n) {
			r.lay.line(l, dim)
		}
		if n.HasClosure() {
			r.lay.line(strings.TrimRight(string(n.ClosureLine.Value(r.src)), "\n"), dim)
		}
	default:
		r.inline(n, 0)
		r.lay.newline()
	}
}

// heading tells the two kinds apart by the source, since goldmark doesn't.
func (r *referee) heading(n *ast.Heading) {
	look := bold
	switch {
	case n.Level == 1:
		look |= underline
	case n.Level > 2:
		look |= italic
	}
	if !r.lay.on {
		look = bold
		r.lay.text([]byte(strings.Repeat("#", n.Level)+" "), 0)
	}
	r.inline(n, look)
	r.lay.newline()
}

func (r *referee) fenced(n *ast.FencedCodeBlock) {
	info := ""
	if n.Info != nil {
		info = string(n.Info.Segment.Value(r.src))
	}
	r.b.fence = sign{char: '`', width: 3}
	r.b.openFence([]byte("```" + info))
	for _, l := range r.lines(n) {
		r.lay.verbatim([]byte(l))
		r.lay.endVerbatim()
	}
}
