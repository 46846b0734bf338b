package config

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/fettle-cli/fettle/internal/sanitize"
)

// What a trusted project's file may do beyond holding data; the reasons are
// also the headings under which `fettle trust` shows the lines, the most
// dangerous first.
const (
	grantsCommand   = "runs a command to get a key"
	grantsCalls     = "lets tool calls run without asking"
	grantsSending   = "sends questions, files and keys to an address"
	grantsKeyEnv    = "sends a variable of yours as a key"
	grantsHeader    = "adds headers, parameters or fields to each request"
	grantsKey       = "gives the key to use"
	grantsProvider  = "says what a provider is"
	grantsProfile   = "chooses one of your profiles"
	grantsRecording = "answers from a recording in the model's place"
	grantsSystem    = "tells every model what to do first"
	grantsAgent     = "describes an agent: its prompt, its tools and its model"
)

func grantOrder() []string {
	return []string{grantsCommand, grantsCalls, grantsSending, grantsKeyEnv, grantsHeader, grantsKey, grantsProvider, grantsProfile, grantsRecording, grantsSystem, grantsAgent}
}

// grantOf is what a field of a provider lets a project do.
func grantOf(field string, command bool) string {
	switch {
	case command:
		return grantsCommand
	case field == "base_url":
		return grantsSending
	case field == "key_env":
		return grantsKeyEnv
	case field == "key":
		return grantsKey
	}
	return grantsProvider
}

// Project is a project's file and what it wants beyond holding data.
type Project struct {
	File    string
	Sum     string // the SHA-256 of the file, in hex
	Trusted bool
	Grants  []Grant // the most dangerous first
}

// Grant is one key of a project's file that counts only if the user trusts the
// file.
type Grant struct {
	Key    string // with profiles.NAME in front where it stands in a profile
	Does   string // what it lets the project do
	Line   int
	Column int
	// Text is the key and its value as it was read, on one line; of a secret it
	// says that there is one.
	Text string
	// Lines is the entry as it stands in the file; where that wouldn't show all
	// of the value, or would show a secret, it is the text.
	Lines []string
	// Command is the command of a key, as it would be run.
	Command string

	lines []int // where the values stand that can be seen there; nil: some can't
}

// part is the top of a file, or one of its profiles.
type part struct {
	data *layer
	held *layer // what a project may say only if it is trusted; empty otherwise
}

func newPart() part { return part{newLayer(), newLayer()} }

// layers gives what counts, the weaker first.
func (p part) layers(trusted bool) []*layer {
	if trusted {
		return []*layer{p.data, p.held}
	}
	return []*layer{p.data}
}

// fileParts is what one file says.
type fileParts struct {
	src      *source
	top      part
	profiles map[string]part
	trusted  bool // what is held counts
	grants   []Grant
	keyLines []int // where entries begin, for the ends of those before them
	secrets  []int // the lines of keys and headers
	pending  []pending
	wanted   []wantedAgent
}

// pending is a provider that has no address of its own.
type pending struct {
	name    string
	problem Problem
}

func newFileParts() *fileParts {
	return &fileParts{top: newPart(), profiles: map[string]part{}}
}

// hold gives the layer for what counts only if the project is trusted, and
// notes what it would be trusted with.
func (d *decoder) hold(f field, does string) *layer {
	g := Grant{Key: f.label, Does: does, Line: f.key.Line, Column: f.key.Column}
	switch {
	case does == grantsKey || does == grantsHeader:
		g.Text = f.label + ": " + redacted
	case f.node.Kind == yaml.ScalarNode:
		g.Text = f.label + ": " + sanitize.Mask(f.node.Value)
		g.lines = d.visible(f.node)
	default:
		var values []string
		var nodes []*yaml.Node
		for _, n := range f.node.Content {
			if n = d.resolve(n); n != nil {
				values, nodes = append(values, sanitize.Mask(n.Value)), append(nodes, n)
			}
		}
		g.Text = f.label + ": [" + strings.Join(values, ", ") + "]"
		g.lines = d.visible(nodes...)
	}
	if does == grantsCommand {
		g.Command = strings.TrimSpace(strings.TrimPrefix(f.node.Value, "!"))
	}
	d.file.grants = append(d.file.grants, g)
	return d.part.held
}

