package config

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/commands/config/wholefile"
	"github.com/fettle-cli/fettle/commands/config/yamledit"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/strictyaml"
	"go.yaml.in/yaml/v4"
)

// ErrChanged says that a file isn't what it was when it was read.
var ErrChanged = errors.New("the file was changed in the meantime")

// UserFile is the user's configuration file, to be changed. Changes of several
// processes wait for each other; a reader sees the file as it was or as it is.
type UserFile struct {
	path   string
	notice func(string)
}

// OpenUserFile names the file; it need not be there yet.
func OpenUserFile(path string) UserFile { return UserFile{path: path} }

// Noticing returns the file with a function that is called with a line if a change waits
// for another process.
func (f UserFile) Noticing(notice func(string)) UserFile {
	f.notice = notice
	return f
}

// Text reads the file; a missing one is empty.
func (f UserFile) Text() (string, error) {
	data, _, err := readFile(f.path)
	if err != nil {
		return "", (&Error{Problems: []Problem{{File: f.path, Msg: err.Error()}}}).Fault()
	}
	return string(data), nil
}

// with reads a text as if the file held it.
func (f UserFile) with(text string) (*fileParts, problems) {
	l := &loader{Options: Options{File: f.path}, text: &text}
	parts := l.readUser()
	l.combine([]*fileParts{parts, newFileParts()}, nil)
	return parts, l.sink
}

// Check tells what would be wrong with the file if it held a text: the
// warnings, and the error that loading it would give.
func (f UserFile) Check(text string) ([]Problem, error) {
	_, found := f.with(text)
	return found.warnings, found.err()
}

// Replace makes text the file's content if that is still old; else the error
// wraps [ErrChanged]. A text that can't be loaded is refused.
func (f UserFile) Replace(ctx context.Context, old, text string) error {
	return f.change(ctx, func(now string) (string, error) {
		if now != old {
			return "", &fault.Fault{Code: fault.Busy, Msg: f.path + " was changed in the meantime", Err: ErrChanged}
		}
		return text, nil
	})
}

// change makes what edit gives the file's content, if that can be loaded.
func (f UserFile) change(ctx context.Context, edit func(old string) (string, error)) error {
	release, err := wholefile.LockWith(ctx, f.path, f.notice)
	if err != nil {
		return f.failed(err)
	}
	defer release()
	old, err := f.Text()
	if err != nil {
		return err
	}
	text, err := edit(old)
	if err != nil || text == old {
		return err
	}
	if len(text) > maxFile {
		return fault.New(fault.Usage, fmt.Sprintf("%s would be larger than %s, the limit", f.path, FormatSize(maxFile)))
	}
	if _, err := f.Check(text); err != nil {
		return err
	}
	if err := wholefile.Replace(f.path, []byte(text)); err != nil {
		return f.failed(err)
	}
	return nil
}

// failed makes a fault of what the file system refused.
func (f UserFile) failed(err error) error {
	switch {
	case errors.Is(err, wholefile.ErrBusy):
		return fault.New(fault.Busy, "another process is changing "+f.path)
	case errors.Is(err, context.Canceled):
		return err
	}
	return fault.Wrap(fault.Config, "the configuration can't be changed", err)
}

// Key reads a dotted path; see the type [Key] for how.
func (f UserFile) Key(path string) (Key, error) {
	text, err := f.Text()
	if err != nil {
		return Key{}, err
	}
	parts, _ := f.with(text)
	return parseKeyPath(path, namesOf(parts))
}

// In is the same key within a profile.
func (k Key) In(profile string) (Key, error) {
	if profile == "" || len(k.Path) > 0 && k.Path[0] == "profiles" {
		return k, nil
	}
	if !validProfile(profile) {
		return k, usage(shown(profile) + " can't be a profile's name: expected letters, digits, dashes and underscores")
	}
	if k.Path[0] == "profile" {
		return k, usage("a profile can't choose a profile")
	}
	k.Path = append([]string{"profiles", profile}, k.Path...)
	return k, nil
}

