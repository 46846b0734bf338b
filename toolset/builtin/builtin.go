package builtin

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/wspath"
)

// Options sets what differs between uses. The zero value gives all tools, of
// which those that need more than files say at a call what is missing.
type Options struct {
	// ReadLimit bounds the bytes that one read_file call returns; 0 is
	// 256 KiB.
	ReadLimit int
	// Policy says what the tools may reach beside the workspace that a call
	// works on; file tools and commands obey the same one.
	Policy toolset.Policy
	// Launcher starts commands, and the program that reads strangers' files.
	Launcher toolset.Launcher
	Commands Commands
	Web      Web
	Search   Search
}

// defaultReadLimit is about 64,000 tokens, more than most models can use.
const defaultReadLimit = 256 << 10

// Entries gives the tools in the order in which people look for them. All are
// enabled but web_search where no place to search is set.
func Entries(o Options) []toolset.Entry {
	if o.ReadLimit <= 0 {
		o.ReadLimit = defaultReadLimit
	}
	return []toolset.Entry{
		guarded(o.Policy, readFile(o.ReadLimit)),
		guarded(o.Policy, writeFile()),
		guarded(o.Policy, editFile()),
		guarded(o.Policy, listFiles()),
		guarded(o.Policy, searchFiles()),
		runCommand(o),
		webFetch(o),
		webSearch(o.Search),
		youtubeTranscript(o.Web),
	}
}

// category is the grouping of the file tools.
const category = "files"

// runnable is the decoded arguments of a file tool, which do its work.
type runnable interface {
	run(context.Context, *toolset.Workspace) (toolset.Result, error)
}

// preparing is the arguments of a file tool that has something to do before the state of
// the workspace is taken; see [toolset.Entry.Prepare].
type preparing interface {
	prepare(context.Context, *toolset.Workspace) error
}

// entry makes an entry of a file tool and the type of its arguments; prepare
// sets what isn't an argument, and may be nil.
func entry[A runnable](t toolset.Tool, prepare func(*A)) toolset.Entry {
	t.Category = category
	e := called(t, func(ctx context.Context, call toolset.Call, args A) (toolset.Result, error) {
		if prepare != nil {
			prepare(&args)
		}
		return args.run(ctx, call.Workspace)
	}, onFiles)
	if _, ok := any(*new(A)).(preparing); ok {
		e.Prepare = func(ctx context.Context, call toolset.Call) error {
			args, err := decodeArgs[A](call.Args)
			if p, ok := any(args).(preparing); ok && err == nil && call.Workspace != nil && call.Workspace.Editor != nil {
				return p.prepare(ctx, call.Workspace)
			}
			return nil // the tool reports arguments that can't be read
		}
	}
	return e
}

// onFiles refuses a call that has no folder to work on.
func onFiles(call toolset.Call) error {
	if call.Workspace == nil {
		return toolset.Errorf("this chat has no workspace, so there are no files")
	}
	return nil
}

// called makes an entry of a tool and what does its work with decoded
// arguments; needs are looked at first.
func called[A any](
	t toolset.Tool, run func(context.Context, toolset.Call, A) (toolset.Result, error), needs ...func(toolset.Call) error,
) toolset.Entry {
	t.Enabled = true
	t.Description = strings.TrimSpace(t.Description)
	t.InputSchema = compact(t.InputSchema)
	t.OutputSchema = compact(t.OutputSchema)
	return toolset.Entry{Tool: t, Runner: toolset.RunnerFunc(func(ctx context.Context, call toolset.Call) (toolset.Result, error) {
		for _, need := range needs {
			if err := need(call); err != nil {
				return toolset.Result{}, err
			}
		}
		args, err := decodeArgs[A](call.Args)
		if err != nil {
			return toolset.Result{}, err
		}
		if err := ctx.Err(); err != nil {
			return toolset.Result{}, err
		}
		return run(ctx, call, args)
	})}
}

// guarded holds a file tool to the policy: what that keeps as it is, no tool
// writes. What lies outside of the workspace, or is git's by any name, is
// the tool's own to refuse.
func guarded(p toolset.Policy, e toolset.Entry) toolset.Entry {
	if e.Tool.Annotations.ReadOnly {
		return e
	}
	check := func(call toolset.Call) error {
		var args struct{ Path string }
		if call.Workspace != nil && json.Unmarshal(call.Args, &args) == nil {
			at, err := resolve(call.Workspace, args.Path) // the tool itself reports an error
			place, ok := p.On(call.Workspace).Unsealed().Place(filepath.FromSlash(at.Name))
			if err == nil && ok && !place.Writable {
				return toolset.Errorf("%s is kept as it is: the policy lets nothing write there", wspath.Show(at.Name))
			}
		}
		return nil
	}
	e.OwnLayer = true // all of them write by writeContent
	inner, prepare := e.Runner, e.Prepare
	e.Runner = toolset.RunnerFunc(func(ctx context.Context, call toolset.Call) (toolset.Result, error) {
		if err := check(call); err != nil {
			return toolset.Result{}, err
		}
		return inner.Run(ctx, call)
	})
	e.Prepare = func(ctx context.Context, call toolset.Call) error {
		if prepare == nil || check(call) != nil {
			return nil // Runner reports what the policy forbids
		}
		return prepare(ctx, call)
	}
	return e
}

func decodeArgs[A any](raw json.RawMessage) (args A, err error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage("{}")
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&args); err != nil {
		return args, toolset.Errorf("the arguments can't be read: %w", err)
	}
	return args, nil
}

// result makes a Result; the data is always one of our own structs.
func result(text string, data any) (toolset.Result, error) {
	raw, err := encode(data)
	if err != nil {
		return toolset.Result{}, fmt.Errorf("encode result: %w", err)
	}
	return toolset.Result{Text: text, Data: raw}, nil
}

// encode writes JSON without escaping < and >, which source code is full of.
func encode(data any) (json.RawMessage, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(data); err != nil {
		return nil, err
	}
	return bytes.TrimRight(buf.Bytes(), "\n"), nil
}

// compact takes the white space out of a schema that is written for people.
func compact(raw json.RawMessage) json.RawMessage {
	var buf bytes.Buffer
	if err := json.Compact(&buf, raw); err != nil { // a test compiles each schema
		return raw
	}
	return buf.Bytes()
}
