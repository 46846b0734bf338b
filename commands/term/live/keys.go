package live

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Name is which key it was.
type Name int

// The keys. Text is characters that were typed, Pasted what a bracketed paste
// held; both are in Key.Text.
const (
	Text Name = iota + 1
	Pasted
	Enter
	Tab
	BackTab
	Backspace
	Delete
	Escape
	Up
	Down
	Left
	Right
	Home
	End
	PageUp
	PageDown
)

// Key is one key that was pressed.
type Key struct {
	Name Name
	Text string
	// Ctrl and Alt were held. A letter with Ctrl is Text in lower case.
	Ctrl, Alt, Shift bool
}

// Is tells whether the key is the letter with Ctrl.
func (k Key) Is(ctrl rune) bool { return k.Name == Text && k.Ctrl && !k.Alt && k.Text == string(ctrl) }

const (
	// maxPaste bounds a paste; the rest of a longer one is dropped.
	maxPaste = 8 << 20
	// maxSequence is more than any key's escape sequence has.
	maxSequence = 64
)

const (
	pasteBegin = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// Parser makes keys of what a terminal sends. What is unknown is dropped.
type Parser struct {
	held    []byte // a begun character or sequence
	pasting bool
	paste   []byte
}

// Waits tells whether a sequence was begun that may never go on: who has
// waited long enough calls Flush.
func (p *Parser) Waits() bool { return len(p.held) > 0 && !p.pasting }

// Feed takes what was read and gives the keys in it.
func (p *Parser) Feed(in []byte) []Key {
	p.held = append(p.held, in...)
	var keys []Key
	for len(p.held) > 0 {
		if p.pasting {
			if k, done := p.inPaste(); done {
				keys = append(keys, k)
				continue
			}
			break
		}
		if bytes.HasPrefix(p.held, []byte(pasteBegin)) {
			p.held = p.held[len(pasteBegin):]
			p.pasting = true
			continue
		}
		k, n := parse(p.held)
		if n == 0 {
			if len(p.held) > maxSequence {
				p.held = p.held[1:] // no key is that long: its begin is noise
				continue
			}
			break
		}
		p.held = p.held[n:]
		if k.Name != 0 {
			keys = append(keys, k)
		}
	}
	p.held = append([]byte(nil), p.held...)
	return keys
}

// Flush takes what is held for what it looks like: a lone Escape.
func (p *Parser) Flush() []Key {
	if !p.Waits() {
		return nil
	}
	held := p.held
	p.held = nil
	if held[0] != 0x1b {
		return nil // half a character
	}
	if len(held) == 1 {
		return []Key{{Name: Escape}}
	}
	return append([]Key{{Name: Escape}}, p.Feed(held[1:])...)
}

// inPaste collects the paste until its end.
func (p *Parser) inPaste() (Key, bool) {
	i := bytes.Index(p.held, []byte(pasteEnd))
	var take []byte
	var rest int
	switch {
	case i >= 0:
		take, rest = p.held[:i], i+len(pasteEnd)
	default: // the end may be cut in two
		rest = max(0, len(p.held)-len(pasteEnd)+1)
		take = p.held[:rest]
	}
	room := min(maxPaste-len(p.paste), len(take))
	p.paste = append(p.paste, take[:room]...)
	p.held = p.held[rest:]
	if i < 0 {
		return Key{}, false
	}
	text := string(p.paste)
	p.paste, p.pasting = nil, false
	return Key{Name: Pasted, Text: strings.ToValidUTF8(text, "\uFFFD")}, true
}

// parse gives the first key and how many bytes it has; 0 bytes where more have
// to come.
func parse(b []byte) (Key, int) {
	switch c := b[0]; {
	case c == 0x1b:
		return parseEscape(b)
	case c == '\r':
		return Key{Name: Enter}, 1
	case c == '\t':
		return Key{Name: Tab}, 1
	case c == 0x7f, c == 8:
		return Key{Name: Backspace}, 1
	case c == 0:
		return Key{Name: Text, Text: " ", Ctrl: true}, 1
	case c < 0x20:
		const upper = "abcdefghijklmnopqrstuvwxyz[\\]^_"
		return Key{Name: Text, Text: string(upper[c-1]), Ctrl: true}, 1
	case c < utf8.RuneSelf:
		return Key{Name: Text, Text: string(rune(c))}, 1
	}
	if !utf8.FullRune(b) {
		return Key{}, 0
	}
	r, n := utf8.DecodeRune(b)
	if r == utf8.RuneError && n == 1 || r >= 0x80 && r < 0xa0 {
		return Key{}, n // no character, or a control of eight bits
	}
	return Key{Name: Text, Text: string(r)}, n
}

func parseEscape(b []byte) (Key, int) {
	if len(b) == 1 {
		return Key{}, 0
	}
	switch b[1] {
	case '[':
		return parseCSI(b)
	case 'O':
		if len(b) == 2 {
			return Key{}, 0
		}
		return Key{Name: letterKey(b[2])}, 3
	case ']', 'P', '_', '^', 'X': // an answer that nobody asked for
		for i := 2; i < len(b); i++ {
			switch {
			case b[i] == 7:
				return Key{}, i + 1
			case b[i] == 0x1b && i+1 < len(b) && b[i+1] == '\\':
				return Key{}, i + 2
			}
		}
		return Key{}, 0
	case 0x1b:
		return Key{Name: Escape}, 1
	}
	k, n := parse(b[1:])
	if n == 0 {
		return Key{}, 0
	}
	k.Alt = true
	return k, n + 1
}

// parseCSI reads ESC [ parameters final.
func parseCSI(b []byte) (Key, int) {
	i := 2
	for i < len(b) && b[i] >= 0x20 && b[i] < 0x40 {
		i++
	}
	if i == len(b) {
		return Key{}, 0
	}
	if b[i] < 0x40 || b[i] > 0x7e {
		return Key{}, i // cut off by something else
	}
	var nums []int
	for _, part := range strings.Split(string(b[2:i]), ";") {
		part, _, _ = strings.Cut(part, ":")
		n, _ := strconv.Atoi(part) // what is no number is 0, which names nothing
		nums = append(nums, n)
	}
	at := func(j int) int {
		if j < len(nums) {
			return nums[j]
		}
		return 0
	}
	var k Key
	switch b[i] {
	case '~':
		k.Name = numberKey(at(0))
		if at(0) == 27 { // modifyOtherKeys: 27 ; modifiers ; code
			k = codeKey(at(2))
		}
	case 'u': // code ; modifiers
		k = codeKey(at(0))
	case 'Z':
		k.Name = BackTab
	default:
		k.Name = letterKey(b[i])
	}
	if mod := at(1) - 1; mod > 0 && k.Name != 0 {
		k.Shift, k.Alt, k.Ctrl = mod&1 != 0, mod&2 != 0, mod&4 != 0
	}
	return k, i + 1
}

func letterKey(c byte) Name {
	switch c {
	case 'A':
		return Up
	case 'B':
		return Down
	case 'C':
		return Right
	case 'D':
		return Left
	case 'H':
		return Home
	case 'F':
		return End
	case 'M':
		return Enter
	}
	return 0
}

func numberKey(n int) Name {
	switch n {
	case 1, 7:
		return Home
	case 3:
		return Delete
	case 4, 8:
		return End
	case 5:
		return PageUp
	case 6:
		return PageDown
	}
	return 0
}

// codeKey is a key that a terminal names by its character's code.
func codeKey(code int) Key {
	switch code {
	case 13:
		return Key{Name: Enter}
	case 9:
		return Key{Name: Tab}
	case 27:
		return Key{Name: Escape}
	case 127:
		return Key{Name: Backspace}
	}
	if code >= 0x20 && code < 0x7f {
		return Key{Name: Text, Text: string(rune(code))}
	}
	return Key{}
}