// SplitList splits the values of a list as they are given on a command line:
// at commas, but not within brackets or quotes, which rules may hold.
func SplitList(values []string) []string {
	var out []string
	for _, v := range values {
		depth, quote, start := 0, rune(0), 0
		add := func(part string) {
			if part = strings.TrimSpace(part); part != "" {
				out = append(out, part)
			}
		}
		for i, r := range v {
			switch {
			case quote != 0:
				if r == quote {
					quote = 0
				}
			case r == '"' || r == '\'':
				quote = r
			case strings.ContainsRune("([{", r):
				depth++
			case strings.ContainsRune(")]}", r):
				depth--
			case r == ',' && depth <= 0:
				add(v[start:i])
				start = i + 1
			}
		}
		add(v[start:])
	}
	return out
}

// Set gives a key a value, or several where it is a list.
func (f UserFile) Set(ctx context.Context, k Key, values []string) error {
	value, err := k.value(values)
	if err != nil {
		return err
	}
	return f.edit(ctx, k, func(text string) (string, error) { return yamledit.Set(k.withoutFormer(text), k.Path, value) })
}

// Add adds elements to a list, leaving out those that are there.
func (f UserFile) Add(ctx context.Context, k Key, values []string) error {
	if err := k.needsList("--add"); err != nil {
		return err
	}
	if _, err := k.value(values); err != nil {
		return err
	}
	return f.edit(ctx, k, func(text string) (string, error) {
		parts, _ := f.with(text)
		have, set := parts.elems(k)
		if k.kind.word != nil && (!set || have == nil) { // off and on are no lists to add to
			return "", yamledit.ErrNotList
		}
		missing := slices.DeleteFunc(slices.Clone(values), func(v string) bool { return slices.Contains(have, v) })
		if len(missing) == 0 {
			return text, nil
		}
		return yamledit.Append(text, k.Path, missing)
	})
}

// Drop takes elements out of a list. Where none of them is in it, it is an
// error.
func (f UserFile) Drop(ctx context.Context, k Key, values []string) error {
	if err := k.needsList("--remove"); err != nil {
		return err
	}
	return f.edit(ctx, k, func(text string) (string, error) {
		out, err := yamledit.Drop(text, k.Path, values)
		if errors.Is(err, yamledit.ErrAbsent) {
			return "", fault.New(fault.NotFound, fmt.Sprintf("%s in %s doesn't have %s", k, f.path, shown(strings.Join(values, ", "))),
				fault.Run("fettle config get "+k.String()))
		}
		return out, err
	})
}

// elems is a list as the file has it, and whether the key is set at all; nil
// for what is no list.
func (p *fileParts) elems(k Key) (elems []string, set bool) {
	lay, path := p.top.data, k.Path
	if path[0] == "profiles" {
		of, ok := p.profiles[path[1]]
		if !ok {
			return nil, false
		}
		lay, path = of.data, path[2:]
	}
	e, ok := lay.settings[strings.Join(path, ".")]
	switch v := e.value.(type) {
	case []string:
		return v, ok
	case Tools:
		return v.Globs, ok
	case Network:
		return v.Hosts, ok
	}
	return nil, ok
}

func (k Key) needsList(flag string) error {
	if k.List {
		return nil
	}
	return usage(fmt.Sprintf("%s is no list, which %s is for", k, flag), "fettle config set "+k.String()+" VALUE")
}

// Unset takes a key, or a section with all that is in it, out of the file.
func (f UserFile) Unset(ctx context.Context, k Key) error {
	return f.edit(ctx, k, func(text string) (string, error) {
		rest := k.withoutFormer(text)
		out, err := yamledit.Remove(rest, k.Path)
		switch {
		case errors.Is(err, yamledit.ErrAbsent) && rest != text:
			return rest, nil
		case errors.Is(err, yamledit.ErrAbsent):
			return "", fault.New(fault.NotFound, fmt.Sprintf("%s is not set in %s", k, f.path), fault.Run("fettle config list   tells what is, and where"))
		}
		return out, err
	})
}

