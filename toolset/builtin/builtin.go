package builtin

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/fettle-cli/fettle/toolset"
)

// Options sets what differs between uses.
type Options struct {
	// ReadLimit bounds the bytes that one read_file call returns; 0 is
	// 256 KiB.
	ReadLimit int
}

// defaultReadLimit is about 64,000 tokens, more than most models can use.
const defaultReadLimit = 256 << 10

// Entries gives the tools, all enabled, in the order in which people look for
// them.
func Entries(o Options) []toolset.Entry {
	if o.ReadLimit <= 0 {
		o.ReadLimit = defaultReadLimit
	}
	return []toolset.Entry{
		readFile(o.ReadLimit),
		writeFile(),
		editFile(),
		listFiles(),
		searchFiles(),
	}
}

// category is the grouping of all of them.
const category = "files"

// runnable is the decoded arguments of a tool, which do its work.
type runnable interface {
	run(context.Context, *toolset.Workspace) (toolset.Result, error)
}

// entry makes an entry of a tool and the type of its arguments; prepare sets
// what isn't an argument, and may be nil.
func entry[A runnable](t toolset.Tool, prepare func(*A)) toolset.Entry {
	t.Category = category
	t.Enabled = true
	t.Description = strings.TrimSpace(t.Description)
	t.InputSchema = compact(t.InputSchema)
	t.OutputSchema = compact(t.OutputSchema)
	return toolset.Entry{Tool: t, Runner: toolset.RunnerFunc(func(ctx context.Context, call toolset.Call) (toolset.Result, error) {
		if call.Workspace == nil {
			return toolset.Result{}, toolset.Errorf("this chat has no workspace, so there are no files")
		}
		args, err := decodeArgs[A](call.Args)
		if err != nil {
			return toolset.Result{}, err
		}
		if err := ctx.Err(); err != nil {
			return toolset.Result{}, err
		}
		if prepare != nil {
			prepare(&args)
		}
		return args.run(ctx, call.Workspace)
	})}
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
