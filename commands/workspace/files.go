package workspace

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/input"
	"github.com/fettle-cli/fettle/commands/newfile"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/engine/workspace"
)

// stateJSON is a state in JSON: document 004's workspace_manifests record, with
// the names under which a person finds it.
type stateJSON struct {
	*cas.Manifest
	Tool   string          `json:"tool,omitempty"`
	Args   json.RawMessage `json:"args,omitempty"`
	By     string          `json:"by,omitempty"`
	Active bool            `json:"active,omitempty"`
	Undone bool            `json:"undone,omitempty"`
	// Reverted is set for a step that is undone and that redo does not restore.
	Reverted bool `json:"reverted,omitempty"`
}

// filesJSON is what `workspace files --output json` prints.
type filesJSON struct {
	SchemaVersion int             `json:"schema_version"`
	Chat          int64           `json:"chat"`
	Manifest      *cas.Manifest   `json:"manifest"`
	Files         json.RawMessage `json:"files"`
	Entries       []entryJSON     `json:"entries"`
}

// entryJSON is what isn't a plain file: links, folders without files, and what
// can't be brought back.
type entryJSON struct {
	Path   string `json:"path"`
	Kind   string `json:"kind"`
	Mode   string `json:"mode,omitempty"` // four octal digits, such as 0600
	Size   int64  `json:"size,omitempty"`
	Target string `json:"target,omitempty"` // of a link
	Reason string `json:"reason,omitempty"` // of what isn't kept
}

// findState finds the chat and a state of it; "" is the active one.
func findState(ctx context.Context, eng *engine.Engine, ref store.ChatRef, name string) (chat.Chat, *cas.Manifest, error) {
	c, err := eng.FindChat(ctx, ref)
	if err != nil {
		return chat.Chat{}, nil, err
	}
	if name == "" {
		name = "@"
	}
	m, err := eng.State(ctx, c, name)
	return c, m, err
}

