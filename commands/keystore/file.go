package keystore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/commands/config/wholefile"
	"github.com/fettle-cli/fettle/commands/config/yamledit"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/didyoumean"
	"github.com/fettle-cli/fettle/internal/strictyaml"
)

const (
	// maxFile bounds the file: a thousand long keys.
	maxFile = 1 << 20
	// maxDepth bounds its nesting; an entry has two levels.
	maxDepth = 8
	// fileHead is what a new file begins with.
	fileHead = "# Keys of providers, kept by fettle keys. Nobody else may read this file.\n"
)

// entry is what the file says of a name.
type entry struct {
	key       config.Secret
	inKeyring bool
	ends      string
}

// file is what was read.
type file struct {
	text    string
	entries map[string]entry
	exposed bool // others can read or change it
}

// read reads the file; a missing one has no entries. A file that a killed change has
// left contains keys and is removed.
func (k *Keys) read() (file, error) {
	_ = wholefile.RemoveLeftover(k.Path()) // a folder that can't be changed doesn't keep the keys from being read
	data, info, err := wholefile.Read(k.Path(), maxFile)
	if err != nil {
		return file{}, fault.Wrap(fault.Config, "the keys can't be read", err)
	}
	f := file{text: string(data), exposed: info != nil && wholefile.Exposed(info)}
	if f.entries, err = parseFile(f.text); err != nil {
		return file{}, fault.New(fault.Config, k.Path()+": "+err.Error(), fault.Advise("edit "+k.Path()))
	}
	return f, nil
}

// parseFile reads `name: key` and `name: {keyring: true, ends: abcd}`. Errors
// tell a line, and never what stands in it.
func parseFile(text string) (map[string]entry, error) {
	entries := map[string]entry{}
	root, p := strictyaml.Parse([]byte(text), strictyaml.Options{Subject: "a file of keys", MaxDepth: maxDepth})
	switch {
	case p != nil && p.Line > 0: // the message may quote the line, which may have a key
		return nil, fmt.Errorf("line %d is not YAML", p.Line)
	case p != nil:
		return nil, errors.New("the file is not YAML")
	case root == nil || root.ShortTag() == "!!null":
		return entries, nil
	}
	if root.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("line %d: expected names, each followed by a key", root.Line)
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		name, value := root.Content[i], root.Content[i+1]
		if name.Kind != yaml.ScalarNode || !config.ValidProvider(name.Value) {
			return nil, fmt.Errorf("line %d: expected the name of a provider", name.Line)
		}
		if _, twice := entries[name.Value]; twice {
			return nil, fmt.Errorf("line %d: %s is here a second time", name.Line, name.Value)
		}
		e, ok := parseEntry(value)
		if !ok {
			return nil, fmt.Errorf("line %d: the value of %s is not a key", name.Line, name.Value)
		}
		entries[name.Value] = e
	}
	return entries, nil
}

func parseEntry(n *yaml.Node) (entry, bool) {
	if n.Kind == yaml.ScalarNode {
		key, err := config.ParseKey(n.Value)
		return entry{key: config.NewSecret(key), ends: Ends(key)}, err == nil
	}
	if n.Kind != yaml.MappingNode {
		return entry{}, false
	}
	var e entry
	for i := 0; i+1 < len(n.Content); i += 2 {
		switch value := n.Content[i+1].Value; n.Content[i].Value {
		case "keyring":
			e.inKeyring = value == "true"
		case "ends":
			if len(value) > endsLength {
				return e, false
			}
			e.ends = value
		default:
			return e, false
		}
	}
	return e, e.inKeyring
}

const (
	// endsLength is how much of a key may be shown.
	endsLength = 4
	// endsFrom is how long a key has to be for that: what is shown must not
	// help anybody to guess the rest.
	endsFrom = 24
)

// Ends is the end of a key that may be shown; "" of a short one.
func Ends(key string) string {
	if len(key) < endsFrom {
		return ""
	}
	return key[len(key)-endsLength:]
}

// Set keeps a key: in the keyring, or in the file where there is no keyring,
// where it fails, or where inFile wants it. It tells where the key is now.
func (k *Keys) Set(ctx context.Context, name, key string, inFile bool) (Place, error) {
	if err := CheckName(name); err != nil {
		return "", err
	}
	key, err := config.ParseKey(strings.TrimSpace(key))
	if err != nil {
		return "", fault.New(fault.Usage, "this can't be a key: "+err.Error())
	}
	place := InFile
	err = k.change(ctx, func(f file) (string, error) {
		if !inFile && k.o.Keyring != nil && !k.gaveUp() {
			err := k.askKeyring(ctx, func() error { return hiding(key, k.o.Keyring.Set(name, key)) })
			switch {
			case ctx.Err() != nil:
				return "", context.Cause(ctx)
			case err == nil:
				place = InKeyring
			default:
				k.o.Notice(err.Error() + "; the key is kept in " + k.Path())
			}
		}
		if place == InFile && f.entries[name].inKeyring && !k.gaveUp() {
			k.forget(ctx, name)
		}
		return withEntry(f, name, key, place)
	})
	return place, err
}

