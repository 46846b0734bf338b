package tool

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/input"
	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/toolset"
)

// maxArguments bounds what is read of a call's arguments; a call's journal
// holds no more anyway.
const maxArguments = 16 << 20

// arguments are the call's, as JSON.
func (o toolCallOptions) arguments(ctx context.Context, rt *workbench.Runtime, tools *toolset.Set) (json.RawMessage, error) {
	switch {
	case len(o.named) > 0:
		return NamedArguments(o.named, inputSchema(tools, o.tool))
	case o.args == "-":
		data, err := ReadInput(ctx, rt)
		if err != nil {
			return nil, err
		}
		return checkArguments(data, "standard input")
	}
	return checkArguments([]byte(o.args), "the arguments")
}

func checkArguments(data []byte, what string) (json.RawMessage, error) {
	text := strings.TrimSpace(string(data))
	if text == "" {
		return nil, nil
	}
	if !json.Valid([]byte(text)) || text[0] != '{' {
		return nil, cmdline.Usagef(`fettle tool call TOOL '{"path": "a.txt"}'`, "%s should be a JSON object, and is not: %s", what, show.OneLine(text))
	}
	return json.RawMessage(text), nil
}

// ReadInput reads standard input to its end, at most 16 MiB of it.
func ReadInput(ctx context.Context, rt *workbench.Runtime) ([]byte, error) {
	data, larger, err := input.All(ctx, rt.Streams.In.File(), maxArguments)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, fault.Wrap(fault.Failed, "read standard input", err)
	case larger:
		return nil, cmdline.Usagef("", "standard input is larger than %d MiB, the limit", maxArguments>>20)
	}
	return data, nil
}

// inputSchema is what a tool says of its arguments.
func inputSchema(tools *toolset.Set, name string) json.RawMessage {
	entry, ok := tools.Get(name)
	if found := tools.ByBareID(name); !ok && len(found) > 0 {
		entry = found[0]
	}
	return entry.Tool.InputSchema
}

// schemaTypes are the types that a schema names for an object's fields.
func schemaTypes(raw json.RawMessage) map[string][]string {
	var schema struct {
		Properties map[string]struct {
			Type json.RawMessage `json:"type"`
		} `json:"properties"`
	}
	if json.Unmarshal(raw, &schema) != nil {
		return nil // a schema that can't be read is found by the call
	}
	types := map[string][]string{}
	for arg, p := range schema.Properties {
		var one string
		var many []string
		if json.Unmarshal(p.Type, &one) == nil {
			many = []string{one}
		} else if json.Unmarshal(p.Type, &many) != nil {
			continue
		}
		types[arg] = many
	}
	return types
}

// NamedArguments makes an object of NAME=VALUE. A value is a text where the
// schema takes one, and JSON where it takes something else and the value is some.
func NamedArguments(named []string, schema json.RawMessage) (json.RawMessage, error) {
	types := schemaTypes(schema)
	args := map[string]json.RawMessage{}
	for _, arg := range named {
		name, value, ok := strings.Cut(arg, "=")
		if !ok || name == "" {
			return nil, cmdline.Usagef("fettle tool call TOOL --arg path=a.txt", "--arg wants NAME=VALUE, not %s", cmdline.ShellWord(arg))
		}
		if _, twice := args[name]; twice {
			return nil, cmdline.Usagef("fettle tool call TOOL --arg 'names=[\"a\",\"b\"]'", "--arg gives %s twice", name)
		}
		if want := types[name]; len(want) > 0 && !slices.Contains(want, "string") && json.Valid([]byte(value)) {
			args[name] = json.RawMessage(value)
			continue
		}
		args[name], _ = json.Marshal(value) // a string can't fail
	}
	return json.Marshal(args)
}
