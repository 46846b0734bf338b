package tools

import (
	"context"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/author"
	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/registry"
)

// toolsets is what the commands below toolset need of the engine.
type toolsets interface {
	PlanToolset(ctx context.Context, ref string, o registry.PlanOptions) (*registry.Plan, error)
	PlanToolsetUpdate(ctx context.Context, id string, o registry.PlanOptions) (*registry.Plan, error)
	ImportToolset(ctx context.Context, p *registry.Plan, o registry.ApplyOptions) (*registry.Toolset, error)
	InstalledToolsets(ctx context.Context) ([]registry.Info, error)
	InstalledToolset(ctx context.Context, id string) (*registry.Info, error)
	ExportToolset(ctx context.Context, id string, w io.Writer, o registry.ExportOptions) (*registry.Exported, error)
	RemoveToolset(ctx context.Context, id string) (*registry.Removed, error)
	EntryAgent(ctx context.Context) (string, error)
	VerifyToolset(ctx context.Context, id string) ([]registry.Damage, error)
}

// toolSwitches is what the user sets of toolsets and tools.
type toolSwitches interface {
	SwitchToolset(ctx context.Context, id string, on bool) (bool, error)
	TrustToolset(ctx context.Context, id string, t registry.Trusted) error
	RevokeToolset(ctx context.Context, id string) error
	SwitchTool(ctx context.Context, toolID string, on bool) (bool, error)
	SetToolRenderer(ctx context.Context, toolID string, r toolset.Renderer, priority int) error
	RemoveToolRenderer(ctx context.Context, toolID string, priority int) error
}

var (
	_ toolsets     = (*engine.Engine)(nil)
	_ toolSwitches = (*engine.Engine)(nil)
)

// NewToolset is the command toolset.
func NewToolset(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:  "toolset",
		Usage: "install sets of tools, keep them in order, and make them",
		Description: `A toolset is a bundle of tools, renderers, agents and MCP servers: a ZIP, a
tar.gz, a folder or an https address, made for fettle; or an MCP bundle (.mcpb);
or a folder with a SKILL.md; or one of the gallery that is part of fettle. It can do what you approved when it was imported,
and nothing else.`,
		UsageText:   "fettle toolset gallery\nfettle toolset import csv-tools.zip --yes\nfettle toolset list\nfettle toolset show csv-tools",
		Subcommands: append(author.Commands(rt), installedToolsets(rt)...),
	}
}

// installedToolsets are the commands on toolsets that are, or will be,
// installed.
func installedToolsets(rt *workbench.Runtime) []*cli.Command {
	return []*cli.Command{
		newToolsetGallery(rt), newToolsetImport(rt), newToolsetUpdate(rt), newToolsetList(rt), newToolsetShow(rt), newToolsetExport(rt),
		toolsetSwitch.Command(rt, false), toolsetSwitch.Command(rt, true), newToolsetTrust(rt), newToolsetRm(rt),
	}
}

// oneToolset refuses other arguments of the command word than the id of one toolset.
func oneToolset(word string) cli.BeforeFunc {
	return cmdline.OneArgument("fettle toolset list", "toolset %s wants the id of one toolset", word)
}
