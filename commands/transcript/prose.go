package transcript

import (
	"bytes"
	"html"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	htmlrenderer "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"

	"github.com/fettle-cli/fettle/commands/term"
)

const (
	// maxProse is how long a text may be that is shown as Markdown; longer
	// ones stand as they are. Answers have a few kilobytes, and the parser's
	// time grows with the square of some texts: 128 KB take it 2 s at worst.
	maxProse = 128 << 10
	// maxLinks is how many links a text may begin, for the same reason.
	maxLinks = 1000
	// maxMarks bounds how many quotes and list marks a line may begin with: the
	// parser takes time for each of them in each line.
	maxMarks = 40
)

// prose turns a model's Markdown into safe HTML.
type prose struct{ md goldmark.Markdown }

func newProse() *prose {
	return &prose{goldmark.New(
		goldmark.WithExtensions(
			extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)), // the page allows no style attribute
			extension.Strikethrough, extension.TaskList,
			extension.NewLinkify(extension.WithLinkifyAllowedProtocols([][]byte{[]byte("http:"), []byte("https:")})),
		),
		goldmark.WithRendererOptions(
			htmlrenderer.WithHardWraps(), // models don't wrap their lines, so a line end is meant
			renderer.WithNodeRenderers(util.Prioritized(safe{}, 1)),
		),
	)}
}

// render gives the HTML of a text.
func (p *prose) render(text string) string {
	text = term.CleanText(text)
	if len(text) > maxProse || tangled(text) {
		return "<pre dir=\"auto\" tabindex=\"0\">" + html.EscapeString(text) + "</pre>\n"
	}
	var b bytes.Buffer
	if err := p.md.Convert([]byte(text), &b); err != nil {
		return "<pre dir=\"auto\" tabindex=\"0\">" + html.EscapeString(text) + "</pre>\n"
	}
	return b.String()
}

// tangled tells whether a text has more links, or a line begins with more
// marks, than anybody writes.
func tangled(text string) bool {
	if strings.Count(text, "](") > maxLinks {
		return true
	}
	for line := range strings.Lines(text) {
		marks, digits := 0, false
		for _, r := range line {
			digit := '0' <= r && r <= '9'
			ends := digits && (r == '.' || r == ')') // of a number in a list
			if !digit && !ends && !strings.ContainsRune("> -+*\t", r) {
				break
			}
			if !digit && r != ' ' && r != '\t' {
				marks++
			}
			digits = digit
		}
		if marks > maxMarks && strings.Trim(line, "-*+ \t\n") != "" {
			return true
		}
	}
	return false
}

// safe renders what could reach beyond the page, or break its outline.
type safe struct{}

// RegisterFuncs says which nodes those are.
func (s safe) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(ast.KindLink, s.link)
	reg.Register(ast.KindImage, s.image)
	reg.Register(ast.KindAutoLink, s.autoLink)
	reg.Register(ast.KindRawHTML, s.rawHTML)
	reg.Register(ast.KindHTMLBlock, s.htmlBlock)
	reg.Register(ast.KindHeading, s.heading)
	reg.Register(ast.KindParagraph, s.paragraph)
	reg.Register(ast.KindFencedCodeBlock, s.code)
	reg.Register(ast.KindCodeBlock, s.code)
}

// allowed tells whether a link may lead there.
func allowed(dest string) bool {
	dest = strings.ToLower(dest)
	for _, scheme := range []string{"https://", "http://", "mailto:"} {
		if strings.HasPrefix(dest, scheme) && len(dest) > len(scheme) {
			return true
		}
	}
	return false
}

func openLink(w util.BufWriter, dest string) {
	_, _ = w.WriteString(`<a href="` + html.EscapeString(dest) + `" rel="noopener noreferrer nofollow">`)
}

