//go:build !unix

package cas

import "os"

// handle is an open file of a workspace.
type handle struct{ *os.File }

// handle opens a file for reading, like open.
func (d *dir) handle(name string) (handle, error) {
	f, err := d.open(name)
	return handle{f}, err
}

func (h handle) stat() (stat, error) { return fstat(h.File) }

func (h handle) close() { _ = h.Close() } // nothing was written

// file gives the os.File, which is closed in its stead.
func (h handle) file() *os.File { return h.File }