// hiding is an error of somebody who was given a key, without that.
func hiding(key string, err error) error {
	if err == nil {
		return nil
	}
	return errors.New(strings.ReplaceAll(err.Error(), key, "…"))
}

// forget takes a key out of the keyring that is kept in the file from now on.
func (k *Keys) forget(ctx context.Context, name string) {
	err := k.askKeyring(ctx, func() error { return k.o.Keyring.Remove(name) })
	if err != nil && !errors.Is(err, ErrNoEntry) {
		k.o.Notice("the older key of " + name + " may still be in the keyring: " + err.Error())
	}
}

// withEntry is the file's text with an entry.
func withEntry(f file, name, key string, place Place) (string, error) {
	text, err := f.text, error(nil)
	if text == "" {
		text = fileHead
	}
	if place == InFile {
		return yamledit.Set(text, []string{name}, yamledit.Text(key))
	}
	if _, ok := f.entries[name]; ok {
		if text, err = yamledit.Remove(text, []string{name}); err != nil {
			return "", err
		}
	}
	if text, err = yamledit.Set(text, []string{name, "keyring"}, yamledit.Word("true")); err != nil || Ends(key) == "" {
		return text, err
	}
	return yamledit.Set(text, []string{name, "ends"}, yamledit.Text(Ends(key)))
}

// Remove forgets a kept key, and tells where it was. The error is a fault with
// the code NotFound where none was kept.
func (k *Keys) Remove(ctx context.Context, name string) (Place, error) {
	if err := CheckName(name); err != nil {
		return "", err
	}
	place := InFile
	err := k.change(ctx, func(f file) (string, error) {
		e, ok := f.entries[name]
		if !ok {
			return "", noEntry(name, f)
		}
		if e.inKeyring {
			place = InKeyring
			err := k.askKeyring(ctx, func() error { return k.o.Keyring.Remove(name) })
			if ctx.Err() != nil {
				return "", context.Cause(ctx)
			}
			if err != nil && !errors.Is(err, ErrNoEntry) {
				return "", &fault.Fault{Code: fault.Failed, Msg: "the key of " + name + " can't be taken out: " + err.Error(), Err: err}
			}
		}
		return yamledit.Remove(f.text, []string{name})
	})
	return place, err
}

func noEntry(name string, f file) error {
	names := slices.Sorted(maps.Keys(f.entries))
	out := fault.New(fault.NotFound, "no key of "+name+" is kept", fault.Try(fault.ListKeys))
	if near := didyoumean.Of(name, names); near != "" {
		out.Msg += " (did you mean " + near + "?)"
	}
	return out
}

// CheckName refuses what can't be a provider's name, without showing it: it may
// be a key that was typed in the wrong place.
func CheckName(name string) error {
	const hint = "fettle keys set openai   asks for the key itself"
	switch {
	case config.LooksLikeKey(name):
		return fault.New(fault.Usage, "this looks like a key, and the name of a provider was expected", fault.Run(hint))
	case !config.ValidProvider(name):
		return fault.New(fault.Usage, "a provider's name is of letters, digits, dots, dashes and underscores, at most 64 of them", fault.Run(hint))
	case name == "script":
		return fault.New(fault.Usage, name+" takes no key: it plays recordings")
	}
	return nil
}

// change writes what edit makes of the file.
func (k *Keys) change(ctx context.Context, edit func(file) (string, error)) error {
	release, err := wholefile.LockWith(ctx, k.Path(), k.o.Notice)
	if err != nil {
		if errors.Is(err, wholefile.ErrBusy) {
			return fault.New(fault.Busy, "another process is changing "+k.Path())
		}
		return fault.Wrap(fault.Config, "the keys can't be changed", err)
	}
	defer release()
	f, err := k.read()
	if err != nil {
		return err
	}
	text, err := edit(f)
	if err != nil {
		var form *yamledit.FormError
		if errors.As(err, &form) {
			return fault.New(fault.Config, k.Path()+" can't be changed in place: "+form.Error(), fault.Advise("edit "+k.Path()))
		}
		return err
	}
	if err := wholefile.ReplacePrivate(k.Path(), []byte(text)); err != nil {
		return fault.Wrap(fault.Config, "the keys can't be changed", err)
	}
	return nil
}
