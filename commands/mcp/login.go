package mcp

import (
	"context"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/toolset/mcp"
)

// signedJSON is what mcp login and logout print with --output json.
type signedJSON struct {
	SchemaVersion int    `json:"schema_version"`
	ID            string `json:"id"`
	SignedIn      bool   `json:"signed_in"`
	Changed       bool   `json:"changed"`
	Revoked       bool   `json:"revoked"`
}

func newLogin(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:      "login",
		Usage:     "sign in at a server that wants it",
		ArgsUsage: "SERVER",
		Description: `Shows an address to open in a browser, and waits until you have signed in there.
What the server gives is kept in the system's keyring, else in a file for you
alone, and is renewed by itself where the server allows that. Nothing is opened
by itself, since the address is the server's.`,
		UsageText: "fettle mcp login docs\nfettle mcp logout docs",
		Flags:     []cli.Flag{cmdline.OutputFlag()},
		Before:    oneServer("login"),
		Action: func(c *cli.Context) error {
			return runLogin(c.Context, rt, c.Args().First(), c.String("output"))
		},
	}
}

func runLogin(ctx context.Context, rt *workbench.Runtime, id, output string) error {
	rt.SignIn = &mcp.SignIn{Show: showAddress(rt.Streams)}
	eng, err := rt.StoreEngine()
	if err != nil {
		return err
	}
	s, err := eng.MCPServer(ctx, id)
	if err != nil {
		return err
	}
	if s.Config.URL == "" {
		return fault.New(fault.Usage, "the MCP server "+id+" is a command, which wants no sign-in", fault.Run("fettle mcp show "+cmdline.ShellWord(id)))
	}
	before, err := rt.Servers().SignInMark(ctx, eng.ReachedAs(s))
	if err != nil {
		return err
	}
	looked, err := eng.LookAtMCPServer(ctx, id, false)
	if err != nil {
		return err
	}
	after, err := rt.Servers().SignInMark(ctx, eng.ReachedAs(s))
	if err != nil {
		return err
	}
	if output == "json" {
		return workbench.PrintJSON(rt, signedJSON{SchemaVersion: workbench.OutputVersion, ID: id, SignedIn: after != "", Changed: after != before})
	}
	switch {
	case after == "":
		rt.Notice("the MCP server " + id + " wants no sign-in")
	case after == before:
		rt.Notice("you are signed in at " + id + " already")
	default:
		rt.Notice("signed in at " + id)
	}
	if looked.Waiting {
		rt.Hint("fettle mcp test " + cmdline.ShellWord(id) + "   shows which of its tools changed, and asks")
	}
	return nil
}

func newLogout(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:        "logout",
		Usage:       "forget what a sign-in gave",
		ArgsUsage:   "SERVER",
		Description: "Removes the tokens from here, and has the server end them where it takes such word.\nElse they end by themselves, or by its settings for your account.",
		UsageText:   "fettle mcp logout docs",
		Flags:       []cli.Flag{cmdline.OutputFlag()},
		Before:      oneServer("logout"),
		Action: rt.WithStore(func(c *cli.Context, eng *engine.Engine) error {
			id := c.Args().First()
			s, err := eng.MCPServer(c.Context, id)
			if err != nil {
				return err
			}
			done, err := signOut(c.Context, rt, eng.ReachedAs(s))
			switch {
			case err != nil:
				return err
			case c.String("output") == "json":
				return workbench.PrintJSON(rt, signedJSON{SchemaVersion: workbench.OutputVersion, ID: id, Changed: done.Was, Revoked: done.Revoked})
			case done.Revoked:
				rt.Notice("signed out of " + id + ", which ended the tokens")
			case done.Was:
				rt.Notice("signed out of " + id)
			default:
				rt.Notice("nobody is signed in at " + id)
			}
			return nil
		}),
	}
}

// signOut forgets what a sign-in gave, and has the server end it. Where that fails it
// is told: what was given may be good for a while.
func signOut(ctx context.Context, rt *workbench.Runtime, s mcp.Server) (mcp.SignedOut, error) {
	out, err := rt.Servers().SignOut(ctx, s)
	if out.Failed != nil {
		rt.Notice("the tokens of " + s.ID + " are gone from here, but the server did not end them: " + out.Failed.Error())
	}
	return out, err
}

// showAddress tells a person which address to open. fettle opens none by itself:
// it comes from the server.
func showAddress(streams *term.Streams) func(context.Context, string) error {
	return func(_ context.Context, address string) error {
		streams.Err.Printf("open this address in a browser, and sign in there:\n\n  %s\n\nwaiting for it (Ctrl-C ends the wait)\n", term.Clean(address))
		return nil
	}
}
