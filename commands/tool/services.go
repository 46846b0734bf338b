package tool

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/toolset"
)

// runningService is a service with the number of its chat.
type runningService struct {
	toolset.Service
	Chat int64 `json:"chat,omitempty"` // left out where the chat is gone
}

// servicesJSON is what `tool services` and `tool stop` print with --output json.
type servicesJSON struct {
	SchemaVersion int              `json:"schema_version"`
	Services      []runningService `json:"services"`
}

func newToolServices(rt *workbench.Runtime) *cli.Command {
	const path = "fettle tool services"
	return &cli.Command{
		Name:  "services",
		Usage: "list the services that run in fettle serve",
		Description: `A tool with service: true lives on after its call, in the fettle serve that
called it. In a pipe each is a line of tool, chat, ports and when it was
started, with tabs between.`,
		UsageText: path + "\n" + path + " -o json",
		Flags:     []cli.Flag{cmdline.OutputFlag()},
		Before:    cmdline.NoArguments,
		Action: func(c *cli.Context) error {
			local, all, err := findServices(c.Context, rt)
			if err != nil {
				return err
			}
			if local == nil {
				return printServices(rt, nil, c.String("output"), "no fettle serve works with these data, so no service runs")
			}
			defer local.Close()
			return printServices(rt, all, c.String("output"), "no service runs")
		},
	}
}

func newToolStop(rt *workbench.Runtime) *cli.Command {
	const path = "fettle tool stop"
	return &cli.Command{
		Name: "stop", Usage: "stop the services of a tool", ArgsUsage: "TOOL",
		Description: `What a service wrote into the workspace stays, and the next call of the tool
starts it again. That none runs is no failure.`,
		UsageText: path + " board:show\n" + path + " board:show --chat 12",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "chat", Usage: "that of one chat alone, by its `NUMBER`"}, cmdline.OutputFlag(),
		},
		Before: cmdline.OneArgument("fettle tool services", "tool stop wants the id of one tool"),
		Action: func(c *cli.Context) error {
			number, ok := cmdline.ChatNumber(c.String("chat"))
			if c.IsSet("chat") && !ok {
				return cmdline.Usagef("fettle chats list", "--chat wants the number of a chat")
			}
			return runToolStop(c.Context, rt, c.Args().First(), number, c.String("output"))
		},
	}
}

func runToolStop(ctx context.Context, rt *workbench.Runtime, tool string, chat int64, output string) error {
	local, all, err := findServices(ctx, rt)
	if err != nil {
		return err
	}
	if local != nil {
		defer local.Close()
	}
	stopped := slices.DeleteFunc(all, func(s runningService) bool {
		return s.ToolID != tool || chat != 0 && s.Chat != chat || len(s.Calls) == 0
	})
	for _, s := range stopped {
		if err := local.StopService(ctx, s.Calls[0].CallID); err != nil {
			return err
		}
	}
	if output == "json" {
		return workbench.PrintJSON(rt, servicesJSON{workbench.OutputVersion, workbench.OrEmpty(stopped)})
	}
	if len(stopped) == 0 {
		rt.Notice("no service of " + tool + " runs")
		return nil
	}
	rt.Notice("stopped " + term.Count(len(stopped), "service", "services") + " of " + tool)
	return nil
}

// server is a running fettle that works with these data.
type server interface {
	Services(ctx context.Context) ([]toolset.Service, error)
	StopService(ctx context.Context, callID string) error
	Close()
}

// findServices asks the server that works with these data; nil says that there is none.
func findServices(ctx context.Context, rt *workbench.Runtime) (server, []runningService, error) {
	local, err := rt.RunningServer(ctx)
	if local == nil || err != nil {
		return nil, nil, err
	}
	services, err := local.Services(ctx)
	if err != nil {
		local.Close()
		return nil, nil, err
	}
	eng, err := rt.StoreEngine()
	if err != nil {
		local.Close()
		return nil, nil, err
	}
	all := make([]runningService, len(services))
	for i, s := range services {
		all[i].Service = s
		if chat, err := eng.FindChat(ctx, store.ChatRef{ID: s.ChatID}); err == nil {
			all[i].Chat = chat.Number
		}
	}
	return local, all, nil
}

func printServices(rt *workbench.Runtime, all []runningService, output, none string) error {
	if output == "json" {
		return workbench.PrintJSON(rt, servicesJSON{workbench.OutputVersion, workbench.OrEmpty(all)})
	}
	out := rt.Streams.Out
	if len(all) == 0 {
		rt.Notice(none)
		return nil
	}
	table := term.NewTable(out, term.Column{Title: "tool"}, term.Column{Title: "chat"}, term.Column{Title: "ports"}, term.Column{Title: "started", Style: out.Style().Dim})
	for _, s := range all {
		ports := make([]string, len(s.Ports))
		for i, p := range s.Ports {
			ports[i] = strconv.Itoa(p)
		}
		since := s.Since.Format(time.RFC3339)
		if out.IsTerminal() {
			since = term.Ago(time.Now(), s.Since)
		}
		table.Row(s.ToolID, strconv.FormatInt(s.Chat, 10), strings.Join(ports, ","), since)
	}
	return table.Flush()
}
