package wire

import (
	"strings"

	"github.com/fettle-cli/fettle/engine/provider"
)

// Thinking tells reasoning that a server left in the content, between <think>
// tags at its very beginning, from the answer. Tags later on are the model's
// own words. The zero value is ready for use.
type Thinking struct {
	state thinkState
	held  string // text that can't be told yet
	end   string // the closing tag
	// begun is set if the text begins in the reasoning. all is what was
	// handed on as reasoning, which is the answer if the closing tag does not come.
	begun bool
	all   strings.Builder
}

// Begin has the text begin in the reasoning that a marker ends; with an empty marker it does
// nothing. It is called before the first Add.
func (t *Thinking) Begin(end string) { t.begun, t.end = end != "", end }

type thinkState int

const (
	thinkStart  thinkState = iota // nothing but space has come
	thinkOpened                   // right after the opening tag, dropping line breaks
	thinkInside                   // in the reasoning
	thinkAfter                    // after the closing one, dropping space
	thinkOver                     // all else is content
)

// Off ends the search, where reasoning came by other means.
func (t *Thinking) Off() {
	if t.state == thinkStart && t.held == "" {
		t.state = thinkOver
	}
}

// Over tells that everything from here on is content.
func (t *Thinking) Over() bool { return t.state == thinkOver }

// Add takes a piece of content and appends what it turns out to be.
func (t *Thinking) Add(dst []provider.Delta, text string) []provider.Delta {
	text = t.held + text
	t.held = ""
	if t.state == thinkStart {
		text = t.open(text)
	}
	if t.state == thinkOpened {
		if text = strings.TrimLeft(text, "\r\n"); text != "" {
			t.state = thinkInside
		}
	}
	if t.state == thinkInside {
		dst, text = t.inside(dst, text)
	}
	if t.state == thinkAfter {
		text = strings.TrimLeft(text, " \t\r\n")
		if text != "" {
			t.state = thinkOver
		}
	}
	if t.state == thinkOver {
		dst = appendText(dst, provider.Content, text)
	}
	return dst
}

// open looks for the opening tag. It gives the text behind it, or all of it
// where there is none, or nothing while it can't be told.
func (t *Thinking) open(text string) string {
	trimmed := strings.TrimLeft(text, " \t\r\n")
	for _, name := range []string{"think", "thinking"} {
		tag := "<" + name + ">"
		if rest, ok := strings.CutPrefix(trimmed, tag); ok {
			t.state, t.end, t.begun = thinkOpened, "</"+name+">", false
			return rest
		}
		if strings.HasPrefix(tag, trimmed) {
			t.held = text
			return ""
		}
	}
	if t.begun && trimmed == "" {
		t.held = text
		return ""
	}
	if t.state = thinkOver; t.begun {
		t.state = thinkInside
	}
	return text
}

// inside hands on reasoning up to the closing tag.
func (t *Thinking) inside(dst []provider.Delta, text string) ([]provider.Delta, string) {
	if i := strings.Index(text, t.end); i >= 0 {
		t.state, t.begun = thinkAfter, false
		return appendText(dst, provider.Reasoning, text[:i]), text[i+len(t.end):]
	}
	keep := 0 // the beginning of a closing tag may be at the end
	for n := min(len(text), len(t.end)-1); n > 0; n-- {
		if strings.HasSuffix(text, t.end[:n]) {
			keep = n
			break
		}
	}
	t.held = text[len(text)-keep:]
	if t.begun {
		t.all.WriteString(text[:len(text)-keep])
	}
	return appendText(dst, provider.Reasoning, text[:len(text)-keep]), ""
}

// End hands on what was held back.
func (t *Thinking) End(dst []provider.Delta) []provider.Delta {
	kind := provider.Content
	switch {
	case t.state == thinkInside && t.begun: // the model did not think
		t.held = t.all.String() + t.held
	case t.state == thinkInside:
		kind = provider.Reasoning
	}
	dst = appendText(dst, kind, t.held)
	t.held = ""
	return dst
}

func appendText(dst []provider.Delta, kind provider.DeltaKind, text string) []provider.Delta {
	if text == "" {
		return dst
	}
	return append(dst, provider.Delta{Kind: kind, Text: text})
}