func (safe) link(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	dest := string(util.URLEscape(n.(*ast.Link).Destination, true))
	switch {
	case allowed(dest) && entering:
		openLink(w, dest)
	case allowed(dest):
		_, _ = w.WriteString("</a>")
	case !entering: // where it leads is shown, and leads nowhere
		_, _ = w.WriteString(" <span class=\"nowhere\">(" + esc(string(n.(*ast.Link).Destination)) + ")</span>")
	}
	return ast.WalkContinue, nil
}

// image is a link: the page loads nothing.
func (safe) image(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	img := n.(*ast.Image)
	dest := string(util.URLEscape(img.Destination, true))
	alt := esc(string(plainText(source, n)))
	if alt == "" {
		alt = "picture"
	}
	if allowed(dest) {
		openLink(w, dest)
		_, _ = w.WriteString("[picture: " + alt + "]</a>")
	} else {
		_, _ = w.WriteString("[picture: " + alt + "]")
	}
	return ast.WalkSkipChildren, nil
}

// plainText is the text below a node.
func plainText(source []byte, n ast.Node) []byte {
	var out []byte
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch t := c.(type) {
		case *ast.Text:
			out = append(out, t.Segment.Value(source)...)
		case *ast.String:
			out = append(out, t.Value...)
		default:
			out = append(out, plainText(source, c)...)
		}
	}
	return out
}

func (safe) autoLink(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	link := n.(*ast.AutoLink)
	dest := string(util.URLEscape(link.URL(source), false))
	if link.AutoLinkType == ast.AutoLinkEmail && !strings.HasPrefix(strings.ToLower(dest), "mailto:") {
		dest = "mailto:" + dest
	}
	label := esc(string(link.Label(source)))
	if !allowed(dest) {
		_, _ = w.WriteString(label)
		return ast.WalkContinue, nil
	}
	openLink(w, dest)
	_, _ = w.WriteString(label + "</a>")
	return ast.WalkContinue, nil
}

func (safe) rawHTML(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkSkipChildren, nil
	}
	segments := n.(*ast.RawHTML).Segments
	for i := range segments.Len() {
		at := segments.At(i)
		_, _ = w.WriteString(html.EscapeString(string(at.Value(source))))
	}
	return ast.WalkSkipChildren, nil
}

func (safe) htmlBlock(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	block := n.(*ast.HTMLBlock)
	var text strings.Builder
	for i := range block.Lines().Len() {
		at := block.Lines().At(i)
		text.Write(at.Value(source))
	}
	if block.HasClosure() {
		text.Write(block.ClosureLine.Value(source))
	}
	_, _ = w.WriteString("<pre dir=\"auto\" tabindex=\"0\">" + html.EscapeString(text.String()) + "</pre>\n")
	return ast.WalkContinue, nil
}

// heading is below the page's own: h1 is the title, h2 who speaks.
func (safe) heading(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	tag := "h" + string(rune('0'+min(n.(*ast.Heading).Level+2, 6)))
	if entering {
		_, _ = w.WriteString("<" + tag + " dir=\"auto\">")
	} else {
		_, _ = w.WriteString("</" + tag + ">\n")
	}
	return ast.WalkContinue, nil
}

// paragraph finds its own direction.
func (safe) paragraph(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.WriteString("<p dir=\"auto\">")
	} else {
		_, _ = w.WriteString("</p>\n")
	}
	return ast.WalkContinue, nil
}

// code has its language above it, and can be scrolled by keys.
func (safe) code(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	if fenced, ok := n.(*ast.FencedCodeBlock); ok {
		if lang := esc(string(fenced.Language(source))); lang != "" {
			_, _ = w.WriteString("<div class=\"lang\">" + lang + "</div>")
		}
	}
	_, _ = w.WriteString("<pre tabindex=\"0\"><code>")
	for i := range n.Lines().Len() {
		at := n.Lines().At(i)
		_, _ = w.WriteString(html.EscapeString(string(at.Value(source))))
	}
	_, _ = w.WriteString("</code></pre>\n")
	return ast.WalkContinue, nil
}
