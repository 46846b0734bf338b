package commands

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/server/client"
	"github.com/fettle-cli/fettle/toolset/mcp"
	"github.com/fettle-cli/fettle/toolset/registry"
)

const (
	// maxResources bounds what one message has of servers.
	maxResources = 16
	// completeResources bounds a shell's wait for a server's list: it can't go on.
	completeResources = 3 * time.Second
)

// resource is what a message names as @SERVER:URI.
type resource struct{ server, uri string }

// resourcesIn are the resources that a text may name: \@ is never one, and only that
// of a server which is there is meant, so that other texts with an @ stay what they are.
func resourcesIn(text string) []resource {
	var out []resource
	for _, word := range mentionWords(text) {
		name, marked := strings.CutPrefix(word, "@")
		server, uri, ok := strings.Cut(name, ":")
		r := resource{server, strings.TrimRight(uri, ".,;!?)")}
		if marked && ok && r.uri != "" && !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	return out
}

// attachResources reads what a text names of servers.
func attachResources(ctx context.Context, eng *engine.Engine, text string, most int64) ([]provider.Part, error) {
	list := resourcesIn(text)
	if len(list) == 0 {
		return nil, nil
	}
	servers, err := eng.MCPServers(ctx)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(r resource) bool {
		return !slices.ContainsFunc(servers, func(s registry.MirrorServer) bool { return s.ID == r.server })
	})
	if len(list) > maxResources {
		return nil, cmdline.Usagef("", "the message names %d resources; %d are allowed", len(list), maxResources)
	}
	var parts []provider.Part
	for _, r := range list {
		read, err := eng.ReadMCP(ctx, r.server, r.uri)
		if err != nil {
			return nil, err
		}
		got, err := contentParts(r.server, r.uri, read, most)
		if err != nil {
			return nil, err
		}
		parts = append(parts, got...)
	}
	return parts, nil
}

// attach adds what the question of an ask names of servers. What was piped in names
// nothing: nobody wrote it as a question.
func (o *askOptions) attach(ctx context.Context, rt *workbench.Runtime, cfg *config.Config, turns client.Turns, req *engine.TurnRequest) error {
	if len(resourcesIn(o.prompt)) == 0 { // no engine for a question that needs none
		return nil
	}
	eng, err := rt.EngineBeside(cfg, turns)
	if err != nil {
		return err
	}
	parts, err := attachResources(ctx, eng, o.prompt, cfg.Limits.FileBytes)
	req.Parts = append(parts, req.Parts...)
	return err
}

// contentParts makes parts of what a server gave: texts and pictures, as files.
func contentParts(server, uri string, read []mcp.Content, most int64) ([]provider.Part, error) {
	name := "@" + server + ":" + uri
	if len(read) == 0 {
		return nil, fault.New(fault.NotFound, term.Clean(name)+": there is nothing in it", fault.Run("fettle mcp test "+cmdline.ShellWord(server)+"   lists what it has"))
	}
	var parts []provider.Part
	size := 0
	for _, c := range read {
		size += len(c.Text) + len(c.Blob)
		part := provider.Part{Kind: provider.FilePart, Name: name, Text: c.Text}
		if c.URI != "" && c.URI != uri {
			part.Name = "@" + server + ":" + c.URI
		}
		part.Name = term.CutMiddle(term.Clean(part.Name), 200)
		if c.Blob != nil {
			if !pictured(c.MIMEType) {
				return nil, fault.New(fault.Usage, fmt.Sprintf("%s is %s, which a model can't be sent", term.Clean(part.Name), cmp.Or(term.Clean(c.MIMEType), "binary")))
			}
			part.Kind, part.Text, part.MIME, part.Data = provider.ImagePart, "", c.MIMEType, c.Blob
		}
		parts = append(parts, part)
	}
	if most > 0 && int64(size) > most {
		return nil, fault.New(fault.Usage, fmt.Sprintf("%s has %s; %s are allowed (the setting limits.file_bytes)", term.Clean(name), term.Size(int64(size)), term.Size(most)))
	}
	return parts, nil
}

// pictured tells the types of pictures that models take.
func pictured(mime string) bool {
	return slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, mime)
}

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
	parts, text, err := promptParts(server, name, filled, t.cfg.Limits.FileBytes)
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

// promptParts makes a message of a filled prompt: what it attaches, and its texts.
func promptParts(server, name string, filled []mcp.Content, most int64) (attached []provider.Part, text string, err error) {
	var texts []string
	for _, c := range filled {
		switch {
		case c.Blob != nil || c.URI != "":
			got, err := contentParts(server, cmp.Or(c.URI, name), []mcp.Content{c}, most)
			if err != nil {
				return nil, "", err
			}
			attached = append(attached, got...)
		case c.Role == "assistant":
			texts = append(texts, "[answer]\n"+c.Text)
		case c.Text != "":
			texts = append(texts, c.Text)
		}
	}
	text = strings.Join(texts, "\n\n")
	if most > 0 && int64(len(text)) > most {
		return nil, "", fault.New(fault.Usage, fmt.Sprintf("the prompt %s/%s has %s; %s are allowed", term.Clean(server), term.Clean(name), term.Size(int64(len(text))), term.Size(most)))
	}
	if len(attached) == 0 && text == "" {
		return nil, "", fault.New(fault.Failed, "the prompt "+term.Clean(server)+"/"+term.Clean(name)+" is empty")
	}
	return attached, text, nil
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
func (p *page) serversToName(ctx context.Context) []suggestion {
	if strings.Contains(p.menu.word, ":") {
		return nil // the server is named already
	}
	servers, err := p.eng.MCPServers(ctx)
	if err != nil {
		return nil // completion never fails
	}
	return serversToName(servers)
}

// resourcesToName are the resources of the server that a word begins with. The
// server is asked where a person wants the list, and its answer is used for a while.
func (p *page) resourcesToName(ctx context.Context, word string, asked bool) []suggestion {
	name := listNamed(word, word)
	waiting := p.looking != nil && p.looking.name == name
	if name == "" || p.busy || !asked && !waiting && p.values.name != name {
		return nil
	}
	return p.look(ctx, name, asked, func(ctx context.Context) []suggestion {
		return resourcesOf(ctx, p.eng, name[1:])
	})
}
