package server

import (
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/server/dialect"
)

// talk is the conversation of a request, divided by what the messages are for.
type talk struct {
	system  []dialect.Message // the instructions at the beginning
	history []dialect.Message // the messages before the question
	asked   []dialect.Message // the question: results of tools, or the last message
	begun   []dialect.Message // the beginning of the answer, which the model continues
}

func talkOf(in *dialect.Request) talk {
	all := in.Messages
	begun := begunOf(in)
	all = all[:len(all)-len(begun)]
	n := leading(all)
	said := spoken(all[n:])
	asked := newest(said)
	return talk{system: all[:n], history: said[:len(said)-len(asked)], asked: asked, begun: begun}
}

// begunOf returns the messages at the end that begin the answer, in the dialects whose clients
// may send them: those of the assistant without calls.
func begunOf(in *dialect.Request) []dialect.Message {
	switch in.Dialect {
	case dialect.OpenAI, dialect.Responses, dialect.Anthropic, dialect.Ollama:
	default:
		return nil
	}
	n := len(in.Messages)
	for n > 0 && in.Messages[n-1].Role == dialect.Assistant && !slices.ContainsFunc(in.Messages[n-1].Parts, isCall) {
		n--
	}
	return in.Messages[n:]
}

func isCall(p dialect.Part) bool { return p.Call != nil }

// prefillOf returns the beginning of the answer. The texts of two messages are two paragraphs.
func prefillOf(in *dialect.Request, begun []dialect.Message) engine.Prefill {
	p := engine.Prefill{MayRestart: !in.MustContinue()}
	for _, m := range begun {
		wrote := slices.ContainsFunc(p.Parts, func(p provider.Part) bool { return p.Kind == provider.TextPart })
		for _, each := range m.Parts {
			part, ok := partOf(each)
			switch {
			case !ok || part.Kind != provider.TextPart && part.Kind != provider.ReasoningPart:
				continue
			case part.Kind == provider.TextPart && wrote:
				part.Text, wrote = "\n\n"+part.Text, false
			}
			p.Parts = append(p.Parts, part)
		}
	}
	return p
}

// systemOf returns the instructions that a conversation begins with.
func systemOf(in *dialect.Request) string {
	var all []string
	for _, m := range talkOf(in).system {
		if text := textOf(m); text != "" {
			all = append(all, text)
		}
	}
	return strings.ToValidUTF8(strings.Join(all, "\n\n"), "\ufffd")
}

// historyOf returns the messages before the question.
func historyOf(in *dialect.Request) []provider.Message {
	var out []provider.Message
	known := map[string]bool{}
	for _, m := range talkOf(in).history {
		msg := provider.Message{Role: provider.Role(m.Role)}
		for _, p := range m.Parts {
			part, ok := partOf(p)
			switch {
			case !ok:
				continue
			case part.Call != nil:
				known[part.Call.ID] = true
			case part.Result != nil && in.Dialect == dialect.Ollama && !known[part.Result.ID]:
				continue // its clients cut old messages off, calls too
			}
			msg.Parts = append(msg.Parts, part)
		}
		if len(msg.Parts) > 0 {
			out = append(out, msg)
		}
	}
	return out
}

// leading returns how many messages of instructions a conversation begins with. The last
// message is never one of them: a conversation of instructions alone asks the last of them.
func leading(all []dialect.Message) int {
	n := 0
	for n < len(all)-1 && all[n].Role == dialect.System {
		n++
	}
	return n
}

// spoken returns the messages that follow the instructions at the beginning. Later
// instructions keep their place: they are marked text of the user's message or of the tool's
// result before them, so that they begin no other question; after an answer they are a
// message of the user's.
func spoken(all []dialect.Message) []dialect.Message {
	out := make([]dialect.Message, 0, len(all))
	for _, m := range all {
		if m.Role != dialect.System {
			out = append(out, m)
			continue
		}
		text := textOf(m)
		if len(all) > 1 {
			text = "<system>\n" + text + "\n</system>"
		}
		out = instruct(out, text)
	}
	return out
}

// instruct adds late instructions to the messages before them.
func instruct(said []dialect.Message, text string) []dialect.Message {
	part := dialect.Part{Kind: dialect.Text, Text: text}
	n := len(said) - 1
	if n < 0 || said[n].Role == dialect.Assistant || len(said[n].Parts) == 0 {
		return append(said, dialect.Message{Role: dialect.User, Parts: []dialect.Part{part}})
	}
	parts := slices.Clone(said[n].Parts)
	if last := &parts[len(parts)-1]; last.Result != nil {
		result := *last.Result
		result.Text = strings.TrimLeft(result.Text+"\n\n"+text, "\n")
		last.Result = &result
	} else {
		parts = append(parts, part)
	}
	said[n].Parts = parts
	return said
}

// textOf returns the texts of a message.
func textOf(m dialect.Message) string {
	var all []string
	for _, p := range m.Parts {
		if p.Text != "" {
			all = append(all, p.Text)
		}
	}
	return strings.Join(all, "\n\n")
}

// newest returns the messages at the end that ask for an answer: results of tools, or what the
// user said last.
func newest(said []dialect.Message) []dialect.Message {
	n := len(said)
	for n > 0 && said[n-1].Role == dialect.ToolRole {
		n--
	}
	if n == len(said) {
		n = max(0, n-1)
	}
	return said[n:]
}
