package store

import (
	"errors"
)

var ErrClosed = errors.New("the engine was closed")
