package settings

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/atomicfile"
)

// configSetJSON is what `config set` and `config unset` print with --output
// json.
type configSetJSON struct {
	SchemaVersion int    `json:"schema_version"`
	File          string `json:"file"`
	Key           string `json:"key"`
	// InForce is the entry in force after the change; it may come from a
	// stronger source than the file.
	InForce *settingJSON `json:"in_force,omitempty"`
}

func runConfigSet(ctx context.Context, rt *workbench.Runtime, o configOptions) error {
	src, err := rt.ConfigSources(nil)
	if err != nil {
		return err
	}
	file := config.OpenUserFile(src.File).Noticing(rt.Notice)
	k, err := file.Key(o.key)
	if err == nil {
		k, err = k.In(o.profile)
	}
	if err != nil {
		return err
	}
	values, err := givenValues(ctx, rt, k, o.values)
	if err != nil {
		return err
	}
	switch {
	case o.add:
		err = file.Add(ctx, k, values)
	case o.remove:
		err = file.Drop(ctx, k, values)
	default:
		err = file.Set(ctx, k, values)
	}
	if err != nil {
		return err
	}
	return configChanged(rt, src, k, o.output)
}

// maxValue bounds a value that is read from standard input.
const maxValue = 64 << 10

// givenValues are the values of a change: the arguments, or what standard input
// has. What may be secret is no argument, where other programs see it and the
// shell's history keeps it.
func givenValues(ctx context.Context, rt *workbench.Runtime, k config.Key, args []string) ([]string, error) {
	if len(args) == 1 && args[0] == "-" {
		text, err := workbench.ReadStdin(ctx, rt, maxValue)
		if err != nil {
			return nil, err
		}
		args = []string{strings.TrimRight(text, "\r\n")}
		if k.List {
			args = strings.Split(args[0], "\n")
		}
	} else if k.Private && !(len(args) == 1 && k.TakesCommand && strings.HasPrefix(args[0], "!")) {
		f := fault.New(fault.Usage, k.String()+" may be a secret, which is no argument: the shell's history keeps those",
			fault.Run("fettle config set "+cmdline.ShellWord(k.String())+" -   reads it from standard input"))
		if k.TakesCommand {
			f.Remedies = append([]fault.Remedy{fault.Run("fettle keys set " + k.Path[len(k.Path)-2] + "   asks for it, and keeps it in the keyring")}, f.Remedies...)
		}
		return nil, f
	}
	if k.List {
		args = config.SplitList(args)
	}
	return args, nil
}

func runConfigUnset(ctx context.Context, rt *workbench.Runtime, o configOptions) error {
	src, err := rt.ConfigSources(nil)
	if err != nil {
		return err
	}
	file := config.OpenUserFile(src.File).Noticing(rt.Notice)
	k, err := file.Key(o.key)
	if err == nil {
		k, err = k.In(o.profile)
	}
	if err != nil {
		unknown, ok := file.UnknownKey(o.key)
		if !ok || o.profile != "" {
			return err
		}
		k = unknown
	}
	if err := file.Unset(ctx, k); err != nil {
		return err
	}
	return configChanged(rt, src, k, o.output)
}

// configChanged tells what is in force after a change, where that isn't what
// the file says.
func configChanged(rt *workbench.Runtime, src config.Options, k config.Key, output string) error {
	out := configSetJSON{SchemaVersion: workbench.OutputVersion, File: src.File, Key: k.String()}
	cfg, err := config.Load(src)
	if err != nil {
		rt.Notice("changed " + src.File + ", and something else is wrong: " + err.Error())
	} else if e, ok := cfg.Entry(k.String()); ok {
		for _, w := range cfg.Warnings {
			if strings.HasPrefix(k.String()+".", w.Key+".") {
				rt.Notice(w.String())
			}
		}
		ofProfile := k.Path[0] == "profiles" // what it holds is in force in it alone
		if !ofProfile {
			inForce := describeSetting(e)
			out.InForce = &inForce
		}
		from := e.Origins[0]
		switch {
		case !ofProfile && from.Kind != config.FromDefault && (from.File != src.File || from.Profile != ""):
			rt.Notice("changed " + src.File + "; " + k.String() + " of " + cfg.Origin(e.Key) + " is in force, not this one")
		case output != "json" && rt.Streams.Err.IsTerminal():
			rt.Notice(k.String() + " is " + escapedLine(e.Text) + ", from " + originText(e.Origins))
		}
	}
	if output == "json" {
		return workbench.PrintJSON(rt, out)
	}
	return nil
}

