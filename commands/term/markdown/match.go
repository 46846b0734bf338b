package markdown

import (
	"bytes"

	"github.com/yuin/goldmark/util"
)

// match is what a matcher says of text that may go on.
type match int

const (
	no match = iota
	yes
	unsure // the text ends too early
)

// linkTail matches the (address "title") after a link's text and gives its
// length.
func linkTail(p []byte) (int, match) {
	i := skipSpace(p, 1)
	if i == len(p) {
		return 0, unsure
	}
	if p[i] == ')' {
		return i + 1, yes
	}
	i, m := linkAddress(p, i)
	if m != yes {
		return 0, m
	}
	j := skipSpace(p, i)
	switch {
	case j == len(p):
		return 0, unsure
	case p[j] == ')':
		return j + 1, yes
	case p[j] != '"' && p[j] != '\'' && p[j] != '(':
		return 0, no
	}
	if i, m = linkTitle(p, j); m != yes {
		return 0, m
	}
	if i = skipSpace(p, i); i == len(p) {
		return 0, unsure
	}
	if p[i] == ')' {
		return i + 1, yes
	}
	return 0, no
}

func skipSpace(p []byte, i int) int {
	for i < len(p) && util.IsSpace(p[i]) {
		i++
	}
	return i
}

// linkAddress matches <…> or text without spaces whose parentheses pair.
func linkAddress(p []byte, i int) (int, match) {
	if p[i] == '<' {
		for i++; i < len(p) && p[i] != '\n'; i++ {
			switch {
			case p[i] == '>':
				return i + 1, yes
			case p[i] == '\\' && i+1 < len(p) && util.IsPunct(p[i+1]):
				i++
			}
		}
		return 0, endOr(p, i)
	}
	start, opened := i, 0
	for ; i < len(p); i++ {
		switch c := p[i]; {
		case c == '\\' && i+1 < len(p) && util.IsPunct(p[i+1]):
			i++
		case c == '(':
			opened++
		case c == ')':
			if opened--; opened < 0 && i > start {
				return i, yes
			}
			if opened < 0 {
				return 0, no
			}
		case util.IsSpace(c):
			return i, yes
		}
	}
	return 0, unsure
}

// endOr is unsure where p ended, and no where something else stopped it.
func endOr(p []byte, i int) match {
	if i >= len(p) {
		return unsure
	}
	return no
}

func linkTitle(p []byte, i int) (int, match) {
	end := p[i]
	if end == '(' {
		end = ')'
	}
	for i++; i < len(p); i++ {
		switch {
		case p[i] == '\\':
			i++
		case p[i] == end:
			return i + 1, yes
		}
	}
	return 0, unsure
}

// angled matches an autolink or a piece of HTML.
func angled(p []byte) (int, match) {
	if len(p) < 2 {
		return 0, unsure
	}
	switch c := p[1]; {
	case c == '!':
		return declaration(p)
	case c == '?':
		return until(p, 2, "?>")
	case c == '/':
		return closeTag(p)
	case !util.IsAlphaNumeric(c) && bytes.IndexByte([]byte(".!#$%&'*+-=^_`{|}~"), c) < 0:
		return 0, no
	}
	n, m := autolink(p)
	if m == yes {
		return n, m
	}
	k, t := openTag(p)
	if t == no {
		return n, m
	}
	return k, t
}

func until(p []byte, from int, end string) (int, match) {
	if from > len(p) {
		return 0, unsure
	}
	if i := bytes.Index(p[from:], []byte(end)); i >= 0 {
		return from + i + len(end), yes
	}
	return 0, unsure
}

// declaration matches <!-- -->, <![CDATA[ ]]> and <!NAME >.
func declaration(p []byte) (int, match) {
	const comment, cdata = "<!--", "<![CDATA["
	switch {
	case len(p) > 2 && p[2] >= 'A' && p[2] <= 'Z':
		return until(p, 2, ">")
	case bytes.HasPrefix(p, []byte("<!-->")):
		return len("<!-->"), yes
	case bytes.HasPrefix(p, []byte("<!--->")):
		return len("<!--->"), yes
	case bytes.HasPrefix(p, []byte(comment)):
		return until(p, len(comment), "-->")
	case bytes.HasPrefix(p, []byte(cdata)):
		return until(p, len(cdata), "]]>")
	case bytes.HasPrefix([]byte(comment), p), bytes.HasPrefix([]byte(cdata), p):
		return 0, unsure
	}
	return 0, no
}

// autolink matches <scheme:…> and <name@host>.
func autolink(p []byte) (int, match) {
	i := 1
	for i < len(p) && p[i] > ' ' && p[i] != '<' && p[i] != '>' {
		i++
	}
	if i == len(p) {
		return 0, unsure
	}
	if p[i] != '>' {
		return 0, no
	}
	if n := util.FindEmailIndex(p[1:]); n == i-1 {
		return i + 1, yes
	}
	if n := util.FindURLIndex(p[1:]); n == i-1 {
		return i + 1, yes
	}
	return 0, no
}

func closeTag(p []byte) (int, match) {
	i := tagName(p, 2)
	if i == 2 {
		return 0, endOr(p, i)
	}
	if i = skipSpace(p, i); i == len(p) {
		return 0, unsure
	}
	if p[i] == '>' {
		return i + 1, yes
	}
	return 0, no
}

// tagName gives the end of the name that begins at i.
func tagName(p []byte, i int) int {
	if i >= len(p) || !letter(p[i]) {
		return i
	}
	for i < len(p) && (util.IsAlphaNumeric(p[i]) || p[i] == '-') {
		i++
	}
	return i
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func openTag(p []byte) (int, match) {
	i := tagName(p, 1)
	if i == 1 {
		return 0, endOr(p, i)
	}
	for {
		j := skipSpace(p, i)
		switch {
		case j == len(p):
			return 0, unsure
		case p[j] == '>':
			return j + 1, yes
		case p[j] == '/':
			if j+1 == len(p) {
				return 0, unsure
			}
			if p[j+1] == '>' {
				return j + 2, yes
			}
			return 0, no
		case j == i || !letter(p[j]) && p[j] != '_' && p[j] != ':':
			return 0, no
		}
		var m match
		if i, m = attribute(p, j); m != yes {
			return 0, m
		}
	}
}

// attribute matches name, name=value, name="value" and gives the end.
func attribute(p []byte, i int) (int, match) {
	for i < len(p) && (util.IsAlphaNumeric(p[i]) || bytes.IndexByte([]byte("_:.-"), p[i]) >= 0) {
		i++
	}
	j := skipSpace(p, i)
	if j == len(p) {
		return 0, unsure
	}
	if p[j] != '=' {
		return i, yes
	}
	if j = skipSpace(p, j+1); j == len(p) {
		return 0, unsure
	}
	if c := p[j]; c == '"' || c == '\'' {
		k := bytes.IndexByte(p[j+1:], c)
		if k < 0 {
			return 0, unsure
		}
		return j + 1 + k + 1, yes
	}
	i = j
	for i < len(p) && p[i] > ' ' && bytes.IndexByte([]byte("\"'=<>`"), p[i]) < 0 {
		i++
	}
	if i == j {
		return 0, no
	}
	if i == len(p) {
		return 0, unsure
	}
	return i, yes
}
