package question

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/server/client"
	"github.com/fettle-cli/fettle/toolset/mcp"
	"github.com/fettle-cli/fettle/toolset/registry"
)

// maxResources bounds what one message has of servers.
const maxResources = 16

// resource is what a message names as @SERVER:URI.
type resource struct{ server, uri string }

// resourcesIn are the resources that a text may name: \@ is never one, and only that
// of a server which is there is meant, so that other texts with an @ stay what they are.
func resourcesIn(text string) []resource {
	var out []resource
	for _, word := range MentionWords(text) {
		name, marked := strings.CutPrefix(word, "@")
		server, uri, ok := strings.Cut(name, ":")
		r := resource{server, strings.TrimRight(uri, ".,;!?)")}
		if marked && ok && r.uri != "" && !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	return out
}

// AttachResources reads what a text names of servers.
func AttachResources(ctx context.Context, eng *engine.Engine, text string, most int64) ([]provider.Part, error) {
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

// Attach adds what the question of an ask names of servers. What was piped in names
// nothing: nobody wrote it as a question.
func (o Options) Attach(ctx context.Context, rt *workbench.Runtime, cfg *config.Config, turns client.Turns, req *engine.TurnRequest) error {
	if len(resourcesIn(o.Prompt)) == 0 { // no engine for a question that needs none
		return nil
	}
	eng, err := rt.EngineBeside(cfg, turns)
	if err != nil {
		return err
	}
	parts, err := AttachResources(ctx, eng, o.Prompt, cfg.Limits.FileBytes)
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

// PromptParts makes a message of a filled prompt: what it attaches, and its texts.
func PromptParts(server, name string, filled []mcp.Content, most int64) (attached []provider.Part, text string, err error) {
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

// MentionWords are the words of a text; a name with blanks stands in quotes or
// has a backslash before each, as terminals type what is dropped on them.
func MentionWords(text string) []string {
	var words []string
	var word strings.Builder
	var quote rune
	escaped := false
	end := func() {
		if word.Len() > 0 {
			words = append(words, word.String())
			word.Reset()
		}
	}
	for _, r := range text {
		switch {
		case escaped:
			if r == '@' && word.Len() == 0 {
				word.WriteRune('\\') // so that it names nothing
			}
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote == 0:
			escaped = true
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"') && (word.Len() == 0 || word.String() == "@"):
			quote = r
		case quote == 0 && unicode.IsSpace(r):
			end()
		default:
			word.WriteRune(r)
		}
	}
	end()
	return words
}
