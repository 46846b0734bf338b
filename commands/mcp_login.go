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
		UsageText: "fettle mcp add docs --url https://example.com/mcp --no-test\nfettle mcp logout docs",
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
	name := mcp.TokenName(eng.ReachedAs(s))
	store := rt.tokens()
	before, err := store.Load(ctx, name)
	if err != nil {
		return err
	}
	looked, err := eng.LookAtMCPServer(ctx, id, false)
	if err != nil {
		return err
	}
	after, err := store.Load(ctx, name)
	if err != nil {
		return err
	}
	if output == "json" {
		return printJSON(rt, mcpSignedJSON{outputVersion, id, after != "", after != before})
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
		Description: "Removes the tokens from here. The server may keep its own record of them, which\nits settings for your account end.",
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
				return printJSON(rt, mcpSignedJSON{outputVersion, id, false, done})
			case done:
				rt.notice("signed out of " + id)
			default:
				rt.notice("nobody is signed in at " + id)
			}
			return nil
		},
	}
}

// signOut forgets what a sign-in gave, and tells whether there was something.
func (rt *runtime) signOut(ctx context.Context, s mcp.Server) (bool, error) {
	if s.URL == "" {
		return false, nil
	}
	return mcp.SignOut(ctx, rt.tokens(), s)
}
