package ask

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/commands/follow"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/server"
	"github.com/fettle-cli/fettle/server/client"
)

// serverOptions are the flags of a question to another server.
type serverOptions struct {
	server    string // off asks here
	tokenFile string
}

// asksHere is the address that asks no other server.
const asksHere = "off"

func serverFlags(category string) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "server", Category: category, Usage: "ask the fettle serve at `URL`, by its own configuration; off asks here whatever is configured"},
		&cli.StringFlag{Name: "token-file", Category: category, Usage: "read the server's token from `FILE`; without it from the URL, as serve --print-url prints it, or FETTLE_TOKEN"},
	}
}

func (o *askOptions) readServer(c *cli.Context) error {
	o.server, o.tokenFile = c.String("server"), c.String("token-file")
	for _, name := range []string{"server", "token-file"} {
		if c.IsSet(name) && c.String(name) == "" {
			return cmdline.Usagef("fettle ask --help", "--%s is empty", name)
		}
	}
	if o.server == "" || o.server == asksHere {
		return nil
	}
	return o.checkElsewhere()
}

// checkElsewhere refuses what another server can't be told, or what is about this
// machine.
func (o *askOptions) checkElsewhere() error {
	const help = "fettle ask --help"
	refuse := func(flag, why string) error {
		return cmdline.Usagef(help, "%s can't be given where another server is asked: %s", flag, why)
	}
	switch {
	case o.Workspace != "":
		return refuse("-w", "it can't reach a folder of this machine")
	case o.record != "":
		return refuse("--record", "the model answers to that server")
	case o.RequireSandbox:
		return refuse("--require-sandbox", "its tools run by its own configuration")
	case strings.Contains(o.named, "/"):
		return refuse("-p SERVER/NAME", "the MCP servers are this machine's")
	case o.MaxSteps > 0:
		return refuse("--max-steps", "its limits are its own")
	case o.Timeout > 0:
		return refuse("--timeout", "its limits are its own")
	case o.retry || o.Chat.At != 0 || o.Chat.Instead != "":
		return refuse("--retry and --at", "ask in other words, with -c or --chat")
	case o.action != "":
		return refuse("--action", "say it in words, with -c or --chat")
	}
	return nil
}

// elsewhere gives the server that is asked instead of this machine's models; nil
// where none is.
func (o *askOptions) elsewhere(rt *workbench.Runtime, cfg *config.Config) (*client.Remote, error) {
	given := cmp.Or(o.server, cfg.Server)
	if given == "" || given == asksHere {
		if o.tokenFile != "" {
			return nil, cmdline.Usagef("fettle ask --server URL --token-file FILE …", "--token-file has the token of a server, and none is named")
		}
		return nil, nil
	}
	address, token, err := client.SplitURL(given)
	if err != nil {
		return nil, cmdline.Usagef("fettle ask --server http://"+server.DefaultAddress+" …", "--server: %v", err)
	}
	if err := o.checkElsewhere(); err != nil {
		return nil, err
	}
	if token, err = o.token(rt, token); err != nil {
		return nil, err
	}
	if token == "" {
		return nil, fault.New(fault.Usage, "there is no token for the server at "+address,
			fault.Run("fettle ask --server URL …, with the URL that fettle serve --print-url prints there"),
			fault.Run("fettle ask --token-file FILE …"), fault.Run("export FETTLE_TOKEN=…"))
	}
	o.Remote = true
	remote := client.NewRemote(address, token)
	rt.Closers = append(rt.Closers, remote.Close)
	return remote, nil
}

// maxToken bounds a file with a token.
const maxToken = 4 << 10

// token is the one of the URL, else that of the file, else that of the variable.
func (o *askOptions) token(rt *workbench.Runtime, ofURL string) (string, error) {
	switch {
	case ofURL != "" && o.tokenFile != "":
		return "", cmdline.Usagef("fettle ask --help", "the URL and --token-file both have a token; give one")
	case o.tokenFile == "":
		return clipToken(cmp.Or(ofURL, rt.Streams.Getenv("FETTLE_TOKEN")))
	}
	f, err := os.Open(o.tokenFile)
	if err != nil {
		var pe *os.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return "", fault.Wrap(fault.Usage, "--token-file: read "+cmdline.ShellWord(o.tokenFile), err)
	}
	defer f.Close() // it was only read
	raw, err := io.ReadAll(io.LimitReader(f, maxToken))
	if err != nil {
		return "", fault.Wrap(fault.Usage, "--token-file", err)
	}
	return clipToken(string(raw))
}

// clipToken takes the end of the line off a token, and refuses what no header has
// room for.
func clipToken(token string) (string, error) {
	token = strings.TrimSpace(token)
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", cmdline.Usagef("fettle serve --print-url", "the token should be one word; the server prints it")
	}
	return token, nil
}

// askElsewhere asks another server. What this machine's configuration says of
// questions is left out: that server has its own, and the flags.
func (o askOptions) askElsewhere(ctx context.Context, rt *workbench.Runtime, remote *client.Remote, req engine.TurnRequest) error {
	req.Model, req.Agent, req.System, req.Tools = o.Model, o.Agent, "", nil
	if o.HasSystem {
		req.System = o.System
	}
	if o.NoTools {
		req.Tools = []string{}
	} else if globs, err := o.ChosenTools(); err != nil {
		return err
	} else if len(globs) > 0 {
		req.Tools = globs
	}
	var err error
	if req.Context, err = o.whereabouts(); err != nil {
		return err
	}
	rt.Turns = remote
	view := follow.New(rt, o.View, nil)
	view.Status("asking the server")
	id, err := remote.Start(ctx, req)
	if err != nil {
		view.Clear()
		return err
	}
	err = follow.Turn(ctx, rt, remote, id, view)
	if errors.Is(err, client.ErrGone) {
		return fault.New(fault.Unavailable, "the connection to the server broke, and it can't be reached again; the answer may go on there",
			fault.Run("fettle ask --server URL -c …   goes on with that chat"))
	}
	return err
}

// whereabouts is the context with the page and its tab in it, as document 000 has
// them.
func (o askOptions) whereabouts() (json.RawMessage, error) {
	if o.page == "" && o.tab == "" {
		return o.context, nil
	}
	all := map[string]json.RawMessage{}
	if len(o.context) > 0 {
		if err := json.Unmarshal(o.context, &all); err != nil {
			return nil, fault.Wrap(fault.Usage, "--context", err)
		}
	}
	named := map[string]json.RawMessage{}
	for name, value := range map[string]string{"page": o.page, "tab": o.tab} {
		if value == "" {
			continue
		}
		raw, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		named[name] = raw
	}
	maps.Copy(all, named)
	return json.Marshal(all)
}
