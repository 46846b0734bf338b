package yamledit

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Set gives text with a value at a path. The mappings on the way are made
// where they are missing.
func Set(text string, path []string, v Value) (string, error) {
	d, f, err := open(text, path)
	if err != nil {
		return "", err
	}
	var parts []splice
	switch {
	case len(f.rest) == 0:
		parts, err = d.replace(f.last(), v)
	case len(f.chain) == 0 && (f.node == nil || empty(f.node)):
		parts, err = d.begin(f, v)
	case empty(f.node):
		parts, err = d.fill(f, v)
	default:
		parts, err = d.insert(f, v)
	}
	if err != nil {
		return "", err
	}
	return d.checked(d.spliced(parts...), path, func(*tree) *tree { return v.tree() })
}

func open(text string, path []string) (*document, found, error) {
	if len(path) == 0 {
		return nil, found{}, badForm(nil, "there is no path")
	}
	d, err := parse(text)
	if err != nil {
		return nil, found{}, err
	}
	f, err := d.walk(path)
	return d, f, err
}

// replace writes another value behind a key.
func (d *document) replace(p place, v Value) ([]splice, error) {
	key, old := p.key(), p.value()
	if old.Anchor != "" {
		return nil, badForm(old, "the value of %s is shared through an anchor", key.Value)
	}
	colon, err := d.afterColon(key)
	if err != nil {
		return nil, err
	}
	to, err := d.end(old, key.Column-1, colon)
	if err != nil {
		return nil, err
	}
	from := d.at(old)
	if to == colon {
		from = colon
	}
	if p.flow {
		return []splice{{from, to, lead(from == colon) + v.inline(true)}}, nil
	}
	if v.many && blockList(old) && len(v.list) > 0 {
		indent := strings.Repeat(" ", old.Column-1)
		return []splice{{from, to, "- " + joinItems(v.list, d.nl+indent+"- ")}}, nil
	}
	head, body := v.block(key.Column + len(key.Value))
	if d.lineOf(from) != d.lineOf(colon) { // the old value stands below its key
		below := d.lineOf(colon).next
		parts := []splice{{from: colon, to: colon, with: lead(head != "") + head}}
		return append(parts, splice{below, d.lineOf(to).next, d.below(body, key.Column-1, false)}), nil
	}
	if head == "" {
		from = colon
	}
	parts := []splice{{from, to, lead(from == colon && head != "") + head}}
	if len(body) > 0 {
		end := d.lineOf(to).end
		parts = append(parts, splice{end, end, d.below(body, key.Column-1, true)})
	}
	return parts, nil
}

func lead(wanted bool) string {
	if wanted {
		return " "
	}
	return ""
}

func blockList(n *yaml.Node) bool {
	return n.Kind == yaml.SequenceNode && n.Style&yaml.FlowStyle == 0 && len(n.Content) > 0
}

func joinItems(elems []string, between string) string {
	parts := make([]string, len(elems))
	for i, e := range elems {
		parts[i] = scalar(e, false)
	}
	return strings.Join(parts, between)
}

// below writes lines deeper than a column, each with its break in front or
// behind.
func (d *document) below(lines []string, column int, inFront bool) string {
	var b strings.Builder
	for _, l := range lines {
		if l != "" {
			l = strings.Repeat(" ", column+2) + l
		}
		if inFront {
			b.WriteString(d.nl + l)
		} else {
			b.WriteString(l + d.nl)
		}
	}
	return b.String()
}

// entry writes names, one below the other, and the value of the last one, as
// lines without a common indent.
func entry(names []string, v Value) []string {
	if len(names) > 1 {
		lines := []string{scalar(names[0], false) + ":"}
		for _, l := range entry(names[1:], v) {
			if l != "" {
				l = "  " + l
			}
			lines = append(lines, l)
		}
		return lines
	}
	name := scalar(names[0], false)
	head, body := v.block(len(name))
	lines := []string{name + ":" + lead(head != "") + head}
	for _, l := range body {
		if l != "" {
			l = "  " + l
		}
		lines = append(lines, l)
	}
	return lines
}

// flowEntry writes the same for a mapping in brackets.
func flowEntry(names []string, v Value) string {
	if len(names) > 1 {
		return scalar(names[0], true) + ": {" + flowEntry(names[1:], v) + "}"
	}
	return scalar(names[0], true) + ": " + v.inline(true)
}

// begin writes the first entry of a text that holds none.
func (d *document) begin(f found, v Value) ([]splice, error) {
	if d.root != nil && d.root.Value != "" {
		return nil, badForm(d.root, "the text holds no keys")
	}
	end := len(d.text)
	with := ""
	if d.before(end) != "" {
		with = d.nl
	}
	return []splice{{end, end, with + strings.Join(entry(f.rest, v), d.nl) + d.nl}}, nil
}

