package journal

import (
	"path/filepath"
	"strings"

	"github.com/fettle-cli/fettle/internal/lockfile"
)

// State is what is in the folder, as its names say.
type State struct {
	Turns []string // that have a journal, live ones too
	// Owners are the pids that the lock files of turns name. Such a process
	// may be gone: nothing is to be decided by it.
	Owners map[string]int
	// Damaged are the files that were set aside.
	Damaged []string
}

// State looks at the folder without taking a lock, for those who only tell a
// person about it.
func (d *Dir) State() (State, error) {
	s := State{Owners: map[string]int{}}
	names, err := d.names()
	if err != nil {
		return s, err
	}
	for _, name := range names {
		if strings.Contains(name, damagedSuffix) {
			s.Damaged = append(s.Damaged, filepath.Join(d.path, name))
		}
		turn, ok := strings.CutSuffix(name, suffix)
		if !ok {
			continue
		}
		s.Turns = append(s.Turns, turn)
		if pid := lockfile.OwnerPID(d.lock(turn)); pid > 0 {
			s.Owners[turn] = pid
		}
	}
	return s, nil
}

// damagedSuffix is what SetAside adds to a journal's name.
const damagedSuffix = suffix + ".damaged"
