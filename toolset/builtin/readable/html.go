package readable

import (
	"strings"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// readHTML makes Markdown of a page's main part.
func readHTML(page, address string) (Output, error) {
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil {
		return Output{}, &Error{"its HTML can't be read: " + err.Error()}
	}
	title := titleOf(doc)
	prune(doc)
	main := mainPart(doc)
	conv := converter.NewConverter(converter.WithPlugins(
		base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(), table.NewTablePlugin(),
	))
	text, err := conv.ConvertNode(main, converter.WithDomain(address))
	if err != nil {
		return Output{}, &Error{"its HTML can't be made into text: " + err.Error()}
	}
	out := Output{Title: title, Text: string(text), Format: Markdown}
	if strings.TrimSpace(out.Text) == "" {
		out.Note = "the page has no text of its own; it may be made by a script, which isn't run"
	}
	return out, nil
}

// titleOf is the page's title, else what it calls itself to others.
func titleOf(doc *html.Node) string {
	title, og := "", ""
	each(doc, func(n *html.Node) bool {
		switch n.DataAtom {
		case atom.Title:
			if title == "" && !within(n, atom.Svg) {
				title = strings.TrimSpace(textOf(n))
			}
		case atom.Meta:
			if attr(n, "property") == "og:title" {
				og = attr(n, "content")
			}
		}
		return true
	})
	if title == "" {
		return og
	}
	return title
}

func within(n *html.Node, a atom.Atom) bool {
	for p := n.Parent; p != nil; p = p.Parent {
		if p.DataAtom == a {
			return true
		}
	}
	return false
}

// prune takes out what isn't shown as text, or isn't shown at all: a page must
// not tell a model what it doesn't tell a person.
func prune(doc *html.Node) {
	var gone []*html.Node
	each(doc, func(n *html.Node) bool {
		if n.Type == html.CommentNode || n.Type == html.ElementNode && unseen(n) {
			gone = append(gone, n)
			return false
		}
		if n.Type == html.ElementNode && n.DataAtom == atom.Pre {
			clearLines(n)
		}
		return true
	})
	for _, n := range gone {
		if n.Parent != nil {
			n.Parent.RemoveChild(n)
		}
	}
}

// clearLines turns the breaks of a code block into line ends.
func clearLines(pre *html.Node) {
	var breaks []*html.Node
	each(pre, func(n *html.Node) bool {
		if n.DataAtom == atom.Br {
			breaks = append(breaks, n)
		}
		return true
	})
	for _, n := range breaks {
		n.Parent.InsertBefore(&html.Node{Type: html.TextNode, Data: "\n"}, n)
		n.Parent.RemoveChild(n)
	}
}

func unseen(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Svg, atom.Iframe, atom.Object, atom.Embed, atom.Canvas,
		atom.Audio, atom.Video, atom.Select, atom.Button, atom.Input, atom.Textarea, atom.Dialog, atom.Link, atom.Meta:
		return true
	case atom.Img: // an image in the text itself is pages of letters
		return !strings.HasPrefix(attr(n, "src"), "http") && !strings.HasPrefix(attr(n, "src"), "/")
	}
	for _, a := range n.Attr {
		switch a.Key {
		case "hidden":
			return a.Val != "until-found"
		case "aria-hidden":
			return a.Val == "true"
		case "style":
			style := strings.ToLower(strings.Join(strings.Fields(a.Val), ""))
			if strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden") || strings.Contains(style, "font-size:0") {
				return true
			}
		}
	}
	return false
}

// mainShare is how much of a page's text its main part must hold to be taken
// for it, in percent: less is a teaser, or one of several.
const mainShare = 30

// mainPart is what holds the page's content: its main element or its only
// article, else its body without what surrounds content.
func mainPart(doc *html.Node) *html.Node {
	body := first(doc, func(n *html.Node) bool { return n.DataAtom == atom.Body })
	if body == nil {
		return doc
	}
	all := len(textOf(body))
	for _, wanted := range []func(*html.Node) bool{
		func(n *html.Node) bool { return n.DataAtom == atom.Main || attr(n, "role") == "main" },
		func(n *html.Node) bool { return n.DataAtom == atom.Article },
	} {
		var found []*html.Node
		each(body, func(n *html.Node) bool {
			if n.Type == html.ElementNode && wanted(n) {
				found = append(found, n)
				return false
			}
			return true
		})
		if len(found) == 1 && len(textOf(found[0]))*100 >= all*mainShare {
			return found[0]
		}
	}
	trim(body)
	return body
}

// trim takes what surrounds content out of a body, unless little else is there.
func trim(body *html.Node) {
	var gone []*html.Node
	lost := 0
	each(body, func(n *html.Node) bool {
		if n.Type != html.ElementNode || !surrounds(n) {
			return true
		}
		gone = append(gone, n)
		lost += len(textOf(n))
		return false
	})
	if all := len(textOf(body)); (all-lost)*100 < all*mainShare {
		return
	}
	for _, n := range gone {
		n.Parent.RemoveChild(n)
	}
}

func surrounds(n *html.Node) bool {
	switch attr(n, "role") {
	case "navigation", "banner", "contentinfo", "search", "complementary":
		return true
	}
	switch n.DataAtom {
	case atom.Nav, atom.Footer, atom.Aside:
		return true
	case atom.Header: // of the page; an article's own holds its headline
		return n.Parent != nil && n.Parent.DataAtom == atom.Body
	}
	return false
}

// each visits the nodes below n in order, without a stack of its own that deep
// pages could grow; down tells whether to go below a node.
func each(n *html.Node, down func(*html.Node) bool) {
	for c := n.FirstChild; c != nil; {
		if down(c) && c.FirstChild != nil {
			c = c.FirstChild
			continue
		}
		for c != n && c.NextSibling == nil {
			c = c.Parent
		}
		if c == n {
			return
		}
		c = c.NextSibling
	}
}

func first(n *html.Node, is func(*html.Node) bool) *html.Node {
	var found *html.Node
	each(n, func(c *html.Node) bool {
		if found == nil && is(c) {
			found = c
		}
		return found == nil
	})
	return found
}

func textOf(n *html.Node) string {
	var b strings.Builder
	each(n, func(c *html.Node) bool {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
		return true
	})
	return b.String()
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name && a.Namespace == "" {
			return a.Val
		}
	}
	return ""
}
