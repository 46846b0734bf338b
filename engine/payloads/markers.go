package payloads

import (
	"cmp"
	"slices"
	"strings"
)

// verdict is what is known of a place in the text.
type verdict byte

const (
	no   verdict = iota // it is not what was asked for, whatever follows
	yes                 // it is
	more                // what follows decides
)

// pattern is one way to write a marker.
type pattern struct {
	text  string
	entry *entry
}

// markers finds the markers of an offer.
type markers struct {
	byFirst [256][]pattern // the longest first
	wake    [256]bool      // the bytes with which something may begin
	second  [256][4]uint64 // the bytes that may follow each of these, as bits
}

// newMarkers knows each marker plain and in the bold that models like to set
// headings in. It is nil where there are no markers.
func newMarkers(entries []*entry) *markers {
	m := &markers{}
	found := false
	for _, e := range entries {
		plain := e.ParseMarker
		if plain == "" {
			continue
		}
		found = true
		m.add(plain, e)
		m.add("**"+plain+"**", e)
		if name, ok := strings.CutSuffix(plain, ":"); ok {
			m.add("**"+name+"**:", e)
		}
	}
	if !found {
		return nil
	}
	for c := range m.byFirst {
		slices.SortStableFunc(m.byFirst[c], func(a, b pattern) int { return cmp.Compare(len(b.text), len(a.text)) })
		m.wake[c] = len(m.byFirst[c]) > 0
	}
	for _, c := range "`~" { // code blocks
		m.wake[c] = true
		m.second[c] = [4]uint64{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}
	}
	return m
}

func (m *markers) add(text string, e *entry) {
	m.byFirst[text[0]] = append(m.byFirst[text[0]], pattern{text, e})
	m.second[text[0]][text[1]/64] |= 1 << (text[1] % 64)
}

// match finds the longest marker that s begins with. With more, a longer one
// may yet come of what is there.
func (m *markers) match(s string, final bool) (*pattern, verdict) {
	if s == "" {
		return nil, ifMore(final)
	}
	of := m.byFirst[s[0]]
	for i := range of {
		switch p := &of[i]; {
		case strings.HasPrefix(s, p.text):
			return p, yes
		case !final && strings.HasPrefix(p.text, s):
			return nil, more
		}
	}
	return nil, no
}

// next is the place at which something may begin next, from i on, by its first
// two bytes. Most of a text is passed over here.
func (m *markers) next(s string, i int) int {
	for ; i < len(s); i++ {
		if !m.wake[s[i]] {
			continue
		}
		if i+1 == len(s) || m.second[s[i]][s[i+1]/64]&(1<<(s[i+1]%64)) != 0 {
			return i
		}
	}
	return i
}

// ifMore is the verdict where the text ends too early.
func ifMore(final bool) verdict {
	if final {
		return no
	}
	return more
}
