package mcp_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fettle-cli/fettle/engine/prompts"
	"github.com/fettle-cli/fettle/server/mcp"
)

// shelf is a folder of prompts, and the option that offers them.
func shelf(t *testing.T, files map[string]string) (dir string, offer func(*mcp.Options)) {
	t.Helper()
	config := t.TempDir()
	dir = filepath.Join(config, "prompts")
	must(t, os.MkdirAll(dir, 0o700))
	for name, text := range files {
		must(t, os.WriteFile(filepath.Join(dir, name+".md"), []byte(text), 0o600))
	}
	return dir, func(o *mcp.Options) {
		o.Library = func() (*prompts.Library, error) { return prompts.New(prompts.Places{Config: config}), nil }
	}
}

func (u *user) promptNames(t *testing.T) []string {
	t.Helper()
	list, err := u.ListPrompts(t.Context(), nil)
	must(t, err)
	var out []string
	for _, p := range list.Prompts {
		out = append(out, p.Name)
	}
	return out
}

const review = `---
description: Reviews a change
variables:
  lang: {default: Go, description: the language}
  focus: {required: true}
---
Review this {{lang}} change for {{focus}}.

{{input}}
`

// The user's prompts are prompts of the protocol in both eras: listed with their
// arguments, filled, refused with what is wrong, and completed.
func TestPromptsAreOffered(t *testing.T) {
	t.Parallel()
	_, offer := shelf(t, map[string]string{"review": review, "plain": "Say hello.\n", "broken": "---\nmodel: 3\n---\nHi\n"})
	open(t, plan{}).ways(t, offer, func(t *testing.T, dial func(answers) *user) {
		u := dial(nil)
		if c := u.InitializeResult().Capabilities; c.Prompts == nil || !c.Prompts.ListChanged || c.Completions == nil {
			t.Errorf("the capabilities are %+v", c)
		}
		list, err := u.ListPrompts(t.Context(), nil)
		must(t, err)
		var got []string
		for _, p := range list.Prompts {
			line := p.Name + ": " + p.Description
			for _, a := range p.Arguments {
				line += " " + a.Name
				if a.Required {
					line += "!"
				}
			}
			got = append(got, line)
		}
		if want := []string{"plain:  input", "review: Reviews a change lang focus! input!"}; !slices.Equal(got, want) {
			t.Errorf("prompts %q, want %q", got, want)
		}
		get := func(name string, args map[string]string) (string, error) {
			res, err := u.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: name, Arguments: args})
			if err != nil {
				return "", err
			}
			return string(res.Messages[0].Role) + ": " + res.Messages[0].Content.(*sdk.TextContent).Text, nil
		}
		text, err := get("review", map[string]string{"focus": "names", "input": "{{lang}} diff"})
		must(t, err)
		if want := "user: Review this Go change for names.\n\n{{lang}} diff"; text != want {
			t.Errorf("review is %q, want %q", text, want)
		}
		text, err = get("plain", map[string]string{"input": "And goodbye."})
		must(t, err)
		if text != "user: Say hello.\n\nAnd goodbye." {
			t.Errorf("plain is %q", text)
		}
		for _, c := range []struct {
			name, want string
			args       map[string]string
		}{
			{"review", "missing: focus, input", nil},
			{"review", "no variable \"lnag\" (did you mean lang?)", map[string]string{"lnag": "C", "focus": "x", "input": "y"}},
			{"nothing", "unknown prompt", nil},
			{"broken", "unknown prompt", nil},
		} {
			_, err := get(c.name, c.args)
			var wire *jsonrpc.Error
			if !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInvalidParams || !strings.Contains(wire.Message, c.want) {
				t.Errorf("%s %v: %v, want %q", c.name, c.args, err, c.want)
			}
		}
		complete := func(prompt, arg, value string) []string {
			res, err := u.Complete(t.Context(), &sdk.CompleteParams{
				Ref: &sdk.CompleteReference{Type: "ref/prompt", Name: prompt}, Argument: sdk.CompleteParamsArgument{Name: arg, Value: value},
			})
			must(t, err)
			return res.Completion.Values
		}
		if got := complete("review", "lang", "G"); !slices.Equal(got, []string{"Go"}) {
			t.Errorf("lang is completed to %q", got)
		}
		if got := complete("review", "lang", "x"); len(got) != 0 {
			t.Errorf("a value that lang does not begin with is completed to %q", got)
		}
		if got := complete("review", "focus", ""); len(got) != 0 {
			t.Errorf("focus, which has no default, is completed to %q", got)
		}
	})
}

// A client receives a notification after a prompt's file was added or removed, without
// asking for anything in between.
func TestChangedPromptsAreNotified(t *testing.T) {
	t.Parallel()
	dir, offer := shelf(t, map[string]string{"first": "One.\n"})
	open(t, plan{}).ways(t, offer, func(t *testing.T, dial func(answers) *user) {
		u := dial(nil)
		if got := u.promptNames(t); !slices.Equal(got, []string{"first"}) {
			t.Fatalf("prompts %q", got)
		}
		path := filepath.Join(dir, "second.md")
		for _, change := range []func() error{
			func() error { return os.WriteFile(path, []byte("Two.\n"), 0o600) },
			func() error { return os.Remove(path) },
		} {
			for len(u.prompts) > 0 {
				<-u.prompts
			}
			must(t, change())
			within(t, "the notification", u.prompts)
		}
		if got := u.promptNames(t); !slices.Equal(got, []string{"first"}) {
			t.Errorf("prompts %q", got)
		}
	})
}

// Prompts are the user's and belong to no toolset: where none are offered, the capability
// is not declared and the methods do not exist.
func TestPromptsThatAreNotOffered(t *testing.T) {
	t.Parallel()
	_, offer := shelf(t, map[string]string{"plain": "Say hello.\n"})
	h := open(t, plan{})
	url := h.serve(offer)
	for name, u := range map[string]*user{
		"at a toolset's address": connect(t, &sdk.StreamableClientTransport{Endpoint: url + "/builtin", HTTPClient: client(t)}, modern, nil),
		"with --toolset":         h.stdio(t, legacy, func(o *mcp.Options) { offer(o); o.Toolsets = []string{"builtin"} }, nil),
		"without a library":      h.stdio(t, modern, nil, nil),
	} {
		if c := u.InitializeResult().Capabilities; c.Prompts != nil || c.Completions != nil {
			t.Errorf("%s: the capabilities are %+v", name, c)
		}
		_, err := u.ListPrompts(t.Context(), nil)
		var wire *jsonrpc.Error
		if !errors.As(err, &wire) || wire.Code != jsonrpc.CodeMethodNotFound {
			t.Errorf("%s: prompts/list gives %v", name, err)
		}
	}
}
