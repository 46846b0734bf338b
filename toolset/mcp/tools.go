package mcp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fettle-cli/fettle/internal/schema"
	"github.com/fettle-cli/fettle/toolset"
)

const (
	// MaxTools is how many tools of one server are taken: more than any model
	// can be told of.
	MaxTools = 2000
	// maxPages bounds a list that never ends by giving little at a time.
	maxPages = 200
	// maxDescription and maxSchema bound one tool.
	maxDescription = 16 << 10
	maxSchema      = 256 << 10
	// MaxList bounds all tools of a server as they are encoded. They are in the server's
	// record, together with those that were approved before, and in its part of the mirror.
	MaxList = 7 << 20
	// maxTitle bounds a name for people.
	maxTitle = 200
	// listTime is the default of Options.List.
	listTime = 30 * time.Second
)

// remote is one tool of a server: ours, and the name that the server has for it.
type remote struct {
	tool toolset.Tool
	name string
}

// pins are the approved tools by id; nil approves any.
type pins map[string]toolset.Tool

func pinsOf(tools []toolset.Tool) pins {
	if tools == nil {
		return nil
	}
	out := make(pins, len(tools))
	for _, t := range tools {
		out[t.ID] = t
	}
	return out
}

// eachTool hands over the tools that a server lists, as it has them, until take has
// enough. goesOn tells that the list has more.
func (c *conn) eachTool(ctx context.Context, take func(*sdk.Tool) (enough bool)) (goesOn bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.m.o.List)
	defer cancel()
	if caps := c.session.InitializeResult().Capabilities; caps == nil || caps.Tools == nil {
		return false, nil
	}
	cursor, seen, enough := "", map[string]bool{}, false
	for range maxPages {
		page, err := c.session.ListTools(ctx, &sdk.ListToolsParams{Cursor: cursor})
		if err != nil {
			return false, fmt.Errorf("list its tools: %w", c.reason(ctx, err))
		}
		for _, t := range page.Tools {
			if t != nil {
				enough = take(t)
			}
		}
		if cursor = page.NextCursor; cursor == "" || seen[cursor] || enough {
			break
		}
		seen[cursor] = true
	}
	return cursor != "", nil
}

// listTools gets all tools of a server. What can't be used is left out with a
// note.
func (c *conn) listTools(ctx context.Context) ([]remote, []string, error) {
	l := &lister{server: c.server.ID, ids: map[string]bool{}}
	goesOn, err := c.eachTool(ctx, func(t *sdk.Tool) bool {
		l.add(t)
		return len(l.out) >= MaxTools
	})
	if err != nil {
		return nil, nil, err
	}
	if goesOn || l.more {
		l.notes = append(l.notes, "its list goes on; the first "+fmt.Sprint(len(l.out))+" tools are taken")
	}
	return l.out, l.notes, nil
}

// lister makes tools of what a server lists.
type lister struct {
	server string
	out    []remote
	notes  []string
	ids    map[string]bool
	size   int
	more   bool // there was no room for all
}

// recordedWith is what the record of a server has for each tool in addition to the tool itself:
// its pin and the names.
const recordedWith = 128

// maxNotes bounds what is said about a list.
const maxNotes = 20

func (l *lister) note(name, why string) {
	if len(l.notes) < maxNotes {
		l.notes = append(l.notes, fmt.Sprintf("%q is left out: %s", plain(name, maxTitle), why))
	}
}

func (l *lister) add(t *sdk.Tool) {
	switch {
	case len(l.out) >= MaxTools:
		l.more = true
		return
	case appOnly(t.Meta):
		return // it is for pages, and a model is not told of it
	}
	tool, why := l.convert(t)
	if why != "" {
		l.note(t.Name, why)
		return
	}
	size := len(marshal(tool)) + recordedWith
	if l.size+size > MaxList {
		l.note(t.Name, fmt.Sprintf("it has %d KB, and the whole list %d MB; a list may have %d MB", size>>10, l.size>>20, MaxList>>20))
		return
	}
	l.size += size
	l.ids[tool.ID] = true
	l.out = append(l.out, remote{tool, t.Name})
}

