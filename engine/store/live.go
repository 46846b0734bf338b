package store

// ShareStore has an Engine that holds the store take turns with other processes
// until end is called, as Engines without Options.Hold do.
func (s *Store) ShareStore() (end func()) { return s.KV.Share() }
