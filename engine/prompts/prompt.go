package prompts

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/didyoumean"
)

// MaxFile bounds a prompt's file. Long ones have some kilobytes.
const MaxFile = 256 << 10

// Source says whose a prompt is.
type Source string

// The sources, the stronger one first.
const (
	Project Source = "project"
	User    Source = "user"
)

// Prompt is a prompt as its file has it.
type Prompt struct {
	Name   string
	Source Source
	Path   string
	// Hides is the user's file of the same name, where this one is the
	// project's.
	Hides string

	Description string
	Model       string // provider/model, an alias or a short name
	Params      provider.Params
	System      string
	Tools       *Tools // nil says nothing about them
	// Schema is a path beside the prompt's file; see [Library.Schema].
	Schema string
	// Variables are those that the body uses, in the order of the front
	// matter, else of the body.
	Variables []Variable
	// Text is the whole file.
	Text string

	declared bool // the front matter has variables
	body     []piece
}

// Tools says which tools a model is offered.
type Tools struct {
	Enabled bool
	Globs   []string // over tool ids; empty: all
}

// Variable is a variable of a prompt.
type Variable struct {
	Name        string
	Description string
	Default     string
	Required    bool

	line, column int // of its declaration
}

// TakesInput tells whether the body says where the input goes.
func (p *Prompt) TakesInput() bool {
	return slices.ContainsFunc(p.body, func(b piece) bool { return b.name == InputName })
}

// names are the variables that a person can set.
func (p *Prompt) names() []string {
	var out []string
	for _, v := range p.Variables {
		if v.Name != InputName {
			out = append(out, v.Name)
		}
	}
	return out
}

// Check tells whether a text can be a prompt of this name.
func Check(name, text string) error {
	if len(text) > MaxFile {
		return fmt.Errorf("the prompt is larger than %d KB, the limit", MaxFile>>10)
	}
	return parse(&Prompt{Name: name, Source: User, Path: name + ext}, []byte(text))
}

// parse reads a file's text into a prompt that has its name and place already.
func parse(p *Prompt, data []byte) error {
	ps := &problems{path: p.Path}
	text := strings.ReplaceAll(strings.TrimPrefix(string(data), "\ufeff"), "\r\n", "\n")
	checkText(text, ps)
	if err := ps.err(); err != nil {
		return err
	}
	p.Text = text
	yaml, body, line := split(text, ps)
	if len(yaml) > maxFront {
		ps.at(1, 1, "the front matter is longer than %d KB", maxFront>>10)
	} else {
		(&front{ps: ps, line: 2, into: p}).read(yaml)
	}
	trimmed := strings.TrimLeft(body, "\n")
	line += len(body) - len(trimmed)
	p.body = parseBody(strings.TrimRight(trimmed, " \t\n"), line, ps)
	p.settle(ps)
	if len(p.body) == 0 && len(ps.list) == 0 {
		ps.at(line, 1, "the prompt has no text")
	}
	return ps.err()
}

// split takes the front matter off. line is where the body begins.
func split(text string, ps *problems) (yaml, body string, line int) {
	const fence = "---"
	first, rest, ok := strings.Cut(text, "\n")
	if !ok || strings.TrimRight(first, " \t") != fence {
		return "", text, 1
	}
	line = 2
	for n := 0; n <= len(rest); {
		end := strings.IndexByte(rest[n:], '\n')
		last := end < 0
		if last {
			end = len(rest) - n
		}
		line++
		if strings.TrimRight(rest[n:n+end], " \t") == fence {
			return rest[:n], rest[min(n+end+1, len(rest)):], line
		}
		if last {
			break
		}
		n += end + 1
	}
	ps.at(1, 1, "the front matter that begins here has no --- at its end")
	return "", "", line
}

// checkText finds what no prompt holds: bytes that are no UTF-8, and control
// characters, with which a file could say one thing to a person's terminal and
// another to a model.
func checkText(text string, ps *problems) {
	at := place{line: 1, column: 1}
	for i, r := range text {
		if r == '\n' {
			at = place{line: at.line + 1, column: 1}
			continue
		}
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(text[i:]); size == 1 {
				ps.at(at.line, at.column, "this byte isn't UTF-8")
				return
			}
		}
		if control(r) {
			ps.at(at.line, at.column, "the control character %U can't stand in a prompt", r)
			return
		}
		at.column++
	}
}

// settle matches what is declared with what is used.
func (p *Prompt) settle(ps *problems) {
	uses := used(p.body)
	declared := make([]string, len(p.Variables))
	for i, v := range p.Variables {
		declared[i] = v.Name
		if !slices.Contains(uses, v.Name) && p.body != nil {
			ps.at(v.line, v.column, "variables.%s isn't used in the text", v.Name)
		}
	}
	for _, b := range p.body {
		switch {
		case b.name == "" || slices.Contains(declared, b.name):
			continue
		case p.declared && b.name != InputName:
			ps.at(b.line, b.column, "%s", undeclared(b.name, declared))
			continue
		case len(p.Variables) >= maxVariables:
			ps.at(b.line, b.column, "more than %d variables", maxVariables)
			return
		}
		declared = append(declared, b.name)
		p.Variables = append(p.Variables, Variable{Name: b.name, Required: true})
	}
}

func undeclared(name string, declared []string) string {
	known := append(slices.Clone(declared), InputName)
	if near := didyoumean.Of(name, known); near != "" {
		return fmt.Sprintf("unknown variable %s; did you mean %s?", name, near)
	}
	return fmt.Sprintf("unknown variable %s; the front matter has %s", name, strings.Join(known, ", "))
}

// local tells whether a path stays within the folder it is relative to, on
// every system.
func local(path string) bool {
	return path != "." && filepath.IsLocal(path) && !strings.ContainsAny(path, `\:`)
}
