package store

import (
	"errors"

	"github.com/fettle-cli/fettle/engine/event"
)

// ErrStopped says that the follower wants no more.
var ErrStopped = errors.New("the follower stopped")

type Yield func(event.Event, error) bool
