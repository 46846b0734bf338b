package payloads

import (
	"encoding/json"
	"strings"
)

// What a payload that a model writes may be, where ParserOptions don't say.
const (
	defaultMaxBytes = 1 << 20
	defaultMaxDepth = 64
	maxFound        = 64 // payloads of one response; what comes then is text
	maxNotes        = 8  // notes of one response, so that a loop of faults stays readable
)

// Item is one thing of a response; exactly one of its fields is set.
type Item struct {
	Text  string // goes to the person
	Found *Found
	Note  string // a footnote: why something that looks like a payload is text
}

// Found is a payload that a model wrote.
type Found struct {
	Type string
	Data json.RawMessage
	// From is the set whose definition held; empty for a built-in one.
	From string
}

// ParserOptions are what a parser may do.
type ParserOptions struct {
	// MaxBytes and MaxDepth bound the JSON of one payload; 0 is 1 MB and 64.
	MaxBytes int
	MaxDepth int
	// Parse runs a Config's Parser on the JSON as it was written and gives the
	// payload's type and data; set is the Config's. It is called within Feed
	// and Finish.
	Parse func(set string, c Config, text string) (kind string, data json.RawMessage, err error)
}

// Parser finds payloads in one response of a model while it comes.
type Parser struct {
	o       ParserOptions
	reg     *Registry
	markers *markers // nil where there is nothing to find
	items   []Item
	found   int
	notes   int

	carry   string // what came and isn't decided
	started bool   // a text was given
	last    byte   // its last byte
	code    fence  // the code block that the text is in
	gap     gap
	held    *held
}

// newParser makes a parser that looks for the entries' markers.
func newParser(reg *Registry, m *markers, o ParserOptions) *Parser {
	if o.MaxBytes <= 0 {
		o.MaxBytes = defaultMaxBytes
	}
	if o.MaxDepth <= 0 {
		o.MaxDepth = defaultMaxDepth
	}
	return &Parser{o: o, reg: reg, markers: m}
}

// Feed takes the next piece of the response, cut anywhere, and gives what is
// decided by now. The items are valid until the next call.
func (p *Parser) Feed(piece string) []Item {
	p.items = p.items[:0]
	p.run(piece, false)
	return p.items
}

// Finish ends the response and gives what was held back. The parser is then as
// new, for the next response.
func (p *Parser) Finish() []Item {
	p.items = p.items[:0]
	p.run("", true)
	items := p.items
	*p = *newParser(p.reg, p.markers, p.o)
	return items
}

// Pending is the type of the payload whose JSON is coming, so that a person can
// be told what they wait for; empty where there is none.
func (p *Parser) Pending() string {
	if p.held == nil {
		return ""
	}
	return p.held.entry.Type
}

func (p *Parser) run(piece string, final bool) {
	data := piece
	if p.carry != "" {
		data, p.carry = p.carry+piece, ""
	}
	for again := true; again; {
		if p.held != nil {
			data, again = p.payload(data, final)
		} else {
			data, again = p.text(data, final)
		}
	}
	p.carry = data
}

// text gives out what is text for certain. It ends with the rest that isn't
// decided, or, to be called again, where a payload begins.
func (p *Parser) text(data string, final bool) (rest string, again bool) {
	if p.markers == nil {
		keep := 0
		if !final {
			keep = partialRune(data)
		}
		p.emit(data[:len(data)-keep])
		return data[len(data)-keep:], false
	}
	if p.gap.open {
		data = p.gap.absorb(data)
	}
	for i := 0; ; {
		if i = p.next(data, i); i >= len(data) {
			break
		}
		at := p.look(data, i, final)
		switch at.v {
		case no:
			i += at.n
			p.code = at.code
		case more:
			h := i - spaceBefore(data[:i])
			p.emit(data[:h])
			return data[h:], false
		case yes:
			space := spaceBefore(data[:i])
			p.emit(data[:i-space])
			p.hold(at, data[i-space:i+at.n], space)
			return data[i+at.n:], true
		}
	}
	keep := 0
	if !final {
		keep = undecided(data)
	}
	p.emit(data[:len(data)-keep])
	return data[len(data)-keep:], false
}