// only is the first of a list, or nothing.
func only(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

func runWorkspaceFiles(ctx context.Context, rt *workbench.Runtime, eng *engine.Engine, o options) error {
	chat, m, err := findState(ctx, eng, o.chat, only(o.states))
	if err != nil {
		return err
	}
	if _, err := tellPending(ctx, rt, eng, chat); err != nil {
		return err
	}
	if o.output == "json" {
		return filesAsJSON(ctx, rt, eng, chat, m)
	}
	table := term.NewTable(rt.Streams.Out, term.Column{Title: "size", Right: true}, term.Column{Title: "path", Cut: true})
	n := 0
	for f, err := range eng.Files(ctx, m) {
		if err != nil {
			return err
		}
		if f.Kind == cas.Folder {
			continue
		}
		n++
		table.Row(fileSize(rt.Streams.Out, f.Entry), fileLine(f))
	}
	_ = table.Flush() // Main looks at what went wrong with writing
	if n == 0 {
		rt.Notice("there are no files in it")
	}
	return nil
}

// fileSize is a size for a person, and bytes for a program.
func fileSize(out *term.Output, e cas.Entry) string {
	switch {
	case e.Kind != cas.File && e.Kind != cas.Executable:
		return "-"
	case out.IsTerminal():
		return term.Size(e.Size)
	}
	return strconv.FormatInt(e.Size, 10)
}

// fileLine is a path with what is special about it.
func fileLine(f cas.Located) string {
	path := cas.EscapePath(f.Path)
	switch f.Kind {
	case cas.Link:
		return path + " -> " + cas.EscapePath(f.Text)
	case cas.Failed, cas.Omitted, cas.Special:
		return path + " (" + term.Clean(f.Text) + ")"
	}
	return path
}

func filesAsJSON(ctx context.Context, rt *workbench.Runtime, eng *engine.Engine, chat chat.Chat, m *cas.Manifest) error {
	var files strings.Builder
	if err := eng.WriteManifest(ctx, &files, m); err != nil {
		return err
	}
	out := filesJSON{
		SchemaVersion: workbench.OutputVersion, Chat: chat.Number, Manifest: m,
		Files: json.RawMessage(files.String()), Entries: []entryJSON{},
	}
	for f, err := range eng.Files(ctx, m) {
		if err != nil {
			return err
		}
		e := entryJSON{Path: cas.EscapePath(f.Path), Kind: f.Kind.String(), Mode: f.Perm.String()}
		switch f.Kind {
		case cas.File:
			if e.Mode == "" || e.Mode == "0644" {
				continue
			}
			e.Size = f.Size
		case cas.Link:
			e.Target = cas.EscapePath(f.Text)
		case cas.Executable:
			e.Size = f.Size
		default:
			e.Size, e.Reason = f.Size, f.Text
		}
		if f.Kind == cas.Folder {
			e.Size = 0
		}
		out.Entries = append(out.Entries, e)
	}
	return workbench.PrintJSON(rt, out)
}

func runWorkspaceCat(ctx context.Context, rt *workbench.Runtime, o options) error {
	eng, err := rt.StoreEngine()
	if err != nil {
		return err
	}
	_, m, err := findState(ctx, eng, o.chat, only(o.states))
	if err != nil {
		return err
	}
	name, err := chosenName(o.paths[0], func(name string) (bool, error) {
		_, err := eng.FileEntry(ctx, m, name)
		if fault.CodeOf(err) == fault.NotFound {
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		return err
	}
	entry, err := eng.FileEntry(ctx, m, name)
	if err != nil {
		return err
	}
	if entry.Kind != cas.File && entry.Kind != cas.Executable {
		return fault.New(fault.Usage, cas.EscapePath(name)+" is not a file but a "+entry.Kind.String(), fault.Run("fettle workspace files   lists what there is"))
	}
	return eng.ReadFile(ctx, rt.Streams.Out, entry)
}

func runWorkspacePut(ctx context.Context, rt *workbench.Runtime, eng *engine.Engine, o options) error {
	name, err := nameToPut(ctx, eng, o.chat, o.paths[0])
	if err != nil {
		return err
	}
	content, err := toPut(ctx, rt, o)
	if err != nil {
		return err
	}
	defer content.Close()
	req := workspace.RestoreRequest{Chat: o.chat, OnWait: rt.Waiting}
	w := rt.Work("workspace put")
	w.Watch(&req)
	done, err := eng.PutFile(ctx, req, workspace.Put{Name: name, Content: content})
	w.Stop()
	if err != nil {
		return err
	}
	if done.Before.ID == done.After.ID {
		rt.Notice(cas.EscapePath(name) + " is that already")
		return nil
	}
	rt.Notice("wrote " + cas.EscapePath(name) + " in chat " + strconv.FormatInt(done.Chat.Number, 10) + "; fettle undo takes it back")
	return nil
}

// maxPiped bounds what is put from a pipe, which is held in memory.
const maxPiped = 256 << 20

// toPut opens what is to be put: a file, or standard input.
func toPut(ctx context.Context, rt *workbench.Runtime, o options) (io.ReadCloser, error) {
	if o.file != "" {
		// To open a named pipe could wait for ever; what is piped in can be stopped.
		if info, err := os.Stat(o.file); err == nil && !info.Mode().IsRegular() {
			return nil, cmdline.Usagef("fettle workspace put "+cmdline.ShellWord(o.paths[0])+" <"+cmdline.ShellWord(o.file), "%s is no file", o.file)
		}
		f, err := os.Open(o.file)
		if err != nil {
			return nil, fault.Wrap(fault.Usage, "read what to put there", err)
		}
		return f, nil
	}
	if rt.Streams.In.IsTerminal() {
		return nil, cmdline.Usagef("fettle workspace put "+cmdline.ShellWord(o.paths[0])+" FILE", "workspace put wants a file, or its content on standard input")
	}
	raw, err := input.StdinBytes(ctx, input.Options{In: rt.Streams.In.File(), Notice: rt.Notice, StdinBytes: maxPiped})
	return io.NopCloser(bytes.NewReader(raw)), err
}

func runWorkspacePath(ctx context.Context, rt *workbench.Runtime, eng *engine.Engine, o options) error {
	chat, err := eng.FindChat(ctx, o.chat)
	if err != nil {
		return err
	}
	rt.Streams.Out.Printf("%s\n", eng.WorkspacePath(chat))
	return nil
}

func runWorkspaceExport(ctx context.Context, rt *workbench.Runtime, o options) (err error) {
	eng, err := rt.StoreEngine()
	if err != nil {
		return err
	}
	chat, err := eng.FindChat(ctx, o.chat)
	if err != nil {
		return err
	}
	if o.file != "-" {
		if err := newfile.MustBeNew(o.file, "rm "+cmdline.ShellWord(o.file)); err != nil {
			return err
		}
	}
	w := rt.Work("workspace export")
	defer w.Stop()
	w.Stage("written", 0)
	export := func(out io.Writer) error {
		err := eng.ExportStates(ctx, w.Writing(out), chat)
		w.Stop()
		return err
	}
	if o.file == "-" {
		return export(rt.Streams.Out)
	}
	return writeNew(rt, o.file, export)
}

// writeNew writes a file that isn't there yet, whole or not at all.
func writeNew(rt *workbench.Runtime, name string, write func(io.Writer) error) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fault.Wrap(fault.Usage, "write "+name, err)
	}
	if err = write(f); err == nil {
		if err = f.Sync(); err == nil {
			err = f.Close()
		}
		if err != nil {
			err = fault.Wrap(fault.Failed, "write "+name, err)
		}
	}
	if err != nil {
		_ = f.Close() // it may be closed already; what counts is that it goes
		if rerr := os.Remove(name); rerr != nil {
			rt.Notice("what there is of " + name + " can't be removed: " + rerr.Error())
		}
		return err
	}
	if info, err := os.Stat(name); err == nil {
		rt.Notice("wrote " + name + ", " + term.Size(info.Size()))
	}
	return nil
}
