package config

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/fettle-cli/fettle/internal/didyoumean"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

// maxVisits bounds how many nodes of one file are looked at, so that aliases
// can't make a small file a long read. A configuration has a few hundred.
const maxVisits = 50_000

// decoder turns the nodes of one file into layers.
type decoder struct {
	src     *source
	project bool
	move    string // the file to which a refused key may be moved
	visits  int
	secret  *yaml.Node // where the file's first secret stands; nil: it has none
	sink    *problems
	file    *fileParts

	// part is where values go now: the top of the file, or the profile's.
	part    *part
	profile string
}

// field is an entry of a mapping: where it stands and what it holds.
type field struct {
	name  string // as it is written
	path  string // the names from the top, with dots between them
	label string // the path as messages show it
	key   *yaml.Node
	node  *yaml.Node // the value, aliases resolved
	free  bool       // the names below are people's own, such as a model's
	hide  bool       // the value may be a secret
}

// showName is a name as messages show it. A name that isn't free is cut at
// the first character that no setting has: in `key:sk-…`, where a space is
// missing, the secret is a part of the name.
func showName(name string, free bool) string {
	if !free {
		name = headWord(name)
	}
	if rs := []rune(name); len(rs) > maxName {
		name = string(rs[:maxName]) + "…"
	}
	return redactWords(sanitize.Mask(name))
}

// maxName is how many characters of a name a message shows; model names are
// the longest that people have.
const maxName = 120

func headWord(name string) string {
	for i := range len(name) {
		if !word(name[i:i+1], "_-.") {
			return name[:i] + "…"
		}
	}
	return name
}

// decode reads the top mapping.
func (d *decoder) decode(root *yaml.Node) {
	d.part = &d.file.top
	top := field{node: d.resolve(root), key: root}
	d.mapping(top, topLevel(), func(f field) {
		if f.name == "profiles" {
			d.profiles(f)
			return
		}
		d.entry(f)
	})
}

// entry decodes what may stand at the top and in a profile.
func (d *decoder) entry(f field) {
	switch f.name {
	case "providers":
		d.providers(f)
	case "models":
		d.models(f, "", d.part.data)
	case "prices":
		d.prices(f)
	case "agents":
		d.agents(f)
	case "ollama", "workspace", "limits", "run_command", "search", "compact":
		d.mapping(f, section(f.name), d.setting)
	default:
		d.setting(f)
	}
}

