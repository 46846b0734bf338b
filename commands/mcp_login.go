package commands

import (
	"context"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/toolset/mcp"
)

// mcpSignedJSON is what mcp login and logout print with --output json.
type mcpSignedJSON struct {
	SchemaVersion int    `json:"schema_version"`
	ID            string `json:"id"`
	SignedIn      bool   `json:"signed_in"`
	Changed       bool   `json:"changed"`
	Revoked       bool   `json:"revoked"`
}

func newMCPLogin(rt *runtime) *cli.Command {
	const path = "fettle mcp login"
	return &cli.Command{
		Name:      "login",
		Usage:     "sign in at a server that wants it",
		ArgsUsage: "SERVER",
		Description: `Shows an address to open in a browser, and waits until you have signed in there.
What the server gives is kept in the system's keyring, else in a file for you
alone, and is renewed by itself where the server allows that. Nothing is opened
by itself, since the address is the server's.`,
		UsageText: "fettle mcp login docs\nfettle mcp logout docs",
		Flags:     []cli.Flag{outputFlag()},
		Action: func(c *cli.Context) error {
			id, err := oneServer(c, "login")
			if err != nil {
				return err
			}
			if err := checkOutput(c.String("output"), path); err != nil {
				return err
			}
			return runMCPLogin(c.Context, rt, id, c.String("output"))
		},
	}
}

func runMCPLogin(ctx context.Context, rt *runtime, id, output string) error {
	rt.signIn = &mcp.SignIn{Show: showAddress(rt.streams)}
	eng, err := rt.storeEngine()
	if err != nil {
		return err
	}
	s, err := eng.MCPServer(ctx, id)
	if err != nil {
		return err
	}
	if s.Config.URL == "" {
		return fault.New(fault.Usage, "the MCP server "+id+" is a command, which wants no sign-in", "fettle mcp show "+shellWord(id))
	}
	before, err := rt.toolbox.servers.SignInMark(ctx, eng.ReachedAs(s))
	if err != nil {
		return err
	}
	looked, err := eng.LookAtMCPServer(ctx, id, false)
	if err != nil {
		return err
	}
	after, err := rt.toolbox.servers.SignInMark(ctx, eng.ReachedAs(s))
	if err != nil {
		return err
	}
	if output == "json" {
		return printJSON(rt, mcpSignedJSON{SchemaVersion: outputVersion, ID: id, SignedIn: after != "", Changed: after != before})
	}
	switch {
	case after == "":
		rt.notice("the MCP server " + id + " wants no sign-in")
	case after == before:
		rt.notice("you are signed in at " + id + " already")
	default:
		rt.notice("signed in at " + id)
	}
	if looked.Waiting {
		rt.hint("fettle mcp test " + shellWord(id) + "   shows which of its tools changed, and asks")
	}
	return nil
}

func newMCPLogout(rt *runtime) *cli.Command {
	const path = "fettle mcp logout"
	return &cli.Command{
		Name:        "logout",
		Usage:       "forget what a sign-in gave",
		ArgsUsage:   "SERVER",
		Description: "Removes the tokens from here, and has the server end them where it takes such word.\nElse they end by themselves, or by its settings for your account.",
		UsageText:   "fettle mcp logout docs",
		Flags:       []cli.Flag{outputFlag()},
		Action: func(c *cli.Context) error {
			id, err := oneServer(c, "logout")
			if err != nil {
				return err
			}
			if err := checkOutput(c.String("output"), path); err != nil {
				return err
			}
			eng, err := rt.storeEngine()
			if err != nil {
				return err
			}
			s, err := eng.MCPServer(c.Context, id)
			if err != nil {
				return err
			}
			done, err := rt.signOut(c.Context, eng.ReachedAs(s))
			switch {
			case err != nil:
				return err
			case c.String("output") == "json":
				return printJSON(rt, mcpSignedJSON{SchemaVersion: outputVersion, ID: id, Changed: done.Was, Revoked: done.Revoked})
			case done.Revoked:
				rt.notice("signed out of " + id + ", which ended the tokens")
			case done.Was:
				rt.notice("signed out of " + id)
			default:
				rt.notice("nobody is signed in at " + id)
			}
			return nil
		},
	}
}

// signOut forgets what a sign-in gave, and has the server end it. Where that fails it
// is told: what was given may be good for a while.
func (rt *runtime) signOut(ctx context.Context, s mcp.Server) (mcp.SignedOut, error) {
	out, err := rt.toolbox.servers.SignOut(ctx, s)
	if out.Failed != nil {
		rt.notice("the tokens of " + s.ID + " are gone from here, but the server did not end them: " + out.Failed.Error())
	}
	return out, err
}
