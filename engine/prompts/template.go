package prompts

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fettle-cli/fettle/internal/didyoumean"
)

// piece is a part of a body: text, or a variable.
type piece struct {
	text         string
	name         string // "" for text
	line, column int    // where a variable stands
}

// maxUses bounds how often a body uses variables, and with it what filling
// costs.
const maxUses = 500

// parseBody splits a body, whose first line is the file's line-th, into pieces.
func parseBody(body string, line int, ps *problems) []piece {
	var out []piece
	var text strings.Builder
	at := place{line: line, column: 1}
	for uses := 0; body != ""; {
		i := strings.Index(body, "{{")
		if i < 0 {
			text.WriteString(body)
			break
		}
		head := body[:i]
		slashes := len(head) - len(strings.TrimRight(head, `\`))
		text.WriteString(head[:i-(slashes+1)/2]) // of each two backslashes one stays
		at.over(head)
		if slashes%2 == 1 {
			text.WriteString("{{")
			at.over("{{")
			body = body[i+2:]
			continue
		}
		name, size := variableAt(body[i:], at, ps)
		if uses++; uses > maxUses {
			ps.at(at.line, at.column, "variables are used more than %d times", maxUses)
			return nil
		}
		if name != "" {
			out = append(appendText(out, &text), piece{name: name, line: at.line, column: at.column})
		}
		at.over(body[i : i+size])
		body = body[i+size:]
	}
	return appendText(out, &text)
}

func appendText(out []piece, text *strings.Builder) []piece {
	if text.Len() == 0 {
		return out
	}
	out = append(out, piece{text: text.String()})
	text.Reset()
	return out
}

// variableAt reads the variable that s begins with. It gives its name, which is
// empty after a problem, and how many bytes were read.
func variableAt(s string, at place, ps *problems) (name string, size int) {
	const hint = `write \{{ for the braces themselves`
	end := strings.Index(s, "}}")
	if end < 0 || strings.ContainsAny(s[:end], "\n") {
		ps.at(at.line, at.column, "these braces aren't closed on the line; %s", hint)
		return "", 2
	}
	inner := strings.Trim(s[2:end], " \t")
	if !validVariable(inner) {
		ps.at(at.line, at.column, "%s is no variable's name; %s", shown(inner), hint)
		return "", end + 2
	}
	return inner, end + 2
}

// place is a position in a file.
type place struct{ line, column int }

// over moves the place behind s.
func (p *place) over(s string) {
	if i := strings.LastIndexByte(s, '\n'); i >= 0 {
		p.line += strings.Count(s, "\n")
		p.column = 1
		s = s[i+1:]
	}
	p.column += utf8.RuneCountInString(s)
}

// used are the names of a body's variables, each once, in order.
func used(pieces []piece) []string {
	var out []string
	seen := map[string]bool{}
	for _, p := range pieces {
		if p.name != "" && !seen[p.name] {
			seen[p.name] = true
			out = append(out, p.name)
		}
	}
	return out
}

// MaxFilled bounds a filled prompt. Input may be as long as the caller lets
// it, but a body that repeats it, or a value, a thousand times is no prompt.
const MaxFilled = 64 << 20

// Values are what a prompt is filled with.
type Values struct {
	// Vars are values by the variables' names; there is none for input.
	Vars map[string]string
	// Input stands where the body has {{input}}. Tail goes behind a body that
	// has none.
	Input, Tail string
	// Shown tells that the model is shown something else too, such as files,
	// so that a prompt about an input may go without one.
	Shown bool
}

// UnknownError is a value for a variable that the prompt doesn't have.
type UnknownError struct {
	Prompt, Name string
	Near         string   // the variable that was meant, where one is near
	Known        []string // the prompt's variables
}

func (e *UnknownError) Error() string {
	msg := fmt.Sprintf("prompt %s has no variable %s", e.Prompt, shown(e.Name))
	switch {
	case e.Near != "":
		return msg + " (did you mean " + e.Near + "?)"
	case len(e.Known) > 0:
		return msg + "; it has " + strings.Join(e.Known, ", ")
	}
	return msg + "; it has none"
}

// MissingError are variables that need a value and got none.
type MissingError struct {
	Prompt string
	Vars   []Variable
}

func (e *MissingError) Error() string {
	names := make([]string, len(e.Vars))
	for i, v := range e.Vars {
		names[i] = v.Name
	}
	if len(names) == 1 && names[0] == InputName {
		return "prompt " + e.Prompt + " needs something to work on"
	}
	return "prompt " + e.Prompt + " needs a value for " + strings.Join(names, ", ")
}

// TooLongError is a filled prompt that is over [MaxFilled].
type TooLongError struct{ Prompt string }

func (e *TooLongError) Error() string {
	return fmt.Sprintf("prompt %s would be longer than %d MB", e.Prompt, MaxFilled>>20)
}

// Check tells whether Fill would take these values, without an input.
func (p *Prompt) Check(vars map[string]string) error {
	_, err := p.values(Values{Vars: vars, Shown: true})
	return err
}

// Fill makes the text that a model is asked.
func (p *Prompt) Fill(v Values) (string, error) {
	values, err := p.values(v)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	limit := MaxFilled + len(v.Input) + len(v.Tail)
	for _, piece := range p.body {
		text := piece.text
		if piece.name != "" {
			text = values[piece.name]
		}
		if b.Len()+len(text) > limit {
			return "", &TooLongError{p.Name}
		}
		b.WriteString(text)
	}
	if p.TakesInput() && v.Input != "" {
		return b.String(), nil
	}
	// What stands at the end now was put before something that isn't there.
	out := strings.TrimRight(b.String(), " \t\n")
	if p.TakesInput() || v.Tail == "" {
		return out, nil
	}
	if out == "" {
		return v.Tail, nil
	}
	return out + "\n\n" + v.Tail, nil
}

// values settles what each variable is.
func (p *Prompt) values(v Values) (map[string]string, error) {
	known := p.names()
	for _, name := range slices.Sorted(maps.Keys(v.Vars)) {
		if !slices.Contains(known, name) {
			return nil, &UnknownError{Prompt: p.Name, Name: name, Near: didyoumean.Of(name, known), Known: known}
		}
	}
	out := make(map[string]string, len(p.Variables))
	var missing []Variable
	for _, d := range p.Variables {
		value, given := v.Vars[d.Name]
		isInput := d.Name == InputName
		if isInput {
			value, given = v.Input, v.Input != ""
		}
		switch {
		case given:
			out[d.Name] = value
		case d.Required && (!isInput || !v.Shown):
			missing = append(missing, d)
		default:
			out[d.Name] = d.Default
		}
	}
	if len(missing) > 0 {
		return nil, &MissingError{Prompt: p.Name, Vars: missing}
	}
	return out, nil
}
