package chat

import (
	"strings"
	"time"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

// MessageLink is a message without what makes its record large: its place in
// the chat, and what a list of branches shows. It reads the records of
// messages; none is written by it.
type MessageLink struct {
	ChatID         string        `json:"chat_id"`
	ID             string        `json:"id"`
	ParentID       string        `json:"parent_id"`
	TurnID         string        `json:"turn_id"`
	Role           provider.Role `json:"role"`
	Model          string        `json:"model"`
	CreatedAt      time.Time     `json:"created_at"`
	ManifestID     string        `json:"manifest_id"`
	LeftManifestID string        `json:"left_manifest_id"`
}

// LinksOf returns messages without their content.
func LinksOf(messages []Message) []MessageLink {
	out := make([]MessageLink, len(messages))
	for i, m := range messages {
		out[i] = MessageLink{
			ChatID: m.ChatID, ID: m.ID, ParentID: m.ParentID, TurnID: m.TurnID, Role: m.Role, Model: m.Model,
			CreatedAt: m.CreatedAt, ManifestID: m.ManifestID, LeftManifestID: m.LeftManifestID,
		}
	}
	return out
}

const (
	// PreviewLength is document 003's.
	PreviewLength = 40
	// FirstFew is among how many of a chat's first messages its root is: those of a
	// turn are made within a moment, in which their ids have any order.
	FirstFew = 8
)

// PreviewOf is the beginning of a message, on one line.
func PreviewOf(m *Message) string {
	for _, p := range m.Parts {
		if p.Kind != provider.TextPart {
			continue
		}
		// A character has at most four bytes; twice that leaves room for spaces.
		text := strings.TrimSpace(p.Text)
		text = sanitize.Line(strings.ToValidUTF8(text[:min(len(text), 8*PreviewLength)], ""))
		if text != "" {
			return sanitize.Shorten(text, PreviewLength)
		}
	}
	for _, p := range m.Parts {
		if p.Name != "" {
			return sanitize.Shorten(sanitize.Line(p.Name), PreviewLength)
		}
	}
	return ""
}
