package kv

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// tableMeta is what is stored about a table: the newest version that wrote to
// it, and the indexes that cover all of its records. The zero value is that of
// a table which nobody has written to.
type tableMeta struct {
	Version int      `json:"version"`
	Indexes []string `json:"indexes,omitempty"`
}

// meta gives what is stored about a table, this transaction's marks included.
func (tx *Tx) meta(name string) (tableMeta, error) {
	if err := tx.usable(); err != nil {
		return tableMeta{}, err
	}
	if m, ok := tx.marked[name]; ok {
		return m, nil
	}
	if m, ok := tx.sess.known(name); ok {
		return m, nil
	}
	var m tableMeta
	err := tx.getJSON(metaKey(metaTable+name), &m)
	if errors.Is(err, ErrNotFound) {
		return tableMeta{}, nil // not kept: the running Update may be about to make it
	}
	if err != nil {
		return tableMeta{}, err
	}
	tx.sess.learn(map[string]tableMeta{name: m})
	return m, nil
}

// mark writes what is to be known about a table.
func (tx *Tx) mark(name string, m tableMeta) error {
	text, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encode table %q: %w", name, err)
	}
	if err := tx.set(metaKey(metaTable+name), text, 0); err != nil {
		return err
	}
	if tx.marked == nil {
		tx.marked = map[string]tableMeta{}
	}
	tx.marked[name] = m
	return nil
}

func (sess *session) known(name string) (tableMeta, bool) {
	sess.mu.Lock()
	defer sess.mu.Unlock()
	m, ok := sess.tables[name]
	return m, ok
}

func (sess *session) learn(tables map[string]tableMeta) {
	sess.mu.Lock()
	defer sess.mu.Unlock()
	maps.Copy(sess.tables, tables)
}

// readable checks that this program understands the table.
func (c *core) readable(tx *Tx) (tableMeta, error) {
	m, err := tx.meta(c.name)
	if err == nil && m.Version > c.version {
		err = &VersionError{Dir: tx.store.dir, Table: c.name, Have: m.Version, Want: c.version}
	}
	return m, err
}

// prepare checks that this program may write to the table, and marks it. An
// index that the program doesn't know loses its mark, since records written
// now are not in it; one that it has added gets none until Reindex.
func (c *core) prepare(tx *Tx) error {
	old, err := c.readable(tx)
	if err != nil {
		return err
	}
	names := c.indexNames()
	m := tableMeta{Version: c.version, Indexes: names}
	if old.Version > 0 {
		m.Indexes = slices.DeleteFunc(slices.Clone(old.Indexes), func(n string) bool {
			return !slices.Contains(names, n)
		})
	}
	if m.Version == old.Version && slices.Equal(m.Indexes, old.Indexes) {
		return nil
	}
	return tx.mark(c.name, m)
}

// covered checks that an index exists and has all records.
func (c *core) covered(tx *Tx, index string) (*coreIndex, error) {
	m, err := c.readable(tx)
	if err != nil {
		return nil, err
	}
	for i := range c.indexes {
		if c.indexes[i].name != index {
			continue
		}
		if m.Version > 0 && !slices.Contains(m.Indexes, index) {
			return nil, &IndexError{Table: c.name, Index: index}
		}
		return &c.indexes[i], nil
	}
	return nil, fmt.Errorf("read table %q: it has no index %q", c.name, index)
}
