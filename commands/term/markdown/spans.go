package markdown

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/fettle-cli/fettle/commands/term"
)

// sink takes text with its look; layout is one.
type sink interface {
	text(p []byte, look attr)
	newline()
}

// spans renders finished pieces of text through goldmark.
type spans struct {
	parser parser.Parser
	on     bool
}

// newSpans makes a parser that knows inline elements alone: the block
// structure was found before. Strikethrough takes two tildes, since one means
// "about" ("10~20").
func newSpans(on bool) *spans {
	return &spans{on: on, parser: parser.NewParser(
		parser.WithBlockParsers(util.Prioritized(parser.NewParagraphParser(), 1)),
		parser.WithInlineParsers(
			util.Prioritized(parser.NewCodeSpanParser(), 1),
			util.Prioritized(parser.NewLinkParser(), 2),
			util.Prioritized(parser.NewAutoLinkParser(), 3),
			util.Prioritized(parser.NewRawHTMLParser(), 4),
			util.Prioritized(parser.NewEmphasisParser(), 5),
			util.Prioritized(strikeParser{}, 6),
		),
	)}
}

// strikeParser reads ~~text~~.
type strikeParser struct{}

func (strikeParser) Trigger() []byte { return []byte{'~'} }

func (strikeParser) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	before := block.PrecendingCharacter()
	line, segment := block.PeekLine()
	d := parser.ScanDelimiter(line, before, 2, strikeProcessor{})
	if d == nil || d.OriginalLength != 2 || before == '~' {
		return nil
	}
	d.Segment = segment.WithStop(segment.Start + d.OriginalLength)
	block.Advance(d.OriginalLength)
	pc.PushDelimiter(d)
	return d
}

type strikeProcessor struct{}

func (strikeProcessor) IsDelimiter(b byte) bool                   { return b == '~' }
func (strikeProcessor) CanOpenCloser(o, c *parser.Delimiter) bool { return o.Char == c.Char }
func (strikeProcessor) OnMatch(int) ast.Node                      { return extast.NewStrikethrough() }

// render parses src and hands its text to out. Before and after are the kinds
// of characters around it, 0 for white space or none: "**" opens or closes by
// what stands beside it.
func (s *spans) render(src []byte, before, after byte, base attr, out sink) {
	w := spanWalk{on: s.on, out: out}
	w.src = make([]byte, 0, len(src)+2)
	if before != 0 {
		w.src = append(w.src, before)
		w.from = 1
	}
	w.src = append(w.src, src...)
	w.to = len(w.src)
	if after != 0 {
		w.src = append(w.src, after)
	}
	root := s.parser.Parse(text.NewReader(w.src))
	for block := root.FirstChild(); block != nil; block = block.NextSibling() {
		w.children(block, base)
	}
	// goldmark drops the spaces that a cut piece may end in.
	if t := bytes.TrimRight(src, " \t"); len(t) < len(src) {
		out.text(src[len(t):], base)
	}
}

// spanWalk renders one parsed piece; what is outside from and to is context.
type spanWalk struct {
	on       bool
	out      sink
	src      []byte
	from, to int
}

func (w *spanWalk) children(n ast.Node, look attr) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		w.node(c, look)
	}
}

func (w *spanWalk) node(n ast.Node, look attr) {
	switch n := n.(type) {
	case *ast.Text:
		w.out.text(w.value(n), look)
		if n.SoftLineBreak() || n.HardLineBreak() {
			w.out.newline()
		}
	case *ast.CodeSpan:
		w.code(n, look)
	case *ast.Emphasis:
		if n.Level == 2 {
			w.marked(n, look, bold, "**")
		} else {
			w.marked(n, look, italic, "*")
		}
	case *extast.Strikethrough:
		w.marked(n, look, strike, "~~")
	case *ast.Link:
		w.link(n, n.Destination, look, "")
	case *ast.Image:
		w.link(n, n.Destination, look, "image: ")
	case *ast.AutoLink:
		w.out.text(n.Label(w.src), look|underline)
	case *ast.RawHTML:
		w.html(n, look)
	default:
		w.children(n, look)
	}
}

// marked gives text its look, or leaves the markers where there is none.
func (w *spanWalk) marked(n ast.Node, look, add attr, marker string) {
	if w.on {
		w.children(n, look|add)
		return
	}
	w.out.text([]byte(marker), look)
	w.children(n, look)
	w.out.text([]byte(marker), look)
}

func (w *spanWalk) code(n *ast.CodeSpan, look attr) {
	var b []byte
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b = append(b, t.Segment.Value(w.src)...)
		}
	}
	b = bytes.ReplaceAll(b, []byte("\n"), []byte(" "))
	if w.on {
		w.out.text(b, look|mono)
		return
	}
	fence := "`"
	for bytes.Contains(b, []byte(fence)) {
		fence += "`"
	}
	if len(fence) > 1 {
		b = append(append([]byte(" "), b...), ' ')
	}
	w.out.text(append(append([]byte(fence), b...), fence...), look)
}

