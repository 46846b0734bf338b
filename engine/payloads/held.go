package payloads

import (
	"fmt"
	"strings"
)

// held is a payload whose JSON isn't all there yet.
type held struct {
	entry *entry
	raw   []byte // all that goes back if it is none
	space int    // the white space at the begin of raw
	json  int    // where the JSON begins
	end   int    // where it ends, once it has
	scan  scanner
	code  fence // the code around the JSON, to be closed behind it
}

// hold begins a payload; raw is what was read of it, up to its JSON.
func (p *Parser) hold(at place, raw string, space int) {
	p.held = &held{
		entry: at.entry, raw: []byte(raw), space: space, json: len(raw), code: at.code,
		scan: scanner{max: p.o.MaxDepth},
	}
}

// payload reads on in a payload that is held.
func (p *Parser) payload(data string, final bool) (rest string, again bool) {
	h := p.held
	if h.end == 0 {
		room := p.o.MaxBytes - (len(h.raw) - h.json)
		n, r := h.scan.feed(data[:min(len(data), room)])
		h.raw = append(h.raw, data[:n]...)
		data = data[n:]
		switch {
		case r == scanBroken:
			return p.giveBack("its JSON is not valid", data), true
		case r == scanDeep:
			return p.giveBack(fmt.Sprintf("its JSON is nested more than %d deep", p.o.MaxDepth), data), true
		case r == scanMore && n == room:
			return p.giveBack(fmt.Sprintf("its JSON is longer than %s", kilobytes(p.o.MaxBytes)), data), true
		case r == scanMore && final:
			return p.giveBack("the response ended within its JSON", ""), true
		case r == scanMore:
			return "", false
		}
		h.end = len(h.raw)
	}
	if h.code.n == 0 {
		return p.finish(data), true
	}
	return p.close(data, final)
}

// close looks for the fence that ends the code around a payload.
func (p *Parser) close(data string, final bool) (rest string, again bool) {
	h := p.held
	n, v := spaces(data, final)
	if v == yes {
		switch run := runOf(data[n:], h.code.char); {
		case run >= h.code.n:
			n += h.code.n
		case n+run == len(data):
			v = ifMore(final)
		default:
			v = no
		}
	}
	switch {
	case v == more:
		return data, false
	case v == yes:
		h.raw = append(h.raw, data[:n]...)
		code := h.code.char
		h.code = fence{}
		data = p.finish(data[n:])
		if p.gap.open {
			p.gap.fence = code
		}
		return data, true
	case final && strings.Trim(data, " \t\r\n"+string(h.code.char)) == "": // the response ended before the fence did
		return p.finish(""), true
	}
	return p.giveBack("something follows its JSON in the same code block", data), true
}

// finish ends the payload: the JSON is whole, and is judged as what it says.
func (p *Parser) finish(data string) string {
	h := p.held
	found, why := p.judge(h)
	if why != "" {
		return p.giveBack(why, data)
	}
	p.held = nil
	p.found++
	p.gap.widen(string(h.raw[:h.space]))
	p.items = append(p.items, Item{Found: &found})
	return data
}

func (p *Parser) judge(h *held) (f Found, why string) {
	if p.found >= maxFound {
		return f, fmt.Sprintf("a response may hold %d payloads", maxFound)
	}
	f = Found{Type: h.entry.Type, Data: h.raw[h.json:h.end:h.end], From: h.entry.set}
	if h.entry.Parser != "" {
		if p.o.Parse == nil {
			return f, "its parser can't be run here"
		}
		var err error
		if f.Type, f.Data, err = p.o.Parse(h.entry.set, h.entry.Config, string(f.Data)); err != nil {
			return f, err.Error()
		}
		if err := checkType(f.Type); err != nil {
			return f, "its parser gave a wrong type: " + err.Error()
		}
		if len(f.Data) > p.o.MaxBytes {
			return f, "its parser gave more than " + kilobytes(p.o.MaxBytes)
		}
	}
	if err := p.reg.Check(f.Type, h.entry.set, f.Data); err != nil {
		return f, err.Error()
	}
	return f, ""
}

// giveBack makes text of what is held, and tells why.
func (p *Parser) giveBack(why, data string) string {
	h := p.held
	p.held = nil
	raw := string(h.raw)
	keep := undecided(raw)
	p.emit(raw[:len(raw)-keep])
	if h.code.block {
		p.code = h.code
	}
	if p.notes < maxNotes {
		p.notes++
		p.items = append(p.items, Item{Note: shown("the payload " + h.entry.Type + " was left as text: " + why)})
	}
	return raw[len(raw)-keep:] + data
}

func kilobytes(n int) string {
	if n < 1<<10 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%d KB", n>>10)
}
