package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
)

const (
	// IgnoreFile has the user's exclusion rules for a folder; see package cas.
	IgnoreFile = ".fettleignore"
	// ProposedRules is the name that rules which a call wrote are given.
	ProposedRules = IgnoreFile + "-proposed"
	// maxIgnoreFile bounds what is restored; snapshots read no longer one.
	maxIgnoreFile = 64 << 10
)

// ignoreRules are the exclusion rules of a folder before a call.
type ignoreRules struct {
	exists bool
	body   []byte
	mode   fs.FileMode
}

// readIgnoreRules reads the rules of a folder. It returns nil where there are some that no
// snapshot could read: then no call runs that could be undone.
func readIgnoreRules(root *os.Root) *ignoreRules {
	info, err := root.Lstat(IgnoreFile)
	if errors.Is(err, fs.ErrNotExist) {
		return new(ignoreRules)
	}
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxIgnoreFile {
		return nil
	}
	f, err := root.Open(IgnoreFile)
	if err != nil {
		return nil
	}
	defer f.Close()
	body, err := io.ReadAll(io.LimitReader(f, maxIgnoreFile+1))
	if err != nil || len(body) > maxIgnoreFile {
		return nil
	}
	return &ignoreRules{exists: true, body: body, mode: info.Mode().Perm()}
}

// restore restores the exclusion rules from before a call that changed them, so that a call
// can't take files out of what undo restores. The call's rules get another name: the user
// confirms them by renaming that file. It returns a notice of that, or "" if the rules are
// the same.
func (r *ignoreRules) restore(root *os.Root) (note string, err error) {
	now := readIgnoreRules(root)
	if now != nil && now.exists == r.exists && bytes.Equal(now.body, r.body) {
		return "", nil
	}
	note = "the exclusion rules in " + IgnoreFile + " are those from before the call again; the user alone changes them"
	if now == nil || now.exists {
		to, err := proposeRules(root)
		if err != nil {
			return "", err
		}
		note = "the exclusion rules that the call wrote are in " + to + " and don't count; the user confirms them by renaming that file to " + IgnoreFile
	}
	if !r.exists {
		return note, nil
	}
	f, err := root.OpenFile(IgnoreFile, os.O_WRONLY|os.O_CREATE|os.O_EXCL, r.mode)
	if err != nil {
		return "", err
	}
	_, err = f.Write(r.body)
	return note, errors.Join(err, f.Sync(), f.Close())
}

// proposeRules renames the file of the rules to the first name that is free.
func proposeRules(root *os.Root) (string, error) {
	const most = 1000
	for n := 1; n < most; n++ {
		to := ProposedRules
		if n > 1 {
			to += "-" + strconv.Itoa(n)
		}
		if _, err := root.Lstat(to); errors.Is(err, fs.ErrNotExist) {
			return to, root.Rename(IgnoreFile, to)
		}
	}
	return "", fmt.Errorf("there are %d proposals already", most)
}
