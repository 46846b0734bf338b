package registry

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/internal/record"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/manifest"
)

// ServerSettings are what a manifest doesn't say of an MCP server, and a user
// who adds one may.
type ServerSettings struct {
	// SSE is for a server at an address that speaks the transport before
	// streamable HTTP.
	SSE bool `json:"sse,omitempty"`
	// Uncontained runs its command without a sandbox, with the user's home.
	Uncontained bool `json:"uncontained,omitempty"`
	// Read and Write are absolute paths that its command may read, or change.
	Read  []string `json:"read,omitempty"`
	Write []string `json:"write,omitempty"`
	// Offline gives its command no network.
	Offline bool `json:"offline,omitempty"`
	// ClientID and ClientSecret are of a client that was registered beforehand
	// where the server wants a sign-in; the secret is ${NAME}.
	ClientID     string `json:"client_id,omitempty"`
	ClientSecret string `json:"client_secret,omitempty"`
	// Sampling lets it ask for answers of a model, each of which is asked about.
	Sampling bool `json:"sampling,omitempty"`
	// Timeout bounds one call of its tools; zero leaves it to the engine.
	Timeout toolset.Duration `json:"timeout,omitzero"`
}

const (
	// maxServerConfig bounds what a server's record has in addition to its tools.
	maxServerConfig = 1 << 20
	// maxProblem bounds why a server could not be used.
	maxProblem = 4 << 10
)

// configText is what the user sets of a server, as it is stored.
func configText(config manifest.MCPServer, set ServerSettings) []byte {
	text, err := record.Marshal(struct {
		manifest.MCPServer
		ServerSettings
	}{config, set})
	if err != nil {
		return nil // storing it returns this error
	}
	return text
}

// PutServer adds an MCP server of the user's own, or changes one. What it was
// pinned to goes where it is another server now.
func (r *Registry) PutServer(ctx context.Context, config manifest.MCPServer, set ServerSettings) error {
	id := config.ID
	if size := len(configText(config, set)); size > maxServerConfig {
		return &TooBigError{What: "the configuration of the MCP server " + id, Server: true, Size: int64(size), Limit: maxServerConfig}
	}
	return r.changing(ctx, theServer(id), func(tx *kv.Tx) error {
		if has, err := r.tables.toolsets.Has(tx, kv.Str(id)); err != nil || has {
			return errors.Join(err, &StateError{ID: id, Msg: "a toolset has this name; take another"})
		}
		s, lost, err := r.serverRecord(tx, id)
		if errors.Is(err, kv.ErrNotFound) {
			s, err = &Server{ID: id, Enabled: true}, nil
		}
		if err != nil {
			return err
		}
		if len(s.DeclaredBy) > 0 {
			return &StateError{ID: id, Msg: "it came with the toolset " + s.DeclaredBy[0] + "; add yours under another name"}
		}
		if !sameServer(s.Config, config) {
			s.Tools, s.Seen, s.PinnedAt, s.Problem = nil, nil, nil, ""
		}
		s.Config, s.Settings, s.Own = config, set, true
		s.Enabled = s.Enabled || lost
		return r.tables.servers.Put(tx, s)
	})
}

// RemoveServer removes an MCP server of the user's own.
func (r *Registry) RemoveServer(ctx context.Context, id string) error {
	return r.changing(ctx, theServer(id), func(tx *kv.Tx) error {
		s, _, err := r.serverRecord(tx, id)
		if errors.Is(err, kv.ErrNotFound) {
			return r.noServer(tx, id)
		}
		if err != nil {
			return err
		}
		if len(s.DeclaredBy) == 0 {
			return r.tables.servers.Delete(tx, kv.Str(id))
		}
		return &StateError{
			ID: id, Msg: fmt.Sprintf("it came with the toolset %s and goes with it", s.DeclaredBy[0]),
			Fix: Fix{Kind: FixDisable, Effect: "leaves it out"},
		}
	})
}

func (r *Registry) noServer(tx *kv.Tx, id string) error {
	e := &NotFoundError{What: "MCP server", ID: id}
	for s, err := range r.tables.servers.Scan(tx, kv.Range{}) {
		if err == nil {
			e.Known = append(e.Known, s.ID)
		}
	}
	return e
}

// SetServerEnabled switches one MCP server on or off. It tells whether that
// changed anything.
func (r *Registry) SetServerEnabled(ctx context.Context, serverID string, on bool) (changed bool, err error) {
	err = r.server(ctx, serverID, func(s *Server) { changed, s.Enabled = s.Enabled != on, on })
	return changed, err
}

// PinServer notes which tools an MCP server has, and gives what differs from
// what was pinned before. With approved false a difference is not pinned: what
// was seen is kept beside it, until somebody has approved it.
func (r *Registry) PinServer(ctx context.Context, serverID string, tools []toolset.Tool, approved bool) (changes []Change, err error) {
	err = r.server(ctx, serverID, func(s *Server) {
		fresh := Pinned(tools)
		changes = ServerChanges(s.Tools, fresh)
		if s.PinnedAt != nil && !approved {
			s.Seen, s.Problem = nil, "" // the approved tools stay, with their titles and annotations
			if len(changes) > 0 {
				s.Seen, s.Problem = fresh, ChangedTools
			}
			return
		}
		now := r.o.Now().UTC()
		s.Tools, s.Seen, s.PinnedAt, s.Problem = fresh, nil, &now, ""
	})
	return changes, err
}