// visible gives the lines of nodes if the file shows each of them as it was
// read, which it doesn't where there is an escape, a fold or a tag; else nil.
func (d *decoder) visible(nodes ...*yaml.Node) []int {
	lines := []int{}
	for _, n := range nodes {
		rs := []rune(d.src.line(n.Line))
		text := string(rs[min(max(0, n.Column-1), len(rs)):])
		want := n.Value
		switch {
		case n.Style&yaml.DoubleQuotedStyle != 0:
			want = `"` + want + `"`
		case n.Style&yaml.SingleQuotedStyle != 0:
			want = "'" + want + "'"
		}
		if !strings.HasPrefix(text, want) {
			return nil
		}
		lines = append(lines, n.Line)
	}
	return lines
}

// showLines finds the grants' lines in the file: those that show all that was
// read (an alias doesn't: its value stands elsewhere), and no secret.
func (p *fileParts) showLines() {
	slices.Sort(p.keyLines)
	for i := range p.grants {
		g := &p.grants[i]
		last := p.lastLine(g.Line)
		elsewhere := slices.ContainsFunc(g.lines, func(line int) bool { return line < g.Line || line > last })
		secret := slices.ContainsFunc(p.secrets, func(line int) bool { return line <= last && p.lastLine(line) >= g.Line })
		if g.lines == nil || elsewhere || secret {
			g.Lines = []string{g.Text}
			continue
		}
		for n := g.Line; n <= last; n++ {
			g.Lines = append(g.Lines, sanitize.Mask(p.src.line(n)))
		}
	}
	slices.SortStableFunc(p.grants, func(a, b Grant) int {
		return slices.Index(grantOrder(), a.Does) - slices.Index(grantOrder(), b.Does)
	})
}

// lastLine is the last line of the entry that begins in a line: the one before
// the next entry, without the empty lines and comments at its end.
func (p *fileParts) lastLine(line int) int {
	last := len(p.src.lines)
	if i, _ := slices.BinarySearch(p.keyLines, line+1); i < len(p.keyLines) {
		last = p.keyLines[i] - 1
	}
	for last > line {
		text := strings.TrimSpace(p.src.line(last))
		if text != "" && !strings.HasPrefix(text, "#") {
			break
		}
		last--
	}
	return last
}

// project is what is known of the file for callers.
func (p *fileParts) project(sum string) *Project {
	return &Project{File: p.src.path, Sum: sum, Trusted: p.trusted, Grants: p.grants}
}

// sumOf is the digest of a file's content.
func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// FindProject gives the project's file that counts in a folder, "" where there
// is none. home is the user's, where the search ends.
func FindProject(dir, home string) string { return findProject(dir, home) }

// ReadProject reads a project's file alone. The problems are those of the
// file; with an error among them it can't be trusted.
func ReadProject(file string, trusted func(file, sum string) bool) (*Project, []Problem) {
	l := &loader{Options: Options{Trusted: trusted}}
	p := l.readProjectFile(file)
	if p == nil {
		return nil, l.sink.all()
	}
	l.checkAddresses([]*fileParts{p})
	return l.project, l.sink.all()
}

// untrusted tells the user what a project's file isn't allowed yet.
func (l *loader) untrusted(p *fileParts) {
	grants := slices.SortedFunc(slices.Values(p.grants), func(a, b Grant) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	var keys []string
	for _, g := range grants {
		key := g.Key
		if parts := strings.SplitN(key, ".", 3); (parts[0] == "providers" || parts[0] == "agents") && len(parts) > 2 {
			key = parts[0] + "." + parts[1]
		}
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	const few = 4 // names that fit on a line; the rest is a number
	list := strings.Join(keys[:min(few, len(keys))], ", ")
	if len(keys) > few {
		list += fmt.Sprintf(" and %d more", len(keys)-few)
	}
	l.sink.add(Problem{
		File: p.src.path, Line: grants[0].Line, Column: grants[0].Column, Key: grants[0].Key, Warning: true,
		Msg:  "not read until you trust this file: " + list + "; fettle trust shows what it wants, and asks",
		Hint: "fettle trust",
	})
}
