//go:build !linux

package kv

import (
	"context"
	"errors"
)

var errOtherSystem = errors.New("not on this system")

func childFull(context.Context, string) error   { return errOtherSystem }
func childFilled(context.Context, string) error { return errOtherSystem }
func childCut(context.Context, string) error    { return errOtherSystem }
func childBroken(context.Context, string) error { return errOtherSystem }
