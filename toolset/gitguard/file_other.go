//go:build !unix

package gitguard

import "os"

// look returns the identity of a folder and when it last changed. Both are zero here: no
// time of a change is reliable, so each search reads every folder.
func look(string) (fileID, stamp, error) { return fileID{}, stamp{}, nil }

// idOf returns the identity of a file; here that is its path alone.
func idOf(os.FileInfo) fileID { return fileID{} }
