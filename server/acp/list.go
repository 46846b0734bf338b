package acp

import (
	"cmp"
	"encoding/base64"
	"path/filepath"

	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

// pageSessions is how many sessions one list has: what fits a picker.
const pageSessions = 50

// listSessions lists the chats that are bound to a folder, the last used first.
func (a *agent) listSessions(r *request) (any, error) {
	var p listParams
	if len(r.params) > 0 {
		if err := read(r.params, &p); err != nil {
			return nil, err
		}
	}
	q := store.ListChats{Limit: cmp.Or(a.o.page, pageSessions), Bound: true}
	if p.CWD != nil && *p.CWD != "" {
		if !filepath.IsAbs(*p.CWD) {
			return nil, &rpcError{Code: codeParams, Message: "params.cwd has to be an absolute path"}
		}
		q.Workspace = filepath.Clean(*p.CWD)
	}
	if p.Cursor != nil && *p.Cursor != "" {
		after, err := base64.RawURLEncoding.DecodeString(*p.Cursor)
		if err != nil || len(after) == 0 || len(after) > maxCursor {
			return nil, &rpcError{Code: codeParams, Message: "params.cursor is not the nextCursor of a list"}
		}
		q.After = after
	}
	page, err := a.eng.Chats(r.ctx, q)
	if err != nil {
		return nil, err
	}
	out := listResult{Sessions: []sessionInfo{}, Next: base64.RawURLEncoding.EncodeToString(page.Next)}
	for _, c := range page.Chats {
		out.Sessions = append(out.Sessions, sessionInfo{
			SessionID: c.ID, CWD: c.Workspace, Title: sanitize.Line(c.Title), UpdatedAt: stamp(c.UpdatedAt),
		})
	}
	return out, nil
}

// maxCursor bounds a cursor: the key of a record.
const maxCursor = 256
