//go:build !no_web

package web

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var built embed.FS

// dist are the files of the page.
func dist() fs.FS {
	files, err := fs.Sub(built, "dist")
	if err != nil { // the name is a valid one
		return nil
	}
	return files
}
