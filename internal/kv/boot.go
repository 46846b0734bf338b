package kv

import "os"

// bootName is a file that says in which run of the system the store was last open for
// writing. As long as that run goes on nothing that a process has written can be lost:
// a kill -9 leaves it with the system. A note that is lost or old only means that the
// logs are looked at once more, so it is never synced.
const bootName = "BOOT"

// sameBoot tells whether the system has not been started anew since the store was last
// open for writing; false where that isn't known.
func (s *Store) sameBoot() bool {
	id := s.boot()
	noted, err := os.ReadFile(s.file(bootName))
	return err == nil && id != "" && string(noted) == id
}

// noteBoot notes the run of the system before the store changes.
func (s *Store) noteBoot() error {
	id := s.boot()
	if id == "" || s.sameBoot() {
		return nil
	}
	return s.fileFault(os.WriteFile(s.file(bootName), []byte(id), 0o600))
}