// ApproveSeen takes the tools that were seen at an MCP server as they were shown to
// whoever approves them: sum is the [SumOf] of these. [ErrChanged] says that others
// were seen since. It gives what is pinned then.
func (r *Registry) ApproveSeen(ctx context.Context, serverID, sum string) (pinned []ServerTool, err error) {
	changed := false
	err = r.server(ctx, serverID, func(s *Server) {
		shown := s.Seen
		if len(shown) == 0 { // approved already, or never shown
			shown = s.Tools
		}
		if changed = s.PinnedAt == nil || SumOf(s.ID, shown) != sum; changed {
			return
		}
		if len(s.Seen) > 0 {
			now := r.o.Now().UTC()
			s.Tools, s.Seen, s.PinnedAt, s.Problem = s.Seen, nil, &now, ""
		}
		pinned = s.Tools
	})
	if err == nil && changed {
		err = ErrChanged
	}
	return pinned, err
}

// SumOf is the same for the same tools of the same server: for whoever approves
// them, to say which they were shown.
func SumOf(serverID string, tools []ServerTool) string {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%q", serverID) // a hash can't fail
	for _, t := range slices.SortedFunc(slices.Values(tools), func(a, b ServerTool) int { return cmp.Compare(a.Tool.ID, b.Tool.ID) }) {
		_, _ = fmt.Fprintf(h, " %q %q", t.Tool.ID, t.SHA256)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// ChangedTools is the problem of a server some of whose tools are held back.
const ChangedTools = "its tools are not those that were approved"

// Pinned are tools with their pins.
func Pinned(tools []toolset.Tool) []ServerTool {
	out := make([]ServerTool, len(tools))
	for i, t := range tools {
		out[i] = ServerTool{Tool: t, SHA256: serverToolItem(t).SHA256}
	}
	return out
}

// ServerChanges returns the differences between the tools of a server at two times.
// A tool that is the same by [toolset.SamePin] is not one of them.
func ServerChanges(before, after []ServerTool) []Change {
	known := map[[2]string]string{}
	after = slices.Clone(after)
	for i, t := range after {
		if j := slices.IndexFunc(before, func(was ServerTool) bool { return was.Tool.ID == t.Tool.ID }); j >= 0 && toolset.SamePin(before[j].Tool, t.Tool) {
			after[i] = before[j]
		}
	}
	items := func(list []ServerTool) []Item {
		out := make([]Item, len(list))
		for i, t := range list {
			out[i] = serverToolItem(t.Tool)
		}
		return out
	}
	for _, t := range before {
		known[[2]string{KindTool, t.Tool.BareID()}] = t.SHA256
	}
	return compare(items(before), items(after), known)
}

// The reasons for which approval has to be given again. Front ends name the way to do so.
const (
	WhyRevoked = "its approval was taken back"
	WhyNew     = "it is new since the server was approved"
	WhyChanged = "what it says of itself has changed since it was approved"
)

// Held are the tools of a server that wait for an approval, with the reason, by
// id: those that have changed since, that are new, and that are gone.
func (s *Server) Held() map[string]string {
	out := map[string]string{}
	if len(s.Seen) == 0 {
		return out
	}
	now := map[string]toolset.Tool{}
	for _, t := range s.Seen {
		now[t.Tool.ID] = t.Tool
		if !slices.ContainsFunc(s.Tools, func(p ServerTool) bool { return p.Tool.ID == t.Tool.ID }) {
			out[t.Tool.ID] = WhyNew
		}
	}
	for _, t := range s.Tools {
		switch seen, there := now[t.Tool.ID]; {
		case !there:
			out[t.Tool.ID] = "the server has it no more"
		case !toolset.SamePin(t.Tool, seen):
			out[t.Tool.ID] = WhyChanged
		}
	}
	return out
}

func serverToolItem(t toolset.Tool) Item {
	return newItem(KindTool, t.BareID()).pin("name", t.Name).pin("description", t.Description).pin("input_schema", jsonText(t.InputSchema)).
		pin("output_schema", jsonText(t.OutputSchema)).pin("annotations", jsonText(t.Annotations)).done()
}

// ServerProblem notes why an MCP server could not be used; empty takes the note
// away.
func (r *Registry) ServerProblem(ctx context.Context, serverID, why string) error {
	return r.server(ctx, serverID, func(s *Server) { s.Problem = record.Clip(why, maxProblem) })
}

func (r *Registry) server(ctx context.Context, serverID string, fn func(*Server)) error {
	return r.changing(ctx, theServer(serverID), func(tx *kv.Tx) error {
		s, err := r.tables.servers.Get(tx, kv.Str(serverID))
		if errors.Is(err, kv.ErrNotFound) {
			return r.noServer(tx, serverID)
		}
		if err != nil {
			return damagedRecord(serverID, err)
		}
		fn(s)
		return r.tables.servers.Put(tx, s)
	})
}
