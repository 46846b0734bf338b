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
	// Manifest describes a state of a workspace.
	Manifest = cas.Manifest
	// FileEntry is one name in a state.
	FileEntry = cas.Entry
	// FileAt is an entry with its path.
	FileAt = cas.Located
	// FileChange is a path that differs between two states.
	FileChange = cas.Change
	// FileConflict is an error that lists what keeps a restore from being done.
	FileConflict = cas.ConflictError
	// Editor is a program that has files of the workspace open.
	Editor = toolset.Editor
	// Terminal runs commands where the user watches them, and nothing contains them.
	Terminal = toolset.Terminal
	// TerminalCommand is a command for a Terminal.
	TerminalCommand = toolset.TerminalCommand
	// TerminalEnd is what became of it.
	TerminalEnd = toolset.TerminalEnd
	// Exit is how a process ended.
	Exit = toolset.Exit
	// InstalledSet is an installed toolset with all that belongs to it.
	InstalledSet = registry.Info
	// SetRecord is the record of an installed toolset.
	SetRecord = registry.Toolset
	// ImportPlan is a bundle that can be imported.
	ImportPlan = registry.Plan
	// PlanOptions say how a bundle is looked at.
	PlanOptions = registry.PlanOptions
	// ApplyOptions say how a plan is carried out.
	ApplyOptions = registry.ApplyOptions
	// ExportOptions say how a toolset is written as a ZIP.
	ExportOptions = registry.ExportOptions
	// ExportedSet is what such a ZIP holds.
	ExportedSet = registry.Exported
	// SetChange is one thing that differs from what was approved.
	SetChange = registry.Change
	// Service is a tool's process that lives on after its call.
	Service = toolset.Service
	// ListedRenderer is one renderer of a tool.
	ListedRenderer = registry.RenderConfig
	// RemovedSet is what an uninstalled toolset took with it.
	RemovedSet = registry.Removed
)
