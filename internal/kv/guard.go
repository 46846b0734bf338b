package kv

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// Badger reads and writes its files through mappings. An access that the system can't
// serve, since the disk is full or faulty or the file was cut short, is a fault of the
// memory, which ends the program unless the goroutine has asked for a panic in its place.
// No caller can ask for that in Badger's own goroutines, or recover from a panic there:
// for those the room on the disk is reserved beforehand, see reserve.go.

// errMapped is such a fault.
var errMapped = errors.New("a mapped file can't be read or written: the disk is full or faulty, or the file was cut short")

// errBlock is the error by which a damaged block of a table is detected.
var errBlock = errors.New("checksum of a block")

// guardMapped runs what reads or writes mapped files, and returns a fault as errMapped.
func guardMapped(do func() error) error { return guardFaults(do, func() {}) }

// guardFaults is guardMapped, but calls faulted where the fault occurred.
func guardFaults(do func() error, faulted func()) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			if !isFault(r) {
				panic(r) // a mistake of the program, as without the guard
			}
			faulted()
			err = fmt.Errorf("%w (%v)", errMapped, r)
		}
	}()
	return do()
}

// isFault reports whether a panic is a fault of the memory.
func isFault(panicked any) bool {
	_, addressed := panicked.(interface{ Addr() uintptr })
	_, fault := panicked.(runtime.Error)
	return fault && addressed
}

// guard runs a read of Badger's. Badger panics over a block whose lengths can't
// be, which is damage of the file and not of the program.
func guard(read func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %.200v", errBlock, r)
		}
	}()
	return guardMapped(read)
}

// guardOpen opens a database with open. ended reports that no goroutine of a database
// that could not be opened because of a fault is still running.
//
// Badger ends what it has begun only if it returns an error. Until it has the logs of
// memtables and the counts of discarded values it does nothing by itself; after that its
// goroutines may write.
func guardOpen(open func() error) (ended bool, err error) {
	ended = true
	err = guardFaults(open, func() { ended = beforeWriting() })
	return ended, err
}

// beforeWriting reports whether the panic that is being recovered from comes from where
// Badger does not write by itself yet.
func beforeWriting() bool {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs[:])])
	for {
		f, more := frames.Next()
		switch _, name, _ := strings.Cut(f.Function, "badger/v4."); name {
		case "(*DB).openMemTable", "InitDiscardStats":
			return true
		}
		if !more {
			return false
		}
	}
}
