package payloads

import "strings"

// What is looked at before a place is taken for ordinary text. All of it
// together is the most that text waits for.
const (
	maxSpace = 64 // white space between the parts of a payload, and before one
	maxFence = 16 // backticks or tildes of a fence
	maxInfo  = 64 // what stands behind a fence on its line
)

// fence is what opened a code block, or inline code around a payload's JSON.
type fence struct {
	char  byte
	n     int  // 0 for none
	block bool // it opens a code block
}

// spaces counts the white space that s begins with; with no there is more of
// it than a payload may have.
func spaces(s string, final bool) (int, verdict) {
	for i := range len(s) {
		switch {
		case !isSpace(s[i]):
			return i, yes
		case i == maxSpace:
			return i, no
		}
	}
	return len(s), ifMore(final)
}

// runOf counts the bytes c that s begins with.
func runOf(s string, c byte) int {
	n := 0
	for n < len(s) && s[n] == c {
		n++
	}
	return n
}

// openFence reads the line of s that may open a code block: where its text
// goes on behind the line, or 0 where the line isn't read to its end. It stands
// at a line's start.
func openFence(s string, final bool) (f fence, after int, v verdict) {
	n := runOf(s, s[0])
	switch {
	case n > maxFence:
		return fence{}, 0, no
	case n == len(s) && !final:
		return fence{}, 0, more
	case n < 3:
		return fence{}, 0, no
	}
	f = fence{char: s[0], n: n, block: true}
	info := s[n:min(len(s), n+maxInfo)]
	end := strings.IndexByte(info, '\n')
	if end >= 0 {
		info, after = info[:end], n+end+1
	}
	switch {
	case s[0] == '`' && strings.IndexByte(info, '`') >= 0: // inline code
		return fence{}, 0, no
	case end < 0 && len(info) < maxInfo && !final:
		return fence{}, 0, more
	}
	return f, after, yes
}

// closes tells whether s, at a line's start, is the line that ends a block.
func (f fence) closes(s string, final bool) (n int, v verdict) {
	n = runOf(s, f.char)
	switch {
	case n > maxSpace:
		return n, no
	case n == len(s) && !final:
		return n, more
	case n < f.n:
		return n, no
	}
	for i := n; i < len(s); i++ {
		switch {
		case s[i] == '\n':
			return n, yes
		case !isSpace(s[i]) || i-n == maxSpace:
			return n, no
		}
	}
	if final {
		return n, yes
	}
	return n, more
}

// codeBefore reads the fence or backticks, and the language behind them, that
// may stand between a marker and its JSON, up to the JSON.
func codeBefore(s string, final bool) (f fence, n int, v verdict) {
	n = runOf(s, s[0])
	switch {
	case n > maxFence:
		return fence{}, 0, no
	case n == len(s):
		return fence{}, 0, ifMore(final)
	case s[0] == '~' && n < 3:
		return fence{}, 0, no
	}
	f = fence{char: s[0], n: n}
	start := n
	for n < len(s) && (isWord(s[n]) || s[n] == '-') {
		if n++; n-start > maxFence {
			return fence{}, 0, no
		}
	}
	k, v := spaces(s[n:], final)
	return f, n + k, v
}

// jsonAfter finds where the JSON behind a marker begins. A code block around
// marker and JSON has no second one within.
func jsonAfter(s string, wrapped, final bool) (at int, f fence, v verdict) {
	at, v = spaces(s, final)
	if v != yes {
		return 0, fence{}, v
	}
	if !wrapped && (s[at] == '`' || s[at] == '~') {
		line := s[:at]
		var n int
		if f, n, v = codeBefore(s[at:], final); v != yes {
			return 0, fence{}, v
		}
		f.block = f.n >= 3 && startsLine(line)
		at += n
	}
	if s[at] != '{' && s[at] != '[' {
		return 0, fence{}, no
	}
	return at, f, yes
}

// startsLine tells whether what follows s begins a line: behind a line break
// are at most three spaces.
func startsLine(s string) bool {
	bare := strings.TrimRight(s, " ")
	return len(s)-len(bare) <= 3 && strings.HasSuffix(bare, "\n")
}