// convert makes a tool, or says why that can't be.
func (l *lister) convert(t *sdk.Tool) (toolset.Tool, string) {
	id := l.server + ":" + ToolName(t.Name)
	if l.ids[id] {
		return toolset.Tool{}, "another tool has this name"
	}
	if err := toolset.CheckID(id); err != nil {
		return toolset.Tool{}, err.Error()
	}
	input := marshal(t.InputSchema)
	if why := badSchema(input); why != "" {
		return toolset.Tool{}, "its inputSchema can't be used: " + why
	}
	var output json.RawMessage
	if t.OutputSchema != nil {
		if output = marshal(t.OutputSchema); badSchema(output) != "" {
			output = nil // what it promises can't be checked, and is data all the same
		}
	}
	return toolset.Tool{
		ID: id, ToolsetID: l.server, Name: plain(titleOf(t), maxTitle), Description: visible(t.Description, maxDescription),
		Category: "mcp", InputSchema: input, OutputSchema: output, Streaming: true, Enabled: true,
		// What it says of itself is a stranger's word, so a person is asked.
		RequiresConfirmation: true,
		Annotations:          annotations(t.Annotations),
		App:                  appPage(t.Meta),
	}, ""
}

func titleOf(t *sdk.Tool) string {
	switch {
	case strings.TrimSpace(t.Title) != "":
		return t.Title
	case t.Annotations != nil && strings.TrimSpace(t.Annotations.Title) != "":
		return t.Annotations.Title
	}
	return t.Name
}

func annotations(a *sdk.ToolAnnotations) toolset.Annotations {
	out := toolset.UnknownAnnotations()
	if a == nil {
		return out
	}
	out.ReadOnly, out.Idempotent = a.ReadOnlyHint, a.IdempotentHint
	if a.DestructiveHint != nil {
		out.Destructive = *a.DestructiveHint
	}
	if a.ReadOnlyHint {
		out.Destructive = false
	}
	if a.OpenWorldHint != nil {
		out.OpenWorld = *a.OpenWorldHint
	}
	return out
}

// appOnly tells a tool that a page may call and a model may not.
func appOnly(meta sdk.Meta) bool {
	ui, ok := meta["ui"].(map[string]any)
	if !ok {
		return false
	}
	seen, ok := ui["visibility"].([]any)
	return ok && !slices.Contains(seen, any("model"))
}

// badSchema says what is wrong with a schema; empty for nothing.
func badSchema(raw json.RawMessage) string {
	if len(raw) > maxSchema {
		return fmt.Sprintf("it has %d KB; %d KB are allowed", len(raw)>>10, maxSchema>>10)
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil || object == nil {
		return "it is no JSON object"
	}
	if _, err := schema.Compile(raw); err != nil {
		return plain(err.Error(), maxLogLine)
	}
	return ""
}

// marshal is a value as JSON, the same for the same value. What comes from JSON
// can always be made JSON again.
func marshal(v any) json.RawMessage {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return json.RawMessage("null")
	}
	return bytes.TrimSpace(buf.Bytes())
}

// maxToolName is what an id's part may have.
const maxToolName = 128

// ToolName fits a server's name for a tool into an id: letters, digits, `_`,
// `-`, `.` and `/`, beginning with a letter, a digit or `_`. A name that had to
// be changed ends with a piece of its hash, so that two never become one.
func ToolName(name string) string {
	fits := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("_-./", r):
			return r
		}
		return '_'
	}, name)
	if fits != "" && strings.ContainsRune("-./", rune(fits[0])) {
		fits = "_" + fits
	}
	if fits == name && len(name) <= maxToolName && name != "" {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	tail := "_" + hex.EncodeToString(sum[:4])
	return fits[:min(len(fits), maxToolName-len(tail))] + tail
}

