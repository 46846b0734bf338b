package store

import (
	"context"
	"errors"
	"time"

	"github.com/fettle-cli/fettle/internal/kv"
)

// OwnAgent is the record of an agent that the user made by accepting a proposal. The agents of
// the configuration and of toolsets have none.
type OwnAgent struct {
	Agent
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// ownSource is the source of the agents that the user made.
const ownSource = "yours"

// OwnAgents returns the agents that the user made, by id. A store that does not exist has none.
func (s *Store) OwnAgents(ctx context.Context) (out []Agent, err error) {
	err = s.View(ctx, func(tx *kv.Tx) error {
		out = nil
		for rec, err := range Legible(s, s.Tables.Agents.Scan(tx, kv.Range{})) {
			if err != nil {
				return err
			}
			a := rec.Agent
			a.Source = ownSource
			out = append(out, a)
		}
		return nil
	})
	if errors.Is(err, kv.ErrNotFound) {
		return nil, nil
	}
	return out, err
}

// ChangeOwn changes a record of the user's agents. Edit gets nil if there is none, and
// returns nil to remove it. It is called in the transaction, and its error changes nothing.
type ChangeOwn struct {
	ID   string
	Edit func(old *OwnAgent) (*OwnAgent, error)
}

// ApplyOwn carries a change out in a transaction.
func (s *Store) ApplyOwn(tx *kv.Tx, c *ChangeOwn) error {
	old, err := s.Tables.Agents.Get(tx, kv.Str(c.ID))
	if errors.Is(err, kv.ErrNotFound) {
		old, err = nil, nil
	}
	if err != nil {
		return err
	}
	now, err := c.Edit(old)
	switch {
	case err != nil:
		return err
	case now == nil:
		return s.Tables.Agents.Delete(tx, kv.Str(c.ID))
	}
	now.UpdatedAt = s.Options.Now()
	if old == nil {
		now.CreatedAt = now.UpdatedAt
	}
	return PutBounded(s.In(tx), s.Tables.Agents, now, "the agent "+c.ID)
}
