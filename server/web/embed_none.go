//go:build no_web

package web

import "io/fs"

// dist is nil: this build has no page.
func dist() fs.FS { return nil }