// runConfigEdit lets a person edit a copy until it can be loaded, or until they
// give up.
func runConfigEdit(ctx context.Context, rt *workbench.Runtime) error {
	src, err := rt.ConfigSources(nil)
	if err != nil {
		return err
	}
	file := config.OpenUserFile(src.File).Noticing(rt.Notice)
	old, err := file.Text()
	if err != nil {
		return err
	}
	var unrecorded *atomicfile.Ledger                            // what the user wrote is never swept: the editor outlives a killed command
	dir, remove, err := unrecorded.TempDir("", "fettle-config-") // for the user alone: it may hold keys
	if err != nil {
		return fault.Wrap(fault.Failed, "make a copy to edit", err)
	}
	d := draft{rt: rt, file: file, path: filepath.Join(dir, "config.yaml"), old: old, target: src.File}
	text := old
	if strings.TrimSpace(old) == "" {
		text = config.Template()
	}
	if err := os.WriteFile(d.path, []byte(text), 0o600); err != nil {
		return errors.Join(fault.Wrap(fault.Failed, "make a copy to edit", err), remove())
	}
	kept, err := d.edit(ctx, text)
	if kept {
		rt.Notice("what you wrote is kept in " + d.path)
		return err
	}
	if rmErr := remove(); rmErr != nil && err == nil {
		err = fault.Wrap(fault.Failed, "remove the copy that was edited", rmErr)
	}
	return err
}

// draft is a copy of the configuration that is being edited.
type draft struct {
	rt     *workbench.Runtime
	file   config.UserFile
	path   string // of the copy
	target string // of the file
	old    string // what the file held at the begin
}

// edit opens the editor until what it leaves can be loaded. kept tells that the
// copy holds work that went nowhere else.
func (d *draft) edit(ctx context.Context, begin string) (kept bool, err error) {
	for {
		if err := d.rt.Edit(ctx, d.path); err != nil {
			return d.changed(begin), err
		}
		data, err := os.ReadFile(d.path)
		if err != nil {
			return false, fault.Wrap(fault.Failed, "read what was edited", err)
		}
		if string(data) == begin {
			d.rt.Notice("nothing was changed")
			_, err := d.file.Check(begin)
			return false, err // what was broken still is
		}
		warnings, err := d.file.Check(string(data))
		if err == nil {
			return d.replace(ctx, string(data), warnings)
		}
		again, discard, err := d.again(ctx, err)
		if !again {
			return !discard, err
		}
	}
}

func (d *draft) changed(begin string) bool {
	data, err := os.ReadFile(d.path)
	return err == nil && string(data) != begin
}

// replace puts what was written in the file's place.
func (d *draft) replace(ctx context.Context, text string, warnings []config.Problem) (kept bool, err error) {
	if err := d.file.Replace(ctx, d.old, text); err != nil {
		return true, err
	}
	for _, w := range warnings {
		d.rt.Notice(w.String())
	}
	d.rt.Notice("changed " + d.target)
	return false, nil
}

// again shows what is wrong and asks whether to go on editing. Where nobody
// answers, what was written is kept and the error is what is wrong.
func (d *draft) again(ctx context.Context, wrong error) (again, discard bool, err error) {
	if !d.rt.Streams.CanAsk() {
		return false, false, wrong
	}
	var f *fault.Fault
	if errors.As(wrong, &f) {
		workbench.PrintFault(d.rt, f)
	}
	key, err := d.rt.Streams.Ask(ctx, term.Question{
		Text:    "This can't be loaded.",
		Choices: []term.Choice{{Key: 'e', Label: "edit again"}, {Key: 'd', Label: "discard what was written"}},
		Default: 'e',
	})
	switch {
	case ctx.Err() != nil:
		return false, false, err
	case err != nil:
		return false, false, wrong
	case key == 'e':
		return true, false, nil
	}
	d.rt.Notice(d.target + " is as it was")
	return false, true, nil
}
