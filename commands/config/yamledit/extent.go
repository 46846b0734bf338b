package yamledit

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// end is the offset where a node's text ends. parent is the column, from 0, of
// the block collection around it, -1 at the top; after is the answer for a
// value that was left out.
func (d *document) end(n *yaml.Node, parent, after int) (int, error) {
	if n.Kind == yaml.ScalarNode && n.Value == "" && n.Style&(quoted|blockText) == 0 && n.Style&yaml.TaggedStyle == 0 && n.Anchor == "" {
		return after, nil
	}
	at, err := d.skipProperties(n)
	if err != nil {
		return 0, err
	}
	switch {
	case n.Kind == yaml.AliasNode:
		return at + strings.IndexFunc(d.text[at:]+" ", func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",[]{}", r) }), nil
	case n.Kind == yaml.ScalarNode:
		return d.endOfScalar(n, at, parent)
	case n.Style&yaml.FlowStyle != 0:
		return d.endOfFlow(n, at)
	case n.Kind == yaml.MappingNode:
		return d.endOfMapping(n)
	}
	return d.endOfSequence(n)
}

const (
	quoted    = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle
	blockText = yaml.LiteralStyle | yaml.FoldedStyle
)

// skipProperties gives the offset of a node behind its tag and anchor.
func (d *document) skipProperties(n *yaml.Node) (int, error) {
	at := d.at(n)
	for n.Kind != yaml.AliasNode && at < len(d.text) && (d.text[at] == '!' || d.text[at] == '&') {
		word := strings.IndexFunc(d.text[at:], unicode.IsSpace)
		if word < 0 {
			return 0, badForm(n, "a tag or an anchor without a value can't be changed in place")
		}
		at = d.skipBlank(at + word)
	}
	return at, nil
}

// skipBlank passes over spaces, line breaks and comments.
func (d *document) skipBlank(at int) int {
	for at < len(d.text) {
		r, size := utf8.DecodeRuneInString(d.text[at:])
		switch {
		case unicode.IsSpace(r):
			at += size
		case r == '#':
			at = d.lineOf(at).next
		default:
			return at
		}
	}
	return at
}

func (d *document) endOfScalar(n *yaml.Node, at, parent int) (int, error) {
	switch {
	case n.Style&yaml.SingleQuotedStyle != 0:
		for i := at + 1; i < len(d.text); i++ {
			if d.text[i] != '\'' {
				continue
			}
			if strings.HasPrefix(d.text[i+1:], "'") {
				i++
				continue
			}
			return i + 1, nil
		}
	case n.Style&yaml.DoubleQuotedStyle != 0:
		for i := at + 1; i < len(d.text); i++ {
			switch d.text[i] {
			case '\\':
				i++
			case '"':
				return i + 1, nil
			}
		}
	case n.Style&blockText != 0:
		return d.endOfBlockText(at, parent), nil
	default:
		return d.endOfPlain(n, at)
	}
	return 0, badForm(n, "the end of this text can't be found")
}

// endOfPlain follows an unquoted text, whose line breaks are folded.
func (d *document) endOfPlain(n *yaml.Node, at int) (int, error) {
	for _, r := range n.Value {
		if unicode.IsSpace(r) {
			continue
		}
		for {
			if at >= len(d.text) {
				return 0, badForm(n, "the end of this text can't be found")
			}
			have, size := utf8.DecodeRuneInString(d.text[at:])
			at += size
			if have == r {
				break
			}
			if !unicode.IsSpace(have) {
				return 0, badForm(n, "the end of this text can't be found")
			}
		}
	}
	return at, nil
}

// endOfBlockText finds the last line of a text that begins with | or >.
func (d *document) endOfBlockText(at, parent int) int {
	head := d.lineOf(at)
	end, keep := head.end, strings.ContainsRune(d.text[at:head.end], '+')
	for pos := head.next; pos < len(d.text); {
		l := d.lineOf(pos)
		body := strings.TrimLeft(d.text[l.start:l.end], " ")
		indent := l.end - l.start - len(body)
		blank := strings.TrimSpace(body) == ""
		if !blank && indent <= parent {
			break
		}
		if !blank || keep {
			end = l.end
		}
		pos = l.next
	}
	return end
}

// endOfFlow finds the bracket that closes a flow collection.
func (d *document) endOfFlow(n *yaml.Node, at int) (int, error) {
	last := at + 1
	for i, child := range n.Content {
		end, err := d.end(child, -1, last)
		if err != nil {
			return 0, err
		}
		last = end
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			if colon, ok := d.colon(last); ok {
				last = colon
			}
		}
	}
	closing := byte(']')
	if n.Kind == yaml.MappingNode {
		closing = '}'
	}
	for at = d.skipBlank(last); at < len(d.text) && d.text[at] == ','; at = d.skipBlank(at) {
		at++
	}
	if at >= len(d.text) || d.text[at] != closing {
		return 0, badForm(n, "the closing bracket can't be found")
	}
	return at + 1, nil
}

func (d *document) endOfMapping(n *yaml.Node) (int, error) {
	if len(n.Content) < 2 {
		return 0, badForm(n, "an empty section can't be changed in place")
	}
	key, value := n.Content[len(n.Content)-2], n.Content[len(n.Content)-1]
	colon, err := d.afterColon(key)
	if err != nil {
		return 0, err
	}
	return d.end(value, key.Column-1, colon)
}

func (d *document) endOfSequence(n *yaml.Node) (int, error) {
	if len(n.Content) == 0 || n.Anchor != "" {
		return 0, badForm(n, "this list can't be changed in place")
	}
	item := n.Content[len(n.Content)-1]
	return d.end(item, n.Column-1, d.at(item))
}

// afterColon is the offset behind a key's colon.
func (d *document) afterColon(key *yaml.Node) (int, error) {
	end, err := d.end(key, -1, d.at(key))
	if err != nil {
		return 0, err
	}
	colon, ok := d.colon(end)
	if !ok {
		return 0, badForm(key, "a key that is written with ? can't be changed in place")
	}
	return colon, nil
}

// colon finds a colon that follows an offset on the same line.
func (d *document) colon(at int) (int, bool) {
	rest := d.text[at:d.lineOf(at).end]
	trimmed := strings.TrimLeft(rest, " \t")
	if !strings.HasPrefix(trimmed, ":") {
		return 0, false
	}
	return at + len(rest) - len(trimmed) + 1, true
}
