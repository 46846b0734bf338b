package chat

import (
	"context"
	"strings"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/question"
	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/commands/suggest"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/toolset/mcp"
)

// doPrompt lists the prompts of servers, or asks one.
func (t *talk) doPrompt(ctx context.Context, arg string) error {
	words := quotedWords(arg)
	if len(words) == 0 {
		return t.listServerPrompts(ctx)
	}
	server, name, ok := strings.Cut(words[0], "/")
	if !ok || server == "" || name == "" {
		return cmdline.Usagef("/prompt   lists them", "/prompt wants SERVER/NAME, and KEY=VALUE for each argument")
	}
	args := map[string]string{}
	for _, word := range words[1:] {
		key, value, ok := strings.Cut(word, "=")
		if !ok || key == "" {
			return cmdline.Usagef("/prompt "+words[0]+" key=value", "%s is no KEY=VALUE; a value with blanks stands in quotes, as key=\"two words\"", term.Clean(word))
		}
		args[key] = value
	}
	filled, err := t.eng.FillMCP(ctx, server, name, args)
	if err != nil {
		return err
	}
	parts, text, err := question.PromptParts(server, name, filled, t.cfg.Limits.FileBytes)
	if err != nil {
		return err
	}
	t.in.Streams.Out.WriteString(term.CleanText(text) + "\n")
	t.asked = text
	if text != "" {
		parts = append(parts, provider.Part{Kind: provider.TextPart, Text: text})
	}
	return t.runTurn(ctx, running{parts: parts, title: "/prompt " + words[0]})
}

// quotedWords splits at blanks, but for those between quotes.
func quotedWords(text string) []string {
	var words []string
	var word strings.Builder
	var quote rune
	begun := false
	for _, r := range text + " " {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, begun = r, true
		case quote == 0 && r == ' ':
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if word.Len() > 0 { // the quote isn't closed
		words = append(words, strings.TrimSuffix(word.String(), " "))
	}
	return words
}

// listServerPrompts lists what each server has. One that can't be reached is named.
func (t *talk) listServerPrompts(ctx context.Context) error {
	servers, err := t.eng.MCPServers(ctx)
	if err != nil {
		return err
	}
	table := term.NewTable(t.in.Streams.Out, term.Column{Title: "prompt"}, term.Column{Title: "arguments"}, term.Column{Title: "is", Cut: true})
	found := 0
	for i := range servers {
		s := &servers[i]
		if !s.Enabled || s.Unusable != "" {
			continue
		}
		report, err := t.eng.MCPReport(ctx, s.ID)
		if err != nil {
			if ctx.Err() != nil {
				return err
			}
			t.in.Notice(show.FirstLine(err.Error()))
			continue
		}
		for _, p := range report.Prompts {
			found++
			table.Row(s.ID+"/"+p.Name, argumentsOf(p), p.Description)
		}
	}
	if found == 0 {
		t.in.Notice("no MCP server has prompts")
		return nil
	}
	return table.Flush()
}

// argumentsOf are a prompt's arguments; those that may be left out stand in brackets.
func argumentsOf(p mcp.Prompt) string {
	var out []string
	for _, a := range p.Arguments {
		if a.Required {
			out = append(out, a.Name+"=")
		} else {
			out = append(out, "["+a.Name+"=]")
		}
	}
	return strings.Join(out, " ")
}

// serversToName are the servers whose resources may be named, as @SERVER:.
func (p *page) serversToName(ctx context.Context) []suggest.Value {
	if strings.Contains(p.menu.word, ":") {
		return nil // the server is named already
	}
	servers, err := p.eng.MCPServers(ctx)
	if err != nil {
		return nil // completion never fails
	}
	return suggest.Servers(servers)
}

// resourcesToName are the resources of the server that a word begins with. The
// server is asked where a person wants the list, and its answer is used for a while.
func (p *page) resourcesToName(ctx context.Context, word string, asked bool) []suggest.Value {
	name := listNamed(word, word)
	waiting := p.looking != nil && p.looking.name == name
	if name == "" || p.busy || !asked && !waiting && p.values.name != name {
		return nil
	}
	return p.look(ctx, name, asked, func(ctx context.Context) []suggest.Value {
		return suggest.Resources(ctx, p.eng, name[1:])
	})
}
