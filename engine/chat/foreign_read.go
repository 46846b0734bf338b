package chat

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

// chatGPT is a conversation as ChatGPT exports it: a tree of nodes, of which
// many have no message, or one that its page doesn't show.
type chatGPT struct {
	ID             string                 `json:"id"`
	ConversationID string                 `json:"conversation_id"`
	Title          string                 `json:"title"`
	Created        float64                `json:"create_time"`
	Updated        float64                `json:"update_time"`
	Current        string                 `json:"current_node"`
	Mapping        map[string]chatGPTNode `json:"mapping"`
}

type chatGPTNode struct {
	Parent   string          `json:"parent"`
	Children []string        `json:"children"`
	Message  *chatGPTMessage `json:"message"`
}

type chatGPTMessage struct {
	Author struct {
		Role string `json:"role"`
	} `json:"author"`
	Created float64 `json:"create_time"`
	Content struct {
		Type     string            `json:"content_type"`
		Parts    []json.RawMessage `json:"parts"`
		Text     string            `json:"text"`
		Thoughts []struct {
			Summary string `json:"summary"`
			Content string `json:"content"`
		} `json:"thoughts"`
	} `json:"content"`
	Recipient string `json:"recipient"`
	Metadata  struct {
		Model  string `json:"model_slug"`
		Hidden bool   `json:"is_visually_hidden_from_conversation"`
	} `json:"metadata"`
}

// seconds is a time since 1970 with a fraction; zero where there is none.
func seconds(s float64) time.Time {
	if s <= 0 || s > 1e11 {
		return time.Time{}
	}
	return time.UnixMilli(int64(s * 1000)).UTC()
}

func readChatGPT(raw []byte) (*foreignChat, error) {
	var x chatGPT
	if err := json.Unmarshal(raw, &x); err != nil {
		return nil, err
	}
	c := &foreignChat{program: "chatgpt", id: x.ConversationID, title: x.Title, at: seconds(x.Created), updated: seconds(x.Updated), leaf: x.Current}
	if c.id == "" {
		c.id = x.ID
	}
	var open []string // roots, then children, so that parents come first
	for id, n := range x.Mapping {
		if _, ok := x.Mapping[n.Parent]; !ok {
			open = append(open, id)
		}
	}
	slices.Sort(open)
	for seen := map[string]bool{}; len(open) > 0; {
		id := open[0]
		open = open[1:]
		if seen[id] {
			continue
		}
		seen[id] = true
		n, ok := x.Mapping[id]
		if !ok {
			continue
		}
		m := foreignMessage{id: id, parent: n.Parent}
		if n.Message != nil {
			m.role, m.model, m.at = provider.Assistant, n.Message.Metadata.Model, seconds(n.Message.Created)
			m.parts = n.Message.parts(c)
			if n.Message.Author.Role == "user" {
				m.role, m.model = provider.User, ""
			}
		}
		c.messages = append(c.messages, m)
		open = append(open, n.Children...)
	}
	return c, nil
}

// parts are what is shown of a message.
func (m *chatGPTMessage) parts(c *foreignChat) (parts []provider.Part) {
	switch {
	case m.Author.Role == "tool" || m.Author.Role == "assistant" && m.Recipient != "" && m.Recipient != "all":
		if len(m.Content.Parts) > 0 || m.Content.Text != "" {
			c.leftOut("tool message")
		}
		return nil
	case m.Metadata.Hidden || m.Author.Role != "user" && m.Author.Role != "assistant" || strings.HasSuffix(m.Content.Type, "_context") || m.Content.Type == "reasoning_recap":
		return nil
	}
	for _, t := range m.Content.Thoughts {
		parts = say(parts, provider.ReasoningPart, strings.TrimSpace(t.Summary+"\n"+t.Content))
	}
	parts = say(parts, provider.TextPart, m.Content.Text)
	for _, raw := range m.Content.Parts {
		var text string
		var asset struct {
			Type string `json:"content_type"`
			Text string `json:"text"`
		}
		switch {
		case json.Unmarshal(raw, &text) == nil:
			parts = say(parts, provider.TextPart, text)
		case json.Unmarshal(raw, &asset) == nil && asset.Text != "":
			parts = say(parts, provider.TextPart, asset.Text)
		case strings.Contains(asset.Type, "image"):
			c.leftOut("image")
		default:
			c.leftOut("attachment")
		}
	}
	return parts
}

