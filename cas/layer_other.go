//go:build !linux

package cas

import (
	"os"
	"time"
)

// attr is an extended attribute of a file. Only Linux has layers.
type attr struct{}

func (d *dir) attrs() ([]attr, error) { return nil, errNoCall }

func (h handle) attrs() ([]attr, error) { return nil, errNoCall }

func setAttrs(*os.File, []attr) error { return nil }

func (n *node) takeAttrs([]attr) (forged bool) { return false }

func bootOf() (id string, uptime time.Duration) { return "", 0 }
