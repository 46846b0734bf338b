package store

import (
	"cmp"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

// Outside names what a conversation has from outside.
func (c *OpenChat) Outside() string {
	if c.Summed != nil && c.Summed.Summary != nil && c.Summed.Summary.Outside != "" {
		return c.Summed.Summary.Outside
	}
	for _, m := range c.Path {
		if from := OutsideIn(m.Parts); from != "" {
			return from
		}
	}
	return ""
}

// OutsideIn names the first of a message's parts that comes from outside.
func OutsideIn(parts []provider.Part) string {
	for _, p := range parts {
		switch {
		case p.Result != nil && p.Result.Outside != "":
			return p.Result.Outside
		case p.Kind == provider.FilePart || p.Kind == provider.ImagePart:
			return "the attachment " + cmp.Or(sanitize.Line(p.Name), p.Doc, "without a name")
		}
	}
	return ""
}