// next is the next place at which something may begin or, in a code block, end.
func (p *Parser) next(data string, i int) int {
	if p.code.n == 0 {
		return p.markers.next(data, i)
	}
	if n := strings.IndexByte(data[i:], p.code.char); n >= 0 {
		return i + n
	}
	return len(data)
}

// place is what stands at one place of the text.
type place struct {
	v     verdict
	n     int   // with no: what is decided as text, at least 1; with yes: up to the JSON
	code  fence // with no: the code block that the text behind is in; with yes: around the JSON
	entry *entry
}

// look judges the place i, where something may begin.
func (p *Parser) look(data string, i int, final bool) place {
	s := data[i:]
	fenced := (s[0] == '`' || s[0] == '~') && p.startsLine(data, i)
	if p.code.n > 0 {
		if !fenced || s[0] != p.code.char {
			return place{n: max(1, runOf(s, p.code.char)), code: p.code}
		}
		switch n, v := p.code.closes(s, final); v {
		case more:
			return place{v: more}
		case yes:
			return place{n: n}
		default:
			return place{n: n, code: p.code}
		}
	}
	if fenced {
		if at := p.block(s, final); at.v != no || at.code.n > 0 {
			return at
		}
	}
	if s[0] == '`' || s[0] == '~' {
		return place{n: runOf(s, s[0])}
	}
	return p.marker(data, i, final)
}

// block judges a line that may open a code block: one that is a payload's
// wrapping begins with the marker.
func (p *Parser) block(s string, final bool) place {
	code, after, v := openFence(s, final)
	if v != yes {
		return place{v: v}
	}
	plain := place{n: code.n, code: code}
	if after == 0 {
		return plain
	}
	n, v := spaces(s[after:], final)
	if v != yes {
		return plain.unless(v)
	}
	after += n
	m, v := p.markers.match(s[after:], final)
	if v != yes {
		return plain.unless(v)
	}
	after += len(m.text)
	n, _, v = jsonAfter(s[after:], true, final)
	if v != yes {
		return plain.unless(v)
	}
	return place{v: yes, n: after + n, code: code, entry: m.entry}
}

// unless is the place, unless more has to come to tell.
func (at place) unless(v verdict) place {
	if v == more {
		return place{v: more}
	}
	return at
}

// marker judges a place that may be a marker's begin.
func (p *Parser) marker(data string, i int, final bool) place {
	before := p.before(data, i)
	if before == '`' || isWord(before) && isWord(data[i]) {
		return place{n: 1}
	}
	m, v := p.markers.match(data[i:], final)
	if v != yes {
		return place{v: v, n: 1}
	}
	n, code, v := jsonAfter(data[i+len(m.text):], false, final)
	if v != yes {
		return place{v: v, n: len(m.text)} // a marker that is only mentioned
	}
	return place{v: yes, n: len(m.text) + n, code: code, entry: m.entry}
}

// before is the byte of the text before place i, a space where there is none.
func (p *Parser) before(data string, i int) byte {
	switch {
	case i > 0:
		return data[i-1]
	case p.gap.open || !p.started:
		return ' '
	}
	return p.last
}

// startsLine tells whether place i begins a line, but for up to three spaces.
func (p *Parser) startsLine(data string, i int) bool {
	line := data[:i]
	bare := strings.TrimRight(line[max(0, i-4):], " ")
	indent := len(line[max(0, i-4):]) - len(bare)
	switch {
	case indent > 3:
		return false
	case bare != "":
		return bare[len(bare)-1] == '\n'
	case p.gap.open:
		return (!p.started || p.gap.lines > 0) && len(p.gap.tail) <= 3
	}
	return !p.started || p.last == '\n'
}

// emit gives out text, and the gap before it.
func (p *Parser) emit(s string) {
	if s == "" {
		return
	}
	if p.gap.open {
		if fill := p.gap.fill(s[0]); fill != "" && p.started {
			p.items = append(p.items, Item{Text: fill})
		}
		p.gap = gap{}
	}
	p.items = append(p.items, Item{Text: s})
	p.started, p.last = true, s[len(s)-1]
}