// Fingerprint is the same for two tools that say the same to a model: name,
// description, schemas and annotations.
func Fingerprint(t toolset.Tool) string {
	raw := marshal([]any{t.ID, t.Name, t.Description, canonical(t.InputSchema), canonical(t.OutputSchema), t.Annotations})
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

func canonical(raw json.RawMessage) any {
	var v any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if dec.Decode(&v) != nil {
		return nil
	}
	return v
}

// refresh lists the tools anew. What isn't as it was approved is held back from the
// moment that it is listed.
func (c *conn) refresh(ctx context.Context) error {
	list, notes, err := c.listTools(ctx)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list, c.notes = list, notes
	c.judge()
	for _, n := range notes {
		c.m.log(c.server.ID, n)
	}
	return nil
}

// tools are those of the last listing.
func (c *conn) tools() []toolset.Tool {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]toolset.Tool, len(c.list))
	for i, r := range c.list {
		out[i] = r.tool
	}
	return out
}

// hold says which tools were approved.
func (c *conn) hold(known pins) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known = known
	c.judge()
}

// judge decides which tools are held back: those that aren't as they were approved.
// The caller holds mu.
func (c *conn) judge() {
	c.held = map[string]string{}
	if c.known == nil {
		return
	}
	for _, r := range c.list {
		switch was, there := c.known[r.tool.ID]; {
		case !there:
			c.held[r.tool.ID] = "it is new since the server was approved"
		case !toolset.SamePin(was, r.tool):
			c.held[r.tool.ID] = "what it says of itself has changed since it was approved"
		}
	}
}

// differs tells whether the tools are other ones than those that are pinned.
func (c *conn) differs() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.known != nil && (len(c.held) > 0 || len(c.list) != len(c.known))
}

// tellChange says which tools the server has now, where that differs.
func (c *conn) tellChange() {
	if c.m.o.Changed != nil && c.differs() {
		c.m.o.Changed(c.life, c.server.ID, c.tools())
	}
}

// find gives a tool that may be called.
func (c *conn) find(id string) (remote, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.list {
		if r.tool.ID != id {
			continue
		}
		if why := c.held[id]; why != "" {
			return remote{}, &HeldError{Server: c.server.ID, Why: why}
		}
		return r, nil
	}
	return remote{}, errors.New("it has no such tool any more")
}

// approved tells whether a tool is as it was approved, or nothing was yet.
func (c *conn) approved(t toolset.Tool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	was, there := c.known[t.ID]
	return c.known == nil || there && toolset.SamePin(was, t)
}

// HeldError says that a tool is held back until somebody has approved it.
type HeldError struct{ Server, Why string }

// Error returns the reason and what the user has to do.
func (e *HeldError) Error() string {
	return e.Why + ", so it is held back until the user has tested the MCP server " + e.Server + " and approved it"
}

// listChanged lists the tools anew in the background, once however often a
// server says that they changed.
func (c *conn) listChanged() {
	c.mu.Lock()
	running := c.relist
	c.relist, c.again = true, running
	c.mu.Unlock()
	if !running {
		c.m.begin(c.relistLoop)
	}
}

// relistPause keeps a server that says it all the time from being asked all the
// time.
const relistPause = time.Second

func (c *conn) relistLoop() {
	select {
	case <-c.up:
	case <-c.life.Done():
		return
	}
	for {
		if err := c.refresh(c.life); err != nil {
			c.m.log(c.server.ID, err.Error())
		} else {
			c.tellChange()
			c.m.learn(c.link.server, c.tools())
		}
		select {
		case <-c.life.Done():
			return
		case <-time.After(relistPause):
		}
		c.mu.Lock()
		more := c.again
		c.again, c.relist = false, more
		c.mu.Unlock()
		if !more {
			return
		}
	}
}
