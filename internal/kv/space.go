package kv

const (
	// roomOpen is what opening needs: the first pages of its new files.
	roomOpen = 4 << 20
	// roomWrite is what a write needs besides its values: the memtable that it
	// goes to, the table that this becomes, and a merge of the tables there.
	roomWrite = 48 << 20
)

// roomToOpen refuses to open on a full disk. Badger writes through mapped
// sparse files, and a write to a page that the disk has no room for ends the
// program with SIGBUS; so the room is looked for beforehand. Another program
// can still use it up in between.
func (s *Store) roomToOpen() error { return s.room(roomOpen) }

// roomToWrite refuses a write on a disk that is nearly full.
func (s *Store) roomToWrite(values int64) error { return s.room(roomWrite + values) }

func (s *Store) room(need int64) error {
	free, err := freeSpace(s.dir)
	if err != nil || free >= need {
		return nil // where the system doesn't say, the write is tried
	}
	return &FullError{Dir: s.dir, Free: free, Need: need}
}
