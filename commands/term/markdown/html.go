package markdown

import (
	"bytes"
	"strings"
)

// htmlEnd is what ends a block of HTML; the empty string is an empty line.
type htmlEnd string

// readHTML tells whether a line begins a block of HTML, by CommonMark's seven
// kinds. Which one it is says htmlBlock, once the line is whole.
func readHTML(p []byte, c context) (sign, wants) {
	if len(p) < 2 && !c.whole {
		return sign{}, wantsSome
	}
	if len(p) < 2 || !letter(p[1]) && p[1] != '/' && p[1] != '!' && p[1] != '?' {
		return sign{}, wantsNothing
	}
	if c.whole {
		if _, ok := htmlBlock(p, c.lazy); ok {
			return sign{kind: signHTML}, wantsNothing
		}
		return sign{}, wantsNothing
	}
	// <b>text is a paragraph, and so is an address in angle brackets: don't
	// hold those to their line's end.
	if letter(p[1]) || p[1] == '/' {
		n, m := angled(p)
		if name, ok := blockName(p); m == unsure || ok && (blockTags(name) || rawTags(name)) {
			return sign{}, wantsLine
		}
		if m == no || len(bytes.TrimLeft(p[n:], " \t")) > 0 {
			return sign{}, wantsNothing
		}
	}
	return sign{}, wantsLine
}

// htmlBlock gives the end of the block that a whole line begins.
func htmlBlock(p []byte, para bool) (htmlEnd, bool) {
	switch {
	case bytes.HasPrefix(p, []byte("<!--")):
		return "-->", true
	case bytes.HasPrefix(p, []byte("<?")):
		return "?>", true
	case bytes.HasPrefix(p, []byte("<![CDATA[")):
		return "]]>", true
	case len(p) > 2 && p[1] == '!' && p[2] >= 'A' && p[2] <= 'Z':
		return ">", true
	}
	if name, ok := blockName(p); ok {
		if rawTags(name) && p[1] != '/' {
			return htmlEnd("</"), true
		}
		if blockTags(name) {
			return "", true
		}
	}
	n, m := angled(p)
	if para || m != yes || len(bytes.TrimSpace(p[n:])) > 0 {
		return "", false
	}
	if k, t := autolink(p); t == yes && k == n {
		return "", false
	}
	return "", true
}

// ends tells whether a line ends the block.
func (e htmlEnd) ends(p []byte) bool {
	switch e {
	case "":
		return len(bytes.TrimSpace(p)) == 0
	case "</":
		low := strings.ToLower(string(p))
		for _, name := range []string{"</script>", "</pre>", "</style>", "</textarea>"} {
			if strings.Contains(low, name) {
				return true
			}
		}
		return false
	}
	return bytes.Contains(p, []byte(e))
}

// blockName gives the name of the tag at the begin of a line, if it is
// complete.
func blockName(p []byte) (string, bool) {
	i := 1
	if len(p) > 1 && p[1] == '/' {
		i = 2
	}
	end := tagName(p, i)
	if end == i {
		return "", false
	}
	if end < len(p) {
		switch p[end] {
		case ' ', '\t', '>':
		case '/':
			if end+1 < len(p) && p[end+1] != '>' {
				return "", false
			}
		default:
			return "", false
		}
	}
	return strings.ToLower(string(p[i:end])), true
}

// rawTags are those whose content runs to their end tag.
func rawTags(name string) bool {
	switch name {
	case "script", "pre", "style", "textarea":
		return true
	}
	return false
}

// blockTags are those that begin a block whatever follows them.
func blockTags(name string) bool {
	switch name {
	case "address", "article", "aside", "base", "basefont", "blockquote", "body", "caption",
		"center", "col", "colgroup", "dd", "details", "dialog", "dir", "div", "dl", "dt",
		"fieldset", "figcaption", "figure", "footer", "form", "frame", "frameset", "h1", "h2",
		"h3", "h4", "h5", "h6", "head", "header", "hr", "html", "iframe", "legend", "li", "link",
		"main", "menu", "menuitem", "nav", "noframes", "ol", "optgroup", "option", "p", "param",
		"search", "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "title",
		"tr", "track", "ul":
		return true
	}
	return false
}