// fill writes an entry into a section that was left empty.
func (d *document) fill(f found, v Value) ([]splice, error) {
	p := f.last()
	colon, err := d.afterColon(p.key())
	if err != nil {
		return nil, err
	}
	to, err := d.end(p.value(), -1, colon)
	if err != nil {
		return nil, err
	}
	if p.flow {
		return []splice{{colon, to, " {" + flowEntry(f.rest, v) + "}"}}, nil
	}
	end := d.lineOf(to).end
	return []splice{
		{from: colon, to: to},
		{end, end, d.below(entry(f.rest, v), p.key().Column-1, true)},
	}, nil
}

// insert writes an entry behind the last one of its mapping.
func (d *document) insert(f found, v Value) ([]splice, error) {
	m := f.node
	if f.flow || m.Style&yaml.FlowStyle != 0 {
		at, between := d.at(m)+1, ""
		if len(m.Content) > 0 {
			end, err := d.endOfEntry(place{m, len(m.Content) - 2, true})
			if err != nil {
				return nil, err
			}
			at, between = end, ", "
		}
		return []splice{{at, at, between + flowEntry(f.rest, v)}}, nil
	}
	end, err := d.endOfEntry(place{in: m, i: len(m.Content) - 2})
	if err != nil {
		return nil, err
	}
	l := d.lineOf(d.deeperComments(end, m.Content[0].Column-1))
	with := d.below(entry(f.rest, v), m.Content[0].Column-3, true)
	if l.next == l.end {
		with += d.nl
	}
	return []splice{{l.end, l.end, with}}, nil
}

// deeperComments is the end of the comments that follow an offset and belong to
// what stands there: they are indented deeper than a column. Without any it is
// the offset itself.
func (d *document) deeperComments(end, column int) int {
	for pos := d.lineOf(end).next; pos < len(d.text); {
		l := d.lineOf(pos)
		body := strings.TrimLeft(d.text[l.start:l.end], " ")
		comment := strings.HasPrefix(body, "#")
		if strings.TrimSpace(body) != "" && (!comment || l.end-l.start-len(body) <= column) {
			break
		}
		if comment {
			end = l.end
		}
		pos = l.next
	}
	return end
}

func (d *document) endOfEntry(p place) (int, error) {
	colon, err := d.afterColon(p.key())
	if err != nil {
		if !p.flow {
			return 0, err
		}
		colon, err = d.end(p.key(), -1, d.at(p.key())) // {a}
		if err != nil {
			return 0, err
		}
	}
	return d.end(p.value(), p.key().Column-1, colon)
}

// Remove gives text without the entry at a path, and without the sections that
// it leaves empty. Comments above the entry stay. The error is [ErrAbsent]
// where there is nothing.
func Remove(text string, path []string) (string, error) {
	d, f, err := open(text, path)
	if err != nil {
		return "", err
	}
	if len(f.rest) > 0 {
		return "", ErrAbsent
	}
	chain := f.chain
	if anchored(chain[len(chain)-1].value()) {
		return "", badForm(chain[len(chain)-1].value(), "%s holds an anchor that others may use", path[len(path)-1])
	}
	for len(chain) > 1 && d.removable(chain[len(chain)-2], chain[len(chain)-1]) {
		chain = chain[:len(chain)-1]
	}
	part, err := d.cut(chain[len(chain)-1])
	if err != nil {
		return "", err
	}
	return d.checked(d.spliced(part), path, func(*tree) *tree { return nil })
}

func anchored(n *yaml.Node) bool {
	return n.Anchor != "" || slices.ContainsFunc(n.Content, anchored)
}

// removable tells whether a section can go with its only entry: no comment of
// someone's would go with it.
func (d *document) removable(section, only place) bool {
	k, m, e := section.key(), section.value(), only.key()
	if len(m.Content) != 2 || k.LineComment+m.HeadComment+m.LineComment+m.FootComment+e.HeadComment+e.FootComment != "" {
		return false
	}
	end, err := d.endOfEntry(only)
	return err == nil && (section.flow || d.deeperComments(end, k.Column-1) == end)
}

// cut takes an entry out of its mapping.
func (d *document) cut(p place) (splice, error) {
	end, err := d.endOfEntry(p)
	if err != nil {
		return splice{}, err
	}
	start := d.at(p.key())
	if p.flow {
		return d.cutFlow(p.in, p.i, 2, end)
	}
	if strings.TrimSpace(d.before(start)) != "" {
		return splice{}, badForm(p.key(), "%s can't be taken out of its line", p.key().Value)
	}
	return splice{from: d.lineOf(start).start, to: d.lineOf(end).next}, nil
}

// cutFlow takes the element at i, of width nodes, out of a collection in
// brackets, with the comma that it doesn't need any more.
func (d *document) cutFlow(n *yaml.Node, i, width, end int) (splice, error) {
	start := d.at(n.Content[i])
	if i+width < len(n.Content) {
		return splice{from: start, to: d.at(n.Content[i+width])}, nil
	}
	if i == 0 {
		return splice{from: start, to: end}, nil
	}
	var before int
	var err error
	if width == 2 {
		before, err = d.endOfEntry(place{n, i - 2, true})
	} else {
		before, err = d.end(n.Content[i-1], -1, d.at(n.Content[i-1]))
	}
	return splice{from: before, to: end}, err
}
