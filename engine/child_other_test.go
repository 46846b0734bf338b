//go:build !linux

package engine

import (
	"context"
	"errors"
)

func childFull(context.Context, string) error {
	return errors.New("only Linux lets a test have its own disk")
}

func childLayer(context.Context, string, []string) error {
	return errors.New("only Linux has layers")
}

func childFullRestore(context.Context, string) error {
	return errors.New("only Linux lets a test have its own disk")
}