// topLevel is the keys that may stand at the top of a file.
var topLevel = sync.OnceValue(func() []string {
	var names []string
	for _, s := range table() {
		name, _, _ := strings.Cut(s.Key, ".")
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return append(names, "providers", "models", "prices", "agents", "profiles")
})

// section is the names below a key of the table.
func section(name string) []string {
	var names []string
	for _, s := range table() {
		if rest, ok := strings.CutPrefix(s.Key, name+"."); ok {
			names = append(names, rest)
		}
	}
	return names
}

// setting decodes a setting of the table.
func (d *decoder) setting(f field) {
	i := slices.IndexFunc(table(), func(s setting) bool { return s.Key == f.path })
	if i < 0 {
		return // mapping has reported it
	}
	s := &table()[i]
	if d.project && !s.Project && !s.Trust {
		d.refuse(f, s.refused)
		return
	}
	value, ok := d.value(f, s.kind)
	if !ok {
		return
	}
	to := d.part.data
	switch {
	case d.project && s.Trust:
		to = d.hold(f, s.grants)
	case d.project && playsRecording(value):
		to = d.hold(f, grantsRecording)
	}
	to.settings[s.Key] = entry{value: value, origin: d.origin(f)}
}

// playsRecording tells whether a value names a model of the provider that
// plays recorded answers.
func playsRecording(value any) bool {
	refs, ok := value.([]string)
	if ref, isOne := value.(string); isOne {
		refs, ok = []string{ref}, true
	}
	return ok && slices.ContainsFunc(refs, func(ref string) bool { return strings.HasPrefix(ref, "script/") })
}

// refuse reports a key that only the user may set.
func (d *decoder) refuse(f field, why string) {
	p := d.src.problem(f.key.Line, f.key.Column, utf8.RuneCountInString(f.name), false,
		fmt.Sprintf("a project can't set %s: %s", f.label, why))
	p.Key = f.label
	if d.move != "" {
		p.Hint = "if you want this, write it to " + d.move
	}
	d.sink.add(*p)
}

func (d *decoder) origin(f field) Origin {
	kind := FromFile
	if d.project {
		kind = FromProject
	}
	return Origin{Kind: kind, File: d.src.path, Line: f.key.Line, Column: f.key.Column, Profile: d.profile}
}

// value reads a field's value as k says.
func (d *decoder) value(f field, k kind) (any, bool) {
	if !k.list {
		return d.scalar(f, f.node, k)
	}
	if f.node.Kind == yaml.ScalarNode && k.word != nil && slices.Contains(k.tags, f.node.ShortTag()) {
		if v, ok := k.word(f.node.Value); ok {
			return v, true
		}
	}
	if f.node.Kind != yaml.SequenceNode || f.node.ShortTag() != tagSeq {
		d.wrong(f, f.node, k.wants)
		return nil, false
	}
	elems, good := []string{}, true
	for _, n := range f.node.Content {
		n = d.resolve(n)
		if n == nil {
			return nil, false
		}
		v, ok := d.scalar(f, n, kind{tags: []string{tagText}, want: k.want, parse: k.parse})
		if !ok {
			good = false
			continue
		}
		elems = append(elems, v.(string))
	}
	if k.gather != nil {
		return k.gather(elems), good
	}
	return elems, good
}

// scalar reads one scalar.
func (d *decoder) scalar(f field, n *yaml.Node, k kind) (any, bool) {
	if n.Kind == yaml.ScalarNode && slices.Contains(k.tags, n.ShortTag()) {
		v, err := k.parse(n.Value)
		if err == nil {
			return v, true
		}
		d.wrong(f, n, err.Error())
		return nil, false
	}
	want := k.want
	if n.Kind == yaml.ScalarNode && n.Style&yaml.TaggedStyle == 0 {
		_, err := k.parse(n.Value)
		switch {
		case err != nil:
		case n.ShortTag() == tagText:
			want += ", without quotes"
		default:
			want += ", in quotes"
		}
	}
	d.wrong(f, n, want)
	return nil, false
}

// wrong reports a value that isn't what was expected.
func (d *decoder) wrong(f field, n *yaml.Node, expected string) {
	msg := f.label + ": " + expected
	if found := describe(n, f.hide); found != "" {
		msg += ", found " + found
	}
	width := 1
	if n.Kind == yaml.ScalarNode {
		width = utf8.RuneCountInString(n.Value)
		if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 {
			width += len(`""`)
		}
	}
	p := d.src.problem(n.Line, n.Column, width, f.hide, msg)
	p.Key = f.label
	d.sink.add(*p)
}

// describe names what a node is.
func describe(n *yaml.Node, hide bool) string {
	switch tag := n.ShortTag(); {
	case tag == tagText && n.Kind == yaml.ScalarNode:
		if hide {
			return ""
		}
		return shown(n.Value)
	case n.Style&yaml.TaggedStyle != 0 || !strings.HasPrefix(tag, "!!"):
		if hide {
			return "a tag"
		}
		return "the tag " + shown(tag)
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Kind != yaml.ScalarNode:
		return ""
	case n.ShortTag() == tagNull:
		return "nothing"
	case hide:
		return ""
	}
	return mask(sanitize.Mask(n.Value), false)
}

// mapping goes through a mapping: each name once, each a plain text and, where
// known isn't nil, one of known. Fields without a value are passed over.
func (d *decoder) mapping(f field, known []string, each func(field)) {
	if f.node == nil {
		return
	}
	if f.node.Kind != yaml.MappingNode || f.node.ShortTag() != tagMap {
		if f.label == "" {
			d.notAMapping(f)
			return
		}
		d.wrong(f, f.node, "expected keys and values below it")
		return
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(f.node.Content); i += 2 {
		key, value := d.resolve(f.node.Content[i]), d.resolve(f.node.Content[i+1])
		if key == nil || value == nil {
			return
		}
		sub, ok := d.field(f, key, value)
		if !ok {
			continue
		}
		d.modernise(&sub)
		if line, twice := seen[sub.name]; twice {
			p := d.src.problem(sub.key.Line, sub.key.Column, utf8.RuneCountInString(sub.name), !f.free && !slices.Contains(known, sub.name),
				fmt.Sprintf("%s is set twice, first in line %d", sub.label, line))
			p.Key = sub.label
			d.sink.add(*p)
			continue
		}
		seen[sub.name] = sub.key.Line
		if known != nil && !slices.Contains(known, sub.name) {
			d.unknown(f, sub, known)
			continue
		}
		if isNull(value) {
			continue
		}
		each(sub)
	}
}

// field makes a field of a key and a value, if the key can be one.
func (d *decoder) field(parent field, key, value *yaml.Node) (field, bool) {
	f := field{name: key.Value, key: key, node: value, hide: parent.hide}
	f.path, f.label = f.name, showName(f.name, parent.free)
	if parent.path != "" {
		f.path = parent.path + "." + f.path
	}
	if parent.label != "" { // a profile's settings have the paths that they have at the top
		f.label = parent.label + "." + f.label
	}
	switch {
	case key.Kind != yaml.ScalarNode || key.ShortTag() == tagNull:
		f.path, f.label, f.name = parent.path, parent.label, ""
		d.at(f, "a key is a word or a text in quotes")
		return f, false
	case key.ShortTag() == tagMerge:
		d.at(f, "<< is not read here; write the keys out")
		return f, false
	case !plain(key.Value):
		f.path, f.label, f.name = parent.path, parent.label, ""
		d.at(f, "a key can't hold control characters or begin or end with a space")
		return f, false
	}
	d.file.keyLines = append(d.file.keyLines, key.Line)
	return f, true
}

// modernise makes a key's former name the present one, with a warning.
func (d *decoder) modernise(f *field) {
	key, ok := current(f.path)
	if !ok {
		return
	}
	p := d.src.problem(f.key.Line, f.key.Column, utf8.RuneCountInString(f.name), false, f.label+" is called "+key+" now")
	p.Key, p.Warning = f.label, true
	d.sink.add(*p)
	f.path, f.name = key, key[strings.LastIndex(key, ".")+1:]
}

// at reports a problem with a key. Its value isn't shown: nobody knows what
// was meant by it.
func (d *decoder) at(f field, msg string) {
	p := d.src.problem(f.key.Line, f.key.Column, utf8.RuneCountInString(f.name), true, msg)
	p.Key = f.label
	d.sink.add(*p)
}

// unknown reports a key that isn't known, with the one that is nearest: among
// its siblings first, then a setting of that name elsewhere.
func (d *decoder) unknown(parent, f field, known []string) {
	msg := "unknown key " + f.label
	head, _, glued := strings.Cut(f.name, ":")
	switch near := didyoumean.Of(f.name, known); {
	case glued && slices.Contains(known, head):
		msg = "a space is missing after " + head + ":"
	case near != "" && parent.label != "":
		msg += "; did you mean " + parent.label + "." + near + "?"
	case near != "":
		msg += "; did you mean " + near + "?"
	case elsewhere(f.name) != "":
		msg += "; did you mean " + elsewhere(f.name) + "?"
	case parent.label == "":
		msg += "; known are " + strings.Join(known, ", ")
	default:
		msg += "; " + parent.label + " has " + strings.Join(known, ", ")
	}
	d.at(f, msg)
}

// elsewhere finds a setting by the last part of its key, or by all of it.
func elsewhere(name string) string {
	for _, s := range table() {
		if _, last, ok := strings.Cut(s.Key, "."); s.Key == name || ok && last == name {
			return s.Key
		}
	}
	return ""
}

// notAMapping reports a file that holds something else than keys and values.
func (d *decoder) notAMapping(f field) {
	d.sink.add(*d.src.problem(f.node.Line, f.node.Column, 1, true,
		"expected keys and values, such as model: ollama/qwen3"))
}

// resolve follows an alias and counts the node; nil once there were too many.
func (d *decoder) resolve(n *yaml.Node) *yaml.Node {
	d.visits++
	if d.visits == maxVisits {
		d.sink.add(*d.src.problem(n.Line, n.Column, 1, true, "too many values, or aliases that multiply them"))
	}
	if d.visits >= maxVisits {
		return nil
	}
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// isNull tells whether a node is a value that was left out.
func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == tagNull }
