package script

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/internal/didyoumean"
)

// longestWait bounds every wait of a script: nothing that a script is written
// for takes longer, and a mistyped unit shouldn't hold a turn for weeks.
const longestWait = time.Hour

// decoder reads nodes as what a script may hold and gathers what is wrong.
type decoder struct {
	problems
	limits   limits
	recorded bool // the file is the recorded form
	foreign  bool // it is of a version that this program doesn't read
	deltas   int  // how many there are so far, meta aside
	bytes    int  // of JSON that was made, see spend
}

// at reports a problem at a node.
func (d *decoder) at(n *node, format string, args ...any) {
	d.add(int(n.line), int(n.column), fmt.Sprintf(format, args...))
}

// expected reports a value of the wrong kind.
func (d *decoder) expected(n *node, key, want string) {
	d.at(n, "%s: expected %s, found %s", key, want, n.describe())
}

// mapping goes through keys and values. known are the keys that may stand
// there, with spaces between; each reads one and tells whether it knows it.
// what names the mapping, such as "a response".
func (d *decoder) mapping(n *node, what, known string, each func(k, v *node) bool) {
	if n.kind != mapNode {
		d.expected(n, what, "keys and values")
		return
	}
	var seen []string // of known keys only, so it stays short
	for i := 0; i+1 < len(n.items) && !d.full(); i += 2 {
		k, v := n.items[i], n.items[i+1]
		switch {
		case k.kind != textNode:
			d.badKey(k)
		case slices.Contains(seen, k.text):
			d.at(k, "%s is set twice", k.text)
		case each(k, v):
			seen = append(seen, k.text)
		default:
			d.unknown(k, what, strings.Fields(known))
		}
	}
}

// badKey reports a key that is no word.
func (d *decoder) badKey(k *node) {
	if k.kind == mergeNode {
		d.at(k, "<< is not read here; write the keys out")
		return
	}
	d.at(k, "a key is a word, found %s", k.describe())
}

// unknown reports a key that nobody knows, with what may have been meant.
func (d *decoder) unknown(k *node, what string, known []string) {
	if near := didyoumean.Of(k.text, known); near != "" {
		d.at(k, "unknown key %s; did you mean %s?", shown(k.text), near)
		return
	}
	d.at(k, "unknown key %s; %s has %s", shown(k.text), what, strings.Join(known, ", "))
}

// list goes through the elements of a list.
func (d *decoder) list(n *node, key, want string, each func(*node)) {
	if n.kind != listNode {
		d.expected(n, key, want)
		return
	}
	for _, item := range n.items {
		if d.full() {
			return
		}
		each(item)
	}
}

// text reads a text.
func (d *decoder) text(n *node, key string) string {
	switch n.kind {
	case textNode:
		return n.text
	case numberNode, boolNode:
		d.at(n, "%s: expected text; put %s in quotes", key, n.describe())
	default:
		d.expected(n, key, "text")
	}
	return ""
}

// word reads one of the given words; "" is none, and reported.
func (d *decoder) word(n *node, key string, words []string) string {
	s := n.text
	if n.kind != textNode && n.kind != boolNode && n.kind != numberNode {
		d.expected(n, key, oneOf(words))
		return ""
	}
	if slices.Contains(words, s) {
		return s
	}
	if near := didyoumean.Of(s, words); near != "" {
		d.at(n, "%s: there is no %s; did you mean %s?", key, shown(s), near)
		return ""
	}
	d.at(n, "%s: expected %s, found %s", key, oneOf(words), n.describe())
	return ""
}

// yes reads a truth value.
func (d *decoder) yes(n *node, key string) bool {
	if n.kind != boolNode {
		d.expected(n, key, "true or false")
	}
	return n.text == "true"
}

// count reads a whole number from least to most.
func (d *decoder) count(n *node, key string, least, most int64) int64 {
	if n.kind == numberNode {
		if v, err := strconv.ParseInt(n.text, 10, 64); err == nil && v >= least && v <= most {
			return v
		}
	}
	d.expected(n, key, fmt.Sprintf("a whole number from %d to %d", least, most))
	return least
}

// wait reads a duration.
func (d *decoder) wait(n *node, key string) time.Duration {
	switch n.kind {
	case textNode:
		if v, err := time.ParseDuration(n.text); err == nil {
			if v >= 0 && v <= longestWait {
				return v
			}
			d.at(n, "%s: expected a time from 0 to %s, found %s", key, longestWait, n.describe())
			return 0
		}
	case numberNode:
		if n.text == "0" {
			return 0
		}
	}
	d.expected(n, key, "a time with its unit, such as 50ms or 2s")
	return 0
}

// texts reads a list of texts; one alone may stand without a list.
func (d *decoder) texts(n *node, key string) []string {
	if n.kind != listNode {
		return []string{d.text(n, key)}
	}
	var all []string
	d.list(n, key, "a list of texts", func(item *node) { all = append(all, d.text(item, key)) })
	return all
}
