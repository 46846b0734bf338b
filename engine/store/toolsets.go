package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/didyoumean"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/toolset/registry"
)

// Installed is the registry of this data directory.
func (s *Store) Installed() *registry.Registry {
	return registry.New(registry.Options{
		DataDir: s.Options.DataDir, Store: s.KV, Builtins: s.Builtins(), Now: s.Options.Now,
		OnWait: func(owner string) { s.Options.Notice("waiting for another change of the toolsets, " + owner) },
		Hold:   func(ctx context.Context) (func(), error) { return s.ShareData(ctx, nil) },
	})
}

// ToolsetFault says what is wrong with a toolset and what to do.
func (s *Store) ToolsetFault(doing string, err error) error {
	var missing *registry.NotFoundError
	var clash *registry.ClashError
	var state *registry.StateError
	var busy *registry.BusyError
	var big *registry.TooBigError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &busy):
		return fault.Wrap(fault.Busy, doing, err, fault.Advise("try again when it has ended"))
	case errors.As(err, &missing):
		return MissingFault(missing)
	case errors.As(err, &big):
		f := fault.Wrap(fault.Failed, doing, err, fault.Advise("shorten its descriptions, schemas and tests, or split it"))
		if big.Server {
			f = fault.Wrap(fault.Failed, doing, err, fault.Advise("shorten its arguments, variables and headers"))
		}
		return f
	case errors.As(err, &clash):
		f := fault.New(fault.Failed, fmt.Sprintf("%s can't be installed: %s", clash.ID, clash.Msg))
		if clash.With != "fettle" {
			f.Remedies = []fault.Remedy{fault.Try(fault.ShowToolset, clash.With)}
		}
		return f
	case errors.As(err, &state):
		f := fault.New(fault.Failed, state.ID+": "+state.Msg)
		f.Remedies = fixes(state)
		return f
	case errors.Is(err, registry.ErrChanged):
		return fault.Wrap(fault.Busy, doing, err, fault.Advise("do it again, and look at what it shows"))
	case errors.Is(err, registry.ErrNotApproved):
		return fault.Wrap(fault.Approval, doing, err)
	case isStoreError(err):
		return s.StoreTrouble(err)
	}
	return fault.Wrap(fault.Failed, doing, err)
}

// fixes returns what the registry names as the way out of a state.
func fixes(state *registry.StateError) []fault.Remedy {
	fix := state.Fix
	switch fix.Kind {
	case registry.FixImport:
		return []fault.Remedy{fault.Try(fault.ImportToolset, fix.Source).That(fix.Effect)}
	case registry.FixDemo:
		return []fault.Remedy{fault.Try(fault.InstallDemo).That(fix.Effect)}
	case registry.FixDisable:
		return []fault.Remedy{fault.Try(fault.DisableServer, state.ID).That(fix.Effect)}
	case registry.FixHandOn:
		return []fault.Remedy{fault.Advise("hand on " + fix.Source + ", from which it came")}
	}
	return nil
}

// isStoreError tells the errors of the store itself from those of files.
func isStoreError(err error) bool {
	var busy *kv.BusyError
	var corrupt *kv.CorruptError
	var newer *kv.VersionError
	var full *kv.FullError
	var dir *kv.DirError
	return errors.Is(err, kv.ErrClosed) || errors.As(err, &busy) || errors.As(err, &corrupt) || errors.As(err, &newer) ||
		errors.As(err, &full) || errors.As(err, &dir)
}

// MissingFault is the fault for a toolset that is not installed.
func MissingFault(missing *registry.NotFoundError) error {
	f := fault.New(fault.NotFound, missing.Error())
	near := didyoumean.Of(missing.ID, missing.Known)
	if near != "" {
		f.Msg += " (did you mean " + near + "?)"
	}
	switch missing.What {
	case "toolset":
		f.Remedies = []fault.Remedy{fault.Try(fault.ListToolsets)}
	case "tool":
		f.Remedies = []fault.Remedy{fault.Try(fault.ListTools)}
	case "MCP server":
		f.Remedies = []fault.Remedy{fault.Try(fault.ListServers)}
	}
	return f
}
