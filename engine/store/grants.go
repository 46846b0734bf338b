package store

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/internal/atomicfile"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/internal/record"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

// Grant is a remembered approval: a rule that a person made by answering.
type Grant struct {
	Scope   string    `json:"scope"` // a chat's id, or "" for always
	Pattern string    `json:"pattern"`
	MadeAt  time.Time `json:"made_at"`
}

// Grant remembers an approval.
func (s *Store) Grant(ctx context.Context, d event.Decision, chatID, rule string) error {
	g := Grant{Pattern: rule, MadeAt: s.Options.Now()}
	if d == event.AllowChat {
		g.Scope = chatID
	}
	release, err := s.ShareData(ctx, nil)
	if err != nil {
		return err
	}
	defer release()
	err = s.KV.UpdateSync(ctx, func(tx *kv.Tx) error {
		return PutBounded(s.In(tx), s.Tables.Grants, &g, "the approval of "+sanitize.Shorten(sanitize.Line(g.Pattern), chat.MaxName))
	})
	if err != nil {
		return s.StoreTrouble(err)
	}
	return s.Mirror(ctx)
}

// catalog mirrors what turns need of the store without opening it (DESIGN §8).
type catalog struct {
	Version int     `json:"catalog"`
	Grants  []Grant `json:"grants"`
	// PurgeDue is when the next deleted chat may be removed for good.
	PurgeDue *time.Time `json:"purge_due,omitempty"`
	// CollectDue is when a command that has answered may collect garbage.
	CollectDue *time.Time `json:"collect_due,omitempty"`
	// Models is what was learnt of models, by Ref. It is in no store.
	Models map[string]Learnt `json:"models,omitempty"`
}

// CatalogVersion is the version of catalog.json that this program writes.
const CatalogVersion = 1

// CatalogFile is the path of catalog.json.
func (s *Store) CatalogFile() string { return filepath.Join(s.Options.DataDir, "catalog.json") }

// mirrorTime bounds the writing of the catalogue, for which the store may have
// to be waited for.
const mirrorTime = 15 * time.Second

// Mirror writes the catalogue anew from the store, whose word it repeats.
func (s *Store) Mirror(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, mirrorTime)
	defer cancel()
	letData, err := s.ShareData(ctx, nil)
	if err != nil {
		return err
	}
	defer letData()
	release, err := s.Lock(ctx, "catalog", nil)
	if err != nil {
		return err
	}
	defer release()
	c := catalog{Version: CatalogVersion}
	if old, err := s.ReadCatalog(); err == nil {
		c.Models = old.Models
	}
	err = s.View(ctx, func(tx *kv.Tx) error {
		c.Grants = nil
		for g, err := range Legible(s, s.Tables.Grants.Scan(tx, kv.Range{})) {
			if err != nil {
				return err
			}
			c.Grants = append(c.Grants, *g)
		}
		if c.PurgeDue, err = s.nextPurge(tx); err != nil {
			return err
		}
		u, err := s.upkeepIn(tx)
		if due := u.DueInTidy(); !u.Since.IsZero() {
			c.CollectDue = &due
		}
		return err
	})
	if err != nil {
		return err
	}
	data, err := record.Marshal(c)
	if err != nil {
		return err
	}
	return ReplaceFile(s.CatalogFile(), data)
}

// ReplaceFile replaces a file of the data directory, and makes it durable.
func ReplaceFile(path string, data []byte) error {
	if err := atomicfile.Write(path, data, atomicfile.Synced); err != nil {
		return StoreFault("write "+path, err)
	}
	return nil
}

// Granted gives the rules that people have made for a chat and for all.
func (s *Store) Granted(chatID string) permission.Policy {
	c, err := s.ReadCatalog()
	if err != nil {
		s.Options.Notice("remembered approvals are not used: " + s.CatalogFile() + " can't be read")
	}
	var p permission.Policy
	for _, g := range c.Grants {
		if g.Scope == "" || g.Scope == chatID {
			p.Allow = append(p.Allow, g.Pattern)
		}
	}
	return p
}

// ReadCatalog reads the catalogue; where there is none it is empty.
func (s *Store) ReadCatalog() (catalog, error) {
	var c catalog
	data, err := atomicfile.ReadFile(s.CatalogFile())
	if err != nil {
		return c, nil // nobody has granted or deleted anything
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return catalog{}, err
	}
	if c.Version != CatalogVersion {
		return catalog{}, fmt.Errorf("catalogue version %d", c.Version)
	}
	return c, nil
}