// claude is a conversation as Claude exports it.
type claude struct {
	ID       string    `json:"uuid"`
	Name     string    `json:"name"`
	Created  time.Time `json:"created_at"`
	Updated  time.Time `json:"updated_at"`
	Leaf     string    `json:"current_leaf_message_uuid"`
	Messages []struct {
		ID      string    `json:"uuid"`
		Parent  string    `json:"parent_message_uuid"`
		Sender  string    `json:"sender"`
		Text    string    `json:"text"`
		Created time.Time `json:"created_at"`
		Content []struct {
			Type     string `json:"type"`
			Text     string `json:"text"`
			Thinking string `json:"thinking"`
		} `json:"content"`
		Attachments []struct {
			Name string `json:"file_name"`
			Text string `json:"extracted_content"`
		} `json:"attachments"`
		Files []json.RawMessage `json:"files"`
	} `json:"chat_messages"`
}

func readClaude(raw []byte) (*foreignChat, error) {
	var x claude
	if err := json.Unmarshal(raw, &x); err != nil {
		return nil, err
	}
	c := &foreignChat{program: "claude", id: x.ID, title: x.Name, at: x.Created.UTC(), updated: x.Updated.UTC(), leaf: x.Leaf}
	known, last := map[string]bool{}, ""
	for _, m := range x.Messages {
		f := foreignMessage{id: m.ID, parent: m.Parent, role: provider.Assistant, at: m.Created.UTC()}
		if m.Sender == "human" || m.Sender == "user" {
			f.role = provider.User
		}
		if !known[f.parent] { // older exports have no parents: the list is the chat
			f.parent = last
		}
		for _, a := range m.Attachments {
			if a.Text == "" {
				c.leftOut("attachment")
				continue
			}
			name := sanitize.Line(a.Name)
			if name == "" {
				name = "attachment"
			}
			f.parts = append(f.parts, provider.Part{Kind: provider.FilePart, Name: sanitize.Shorten(name, MaxName), Text: a.Text})
		}
		for range m.Files {
			c.leftOut("file")
		}
		words := len(f.parts)
		for _, p := range m.Content {
			switch p.Type {
			case "text":
				f.parts = say(f.parts, provider.TextPart, p.Text)
			case "thinking":
				f.parts = say(f.parts, provider.ReasoningPart, p.Thinking)
			case "tool_use", "tool_result":
				c.leftOut("tool message")
			}
		}
		if len(f.parts) == words {
			f.parts = say(f.parts, provider.TextPart, m.Text)
		}
		c.messages = append(c.messages, f)
		known[f.id], last = true, f.id
	}
	return c, nil
}

// llmEntry is one prompt and its response in the log of the command llm.
type llmEntry struct {
	ID           string            `json:"id"`
	Conversation string            `json:"conversation_id"`
	Name         string            `json:"conversation_name"`
	Model        string            `json:"model"`
	Prompt       string            `json:"prompt"`
	System       string            `json:"system"`
	Response     string            `json:"response"`
	Time         string            `json:"datetime_utc"`
	Attachments  []json.RawMessage `json:"attachments"`
}

// readLLM adds an entry to the chat that it belongs to. The chat is returned
// with its first entry.
func readLLM(raw []byte, chats map[string]*foreignChat) (*foreignChat, error) {
	var x llmEntry
	if err := json.Unmarshal(bytes.TrimSpace(raw), &x); err != nil {
		return nil, err
	}
	at, err := time.Parse(time.RFC3339Nano, strings.Replace(x.Time, " ", "T", 1))
	if err != nil { // some versions have no zone
		at, _ = time.Parse("2006-01-02T15:04:05.999999999", strings.Replace(x.Time, " ", "T", 1))
	}
	at = at.UTC()
	id := x.Conversation
	if id == "" {
		id = x.ID
	}
	c, known := chats[id]
	if !known {
		c = &foreignChat{program: "llm", id: id, title: x.Name, at: at, updated: at}
		chats[id] = c
	}
	if at.Before(c.at) {
		c.at = at
	}
	if at.After(c.updated) {
		c.updated = at
	}
	if c.system == "" {
		c.system = x.System
	}
	if c.title == "" {
		c.title = x.Prompt
	}
	for range x.Attachments {
		c.leftOut("attachment")
	}
	c.messages = append(c.messages,
		foreignMessage{id: x.ID + "-prompt", role: provider.User, at: at, parts: say(nil, provider.TextPart, x.Prompt)},
		foreignMessage{id: x.ID, role: provider.Assistant, model: x.Model, at: at, parts: say(nil, provider.TextPart, x.Response)})
	if known {
		return nil, nil
	}
	return c, nil
}
