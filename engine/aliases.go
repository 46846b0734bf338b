package engine

import (
	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/registry"
)

// The types of the rooms below that the Engine's methods take and give, under
// names of its own: the server writes its interfaces with them, and reaches
// files and toolsets by no other way.
type (
	// Manifest is a state of a workspace.
	Manifest = cas.Manifest
	// FileEntry is one name in a state, FileAt one with its path, FileChange a
	// path that differs between two states.
	FileEntry  = cas.Entry
	FileAt     = cas.Located
	FileChange = cas.Change
	// LeftPath is a path that was left alone, BlockedPath one that keeps a
	// restore from being done, FileConflict an error that lists such paths.
	LeftPath     = cas.Left
	BlockedPath  = cas.Blocked
	FileConflict = cas.ConflictError
	// Tool is what a model may call.
	Tool = toolset.Tool
	// InstalledSet is an installed toolset with all that belongs to it, SetRecord
	// its record alone.
	InstalledSet = registry.Info
	SetRecord    = registry.Toolset
	// ImportPlan is a bundle that can be imported; PlanOptions and ApplyOptions
	// say how it is looked at and carried out.
	ImportPlan   = registry.Plan
	PlanOptions  = registry.PlanOptions
	ApplyOptions = registry.ApplyOptions
	// ExportOptions and ExportedSet are of a toolset that is written as a ZIP,
	// RemovedSet of one that is uninstalled.
	ExportOptions = registry.ExportOptions
	ExportedSet   = registry.Exported
	RemovedSet    = registry.Removed
	// ToolRenderer is one way to show a tool's calls.
	ToolRenderer = registry.RenderConfig
)