// link shows the text and where it leads. A scheme that is no page, mail or
// path is shown as it was written, so that nobody takes it for a link.
func (w *spanWalk) link(n ast.Node, dest []byte, look attr, kind string) {
	url := cutLong(decode(dest))
	if !safeURL(url) {
		w.out.text([]byte("["), look)
		w.children(n, look)
		w.out.text([]byte("]("+url+")"), look)
		return
	}
	switch shown := strings.TrimSpace(w.label(n)); {
	case url == "":
		w.children(n, look)
	case shown == url || "mailto:"+shown == url:
		w.out.text([]byte(shown), look|underline)
	default:
		w.out.text([]byte(kind), look)
		w.children(n, look|underline)
		if shown != "" {
			w.out.text([]byte(" "), look)
		}
		w.out.text([]byte("("+url+")"), look|dim)
	}
}

func (w *spanWalk) html(n *ast.RawHTML, look attr) {
	var b []byte
	for i := range n.Segments.Len() {
		seg := n.Segments.At(i)
		b = append(b, seg.Value(w.src)...)
	}
	if name := strings.ToLower(string(b)); strings.HasPrefix(name, "<br") && strings.Trim(name[3:], " /") == ">" {
		w.out.newline()
		return
	}
	w.out.text(bytes.ReplaceAll(b, []byte("\n"), []byte(" ")), look)
}

// value gives a text's characters, without the context.
func (w *spanWalk) value(t *ast.Text) []byte {
	start, stop := max(t.Segment.Start, w.from), min(t.Segment.Stop, w.to)
	if start >= stop {
		return nil
	}
	raw := w.src[start:stop]
	if t.IsRaw() || bytes.IndexByte(raw, '\\') < 0 && bytes.IndexByte(raw, '&') < 0 {
		return raw
	}
	return []byte(decode(raw))
}

// decode resolves backslash escapes and entities, and cleans what comes out: a
// model can write ESC as &#27;.
func decode(raw []byte) string {
	var b strings.Builder
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		if c == '\\' && i+1 < len(raw) && util.IsPunct(raw[i+1]) {
			i++
			b.WriteByte(raw[i])
			continue
		}
		if c == '&' {
			if s, n := entity(raw[i:]); n > 0 {
				if s == "\n" || s == "\t" {
					s = " "
				}
				b.WriteString(s)
				i += n - 1
				continue
			}
		}
		b.WriteByte(c)
	}
	return term.CleanText(b.String())
}

// maxEntity is the length of the longest entity's name and signs.
const maxEntity = 34

// entity reads one at the begin of p and gives its length, 0 where it is none.
func entity(p []byte) (string, int) {
	end := bytes.IndexByte(p[:min(len(p), maxEntity)], ';')
	if end < 2 {
		return "", 0
	}
	if p[1] != '#' {
		e, ok := util.LookUpHTML5EntityByName(string(p[1:end]))
		if !ok {
			return "", 0
		}
		return string(e.Characters), end + 1
	}
	r, ok := number(p[2:end])
	if !ok {
		return "", 0
	}
	return string(r), end + 1
}

// number reads a numeric character reference: up to 7 decimal or 6 hexadecimal
// digits.
func number(digits []byte) (rune, bool) {
	base, limit := rune(10), 7
	if len(digits) > 0 && digits[0]|0x20 == 'x' {
		base, limit, digits = 16, 6, digits[1:]
	}
	if len(digits) == 0 || len(digits) > limit {
		return 0, false
	}
	var r rune
	for _, c := range digits {
		v := rune(99)
		switch {
		case c >= '0' && c <= '9':
			v = rune(c - '0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			v = rune(c|0x20-'a') + 10
		}
		if v >= base {
			return 0, false
		}
		r = r*base + v
	}
	if r == 0 || !utf8.ValidRune(r) {
		r = utf8.RuneError
	}
	return r, true
}

// maxURL is how much of a link's address is shown; data: URLs are a file long.
const maxURL = 2048

func cutLong(url string) string { return term.CutEnd(url, maxURL) }

// safeURL tells whether an address is a page, a mail or a path.
func safeURL(url string) bool {
	scheme, _, found := strings.Cut(url, ":")
	if !found || strings.ContainsAny(scheme, "/?#") {
		return true
	}
	switch strings.ToLower(scheme) {
	case "http", "https", "mailto":
		return true
	}
	return false
}

// label gives the text of a link alone. It doesn't go through link, which
// would double its work with each image inside an image.
func (w *spanWalk) label(n ast.Node) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(w.value(t))
			continue
		}
		b.WriteString(w.label(c))
	}
	return b.String()
}
