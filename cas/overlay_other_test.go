//go:build !linux

package cas

import (
	"context"
	"errors"
)

func childOverlay(context.Context, string, string, string) error {
	return errors.New("only Linux has overlays")
}