// withoutFormer is a text without the key's former name.
func (k Key) withoutFormer(text string) string {
	if k.former == "" {
		return text
	}
	path := append(slices.Clone(k.Path[:len(k.Path)-1]), k.former)
	if out, err := yamledit.Remove(text, path); err == nil {
		return out
	}
	return text
}

// UnknownKey is the key of an entry that stands in the file and is none that
// is known, so that it can be taken out; ok is false where there is none.
func (f UserFile) UnknownKey(path string) (k Key, ok bool) {
	text, err := f.Text()
	if err != nil {
		return Key{}, false
	}
	segs, err := splitPath(path)
	if err != nil {
		return Key{}, false
	}
	for _, s := range segs {
		k.Path = append(k.Path, s.text)
	}
	_, err = yamledit.Remove(text, k.Path)
	return k, err == nil
}

// edit changes the text and says in our words why that can't be done.
func (f UserFile) edit(ctx context.Context, k Key, do func(text string) (string, error)) error {
	return f.change(ctx, func(text string) (string, error) {
		root, p := parseYAML([]byte(text), newSource(f.path, text))
		if p != nil { // nothing can be changed in place before that is mended
			return "", (&Error{Problems: []Problem{*p}}).Fault()
		}
		if root != nil && root.Kind != yaml.MappingNode && !isNull(root) {
			_, err := f.Check(text)
			return "", err
		}
		out, err := do(text)
		var form *yamledit.FormError
		switch {
		case errors.Is(err, yamledit.ErrNotList):
			return "", usage(fmt.Sprintf("%s is no list in %s yet", k, f.path), "fettle config set "+k.String()+" A,B")
		case errors.As(err, &form):
			return "", fault.New(fault.Config, fmt.Sprintf("%s can't be changed in place in %s: %s", k, f.path, form), fault.Run("fettle config edit"))
		}
		return out, err
	})
}

// value reads what a key is set to, as the file would be read, and gives it as
// the file should hold it.
func (k Key) value(values []string) (yamledit.Value, error) {
	switch {
	case k.Section:
		return yamledit.Value{}, usage(k.String()+" holds other keys; set one of them", "fettle config list "+k.String())
	case len(values) == 0 && !k.List:
		return yamledit.Value{}, usage(k.String() + " needs a value")
	case len(values) > 1 && !k.List:
		return yamledit.Value{}, usage(fmt.Sprintf("%s has one value, not %d; put one with spaces in quotes", k, len(values)))
	}
	if k.List {
		return k.list(values)
	}
	if _, err := k.kind.parse(values[0]); err != nil {
		msg := k.String() + ": " + err.Error()
		if !k.Secret {
			msg += ", found " + shown(values[0])
		}
		return yamledit.Value{}, usage(msg)
	}
	return k.kind.written(values[0]), nil
}

func (k Key) list(values []string) (yamledit.Value, error) {
	if k.kind.word != nil && len(values) == 1 {
		if _, ok := k.kind.word(values[0]); ok {
			return yamledit.Word(strings.ToLower(values[0])), nil
		}
	}
	for _, v := range values {
		if _, err := k.kind.parse(v); err != nil {
			return yamledit.Value{}, usage(fmt.Sprintf("%s: %s, found %s", k, err, shown(v)))
		}
	}
	return yamledit.List(values), nil
}

// written is a value as the file should hold it: a number or a word without
// quotes where its kind may be one.
func (k kind) written(text string) yamledit.Value {
	if k.canon != nil {
		text = k.canon(text)
	}
	n, p := strictyaml.Parse([]byte(text), strictyaml.Options{Subject: "a value", MaxDepth: maxDepth})
	if p == nil && n != nil && n.Value == text && n.ShortTag() != tagText && slices.Contains(k.tags, n.ShortTag()) {
		return yamledit.Word(text)
	}
	return yamledit.Text(text)
}
