package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// maxFile bounds a configuration file. Real ones are a few kilobytes; YAML
// nodes take fifty times their text.
const maxFile = 1 << 20

// projectDir and projectName make the project's file.
const (
	projectDir  = ".fettle"
	projectName = "config.yaml"
)

// readFile reads a whole file of at most maxFile bytes. A missing one is nil
// without an error.
func readFile(path string) ([]byte, fs.FileInfo, error) {
	f, err := openNonblock(path)
	if errors.Is(err, fs.ErrNotExist) {
		if exists(path) {
			return nil, nil, errors.New("this link leads to no file")
		}
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("the file can't be read: %w", reason(err))
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, fmt.Errorf("the file can't be read: %w", reason(err))
	}
	if info.IsDir() {
		return nil, nil, errors.New("this is a folder, not a file")
	}
	if !info.Mode().IsRegular() {
		return nil, nil, errors.New("this is not a regular file")
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, nil, fmt.Errorf("the file can't be read: %w", reason(err))
	}
	if len(data) > maxFile {
		return nil, nil, fmt.Errorf("the file is larger than %s, the limit", FormatSize(maxFile))
	}
	if data == nil {
		data = []byte{}
	}
	return data, info, nil
}

// reason is an error without the operation and the path, which the message
// names already.
func reason(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// maxParents bounds the search for a project's file; no real tree is deeper.
const maxParents = 256

// findProject gives the project's file that counts in workDir, or "". Folders
// above workDir are looked at only if the way up meets a repository's root or
// the home: elsewhere anyone may have put a file there. The home itself is no
// project, except for who works in it.
func findProject(workDir, home string) string {
	return findInProject(workDir, home, projectName)
}

// ProjectDir gives the folder whose .fettle/name counts as the project's in
// workDir, or "" where there is none. One that strangers may have put there
// doesn't count; refused is its path then.
func ProjectDir(workDir, home, name string) (dir, refused string) {
	file := findInProject(workDir, home, name)
	if file == "" {
		return "", ""
	}
	if stranger(file) || openToAll(file) {
		return "", file
	}
	return filepath.Dir(filepath.Dir(file)), ""
}

// findInProject gives the .fettle/name that counts in workDir, or "".
func findInProject(workDir, home, name string) string {
	if workDir == "" {
		return ""
	}
	homeInfo, _ := os.Stat(home)
	var found string
	for dir, i := filepath.Clean(workDir), 0; i < maxParents; i++ {
		info, err := os.Stat(dir)
		atHome := err == nil && homeInfo != nil && os.SameFile(info, homeInfo)
		if atHome && i > 0 {
			return found
		}
		if found == "" {
			if file := filepath.Join(dir, projectDir, name); exists(file) {
				if i == 0 {
					return file
				}
				found = file
			}
		}
		if atHome || exists(filepath.Join(dir, ".git")) {
			return found
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
	return ""
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// stranger tells whether someone else may have put file there: its folder, or
// the one around it, is open to everyone and not simply the user's own.
func stranger(file string) bool {
	inner := filepath.Dir(file)
	return openToAll(inner) || openToAll(filepath.Dir(inner))
}
