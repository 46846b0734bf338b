package cas

import (
	"fmt"

	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/internal/record"
)

const (
	// maxID bounds an id in a record. The ids of this program have 26 bytes, and keys
	// contain them.
	maxID = maxName
	// maxMaker bounds the texts that only describe a record.
	maxMaker = maxName
	// maxFolderPath bounds the path of a workspace. Windows has the longest ones, of 32,767
	// UTF-16 units.
	maxFolderPath = 128 << 10
)

// boundedText is a text of a record, with the name of its field.
type boundedText struct {
	name, text string
	limit      int
}

// refuseLong returns an error that names the first text which is too long. An id or a
// path is never cut, since it would then name something else.
func refuseLong(what string, texts ...boundedText) error {
	for _, t := range texts {
		if len(t.text) > t.limit {
			return fmt.Errorf("%s: the %s has %d bytes, and the limit is %d", what, t.name, len(t.text), t.limit)
		}
	}
	return nil
}

// putManifest stores a manifest. It refuses ids that are too long, and cuts Maker.
func (s *Store) putManifest(w kv.Writer, m *Manifest) error {
	err := refuseLong("record the state of a workspace",
		boundedText{"id", m.ID, maxID}, boundedText{"chat_id", m.ChatID, maxID}, boundedText{"parent_id", m.ParentID, maxID},
		boundedText{"ground_id", m.GroundID, maxID}, boundedText{"source", string(m.Source), maxID}, boundedText{"source_ref", m.SourceRef, maxID}, boundedText{"since_id", m.SinceID, maxID})
	if err != nil {
		return err
	}
	kept := *m
	kept.Maker = record.Clip(m.Maker, maxMaker)
	return s.manifests.Put(w, &kept)
}

// putJournal stores the journal of a restore. It refuses ids and paths that are too long,
// and cuts Doing.
func (s *Store) putJournal(w kv.Writer, j *unfinished) error {
	texts := []boundedText{
		{"workspace", j.Workspace, maxFolderPath}, {"path", j.Path, maxFolderPath}, {"chat_id", j.ChatID, maxID}, {"record", j.Record, maxID},
	}
	for _, stage := range j.Stages {
		texts = append(texts, boundedText{"stages", stage, maxFolderPath})
	}
	if err := refuseLong("record the restore of a workspace", texts...); err != nil {
		return err
	}
	kept := *j
	kept.Doing = record.Clip(j.Doing, maxMaker)
	return s.restores.Put(w, &kept)
}
