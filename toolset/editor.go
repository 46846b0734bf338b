package toolset

import "context"

// Editor is a program in which the user has files of the workspace open, with text that
// may not be saved yet. The file tools read that text in place of the files, and write
// through the editor, so that neither overwrites the other's changes.
//
// Names are paths below the workspace, with slashes and without links, of files that the
// tool may read or write. An implementation bounds its waits, and is safe for concurrent
// use.
type Editor interface {
	// ReadText returns the editor's text of a file. ok is false where the editor has none,
	// or can't be asked: then the file on the disk is the text. An error says that it was
	// asked and failed, so that there may be text which is not saved.
	ReadText(ctx context.Context, name string) (text string, ok bool, err error)
	// WriteText makes text the content of a file, in the editor and on the disk. ok is
	// false where the editor can't be asked, which has no effect. After an error the
	// caller has to look at the file.
	WriteText(ctx context.Context, name, text string) (ok bool, err error)
}
