package payloads

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fettle-cli/fettle/internal/sanitize"
)

// Config is document 001's PayloadConfig. The JSON names are those of a
// toolset's manifest.
type Config struct {
	Type string `json:"type"`
	// ParseMarker is what the model writes before the JSON, and
	// LLMInstructions what it is told; there is neither or both.
	ParseMarker     string `json:"parse_marker,omitempty"`
	LLMInstructions string `json:"llm_instructions,omitempty"`
	// Schema is the JSON Schema of the data; empty where anything goes.
	Schema json.RawMessage `json:"schema,omitempty"`
	// Parser is `module:function`, from the JSON's text to {type, data}.
	Parser string `json:"parser,omitempty"`
	// RelevantTabs are the tabs for which it is offered; all where empty.
	RelevantTabs []string `json:"relevant_tabs,omitempty"`
	// Renderer is the toolset's, unread.
	Renderer      json.RawMessage `json:"renderer,omitempty"`
	RenderOptions *RenderOptions  `json:"render_options,omitempty"`
	Style         *Style          `json:"style,omitempty"`
}

// RenderOptions are document 001's.
type RenderOptions struct {
	PanelWidth  string `json:"panelWidth,omitempty"`
	HeaderTitle string `json:"headerTitle,omitempty"`
	HeaderIcon  string `json:"headerIcon,omitempty"`
}

// Style is how document 000's workspace lists a payload.
type Style struct {
	Icon     string `json:"icon,omitempty"`
	Colour   string `json:"colour,omitempty"`
	Label    string `json:"label,omitempty"`
	Editable bool   `json:"editable,omitempty"`
}

// Page is what one page of a client gets.
type Page struct {
	ID   string `json:"id"`
	Name string `json:"name,omitempty"`
	// Context is a template for the system prompt; see [Fill].
	Context string `json:"context,omitempty"`
	// Payloads are the types that are offered there.
	Payloads      []string `json:"payloads,omitempty"`
	ClientActions []Action `json:"client_actions,omitempty"`
}

// Action is something that a page can do when the model suggests it and the
// person agrees: document 001's ClientAction.
type Action struct {
	Action      string          `json:"action"`
	Label       string          `json:"label,omitempty"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema,omitempty"`
}

// Set is what one toolset brings; Name is its id, or a name for what the
// user's configuration says.
type Set struct {
	Name     string
	Payloads []Config
	Pages    []Page
}

// What a registry takes. Manifests are held to the same; a configuration isn't.
const (
	maxName         = 64
	maxMarker       = 100
	minMarker       = 3 // shorter ones turn up in prose
	maxInstructions = 64 << 10
)

// checkType tells whether a text can be a payload's type.
func checkType(s string) error {
	if s == "" || len(s) > maxName || !isLetter(s[0]) {
		return errors.New("a type is an id of letters, digits, - and _ that begins with a letter")
	}
	for i := range len(s) {
		if !isWord(s[i]) && s[i] != '-' {
			return errors.New("a type is an id of letters, digits, - and _ that begins with a letter")
		}
	}
	return nil
}

// checkMarker refuses what would be found where nobody wrote a marker: within
// JSON, where code begins, or in ordinary prose.
func checkMarker(m string) error {
	switch {
	case len(m) < minMarker || len(m) > maxMarker:
		return fmt.Errorf("a marker has %d to %d characters", minMarker, maxMarker)
	case !utf8.ValidString(m):
		return errors.New("a marker is valid UTF-8")
	case strings.ContainsAny(m, "{}[]\"\\`*~"):
		return errors.New("a marker holds none of { } [ ] \" \\ ` * ~")
	case strings.TrimSpace(m) != m:
		return errors.New("a marker neither begins nor ends with a space")
	case strings.IndexFunc(m, unicode.IsControl) >= 0:
		return errors.New("a marker stands on one line, without control characters")
	case strings.IndexFunc(m, unicode.IsLetter) < 0:
		return errors.New("a marker holds a letter")
	}
	return nil
}

// check tells what keeps a config from being used.
func (c Config) check() error {
	if err := checkType(c.Type); err != nil {
		return err
	}
	switch {
	case (c.ParseMarker == "") != (c.LLMInstructions == ""):
		return errors.New("parse_marker and llm_instructions go together")
	case c.Parser != "" && c.ParseMarker == "":
		return errors.New("parser needs a parse_marker")
	case len(c.LLMInstructions) > maxInstructions:
		return fmt.Errorf("llm_instructions has more than %d KB", maxInstructions>>10)
	case len(c.Schema) > 0 && !json.Valid(c.Schema):
		return errors.New("schema is no JSON")
	}
	if c.ParseMarker != "" {
		return checkMarker(c.ParseMarker)
	}
	return nil
}

// withDefaults takes from the built-in type what the config leaves out.
func (c Config) withDefaults(d Config) Config {
	if c.ParseMarker == "" {
		c.ParseMarker, c.LLMInstructions = d.ParseMarker, d.LLMInstructions
	}
	if len(c.Schema) == 0 {
		c.Schema = d.Schema
	}
	if len(c.Renderer) == 0 {
		c.Renderer = d.Renderer
	}
	if c.RenderOptions == nil {
		c.RenderOptions = d.RenderOptions
	}
	if c.Style == nil {
		c.Style = d.Style
	}
	return c
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func isWord(c byte) bool { return isLetter(c) || c >= '0' && c <= '9' || c == '_' }

// maxShown bounds a name or a reason within a message.
const maxShown = 300

// shown returns a text of others for a message: one line of at most maxShown bytes.
func shown(s string) string {
	return sanitize.Cut(sanitize.Line(s[:min(len(s), 4*maxShown)]), maxShown)
}
