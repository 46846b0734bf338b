package ask

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/commands/follow"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/commands/workspace"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/server/client"
)

const askDescription = `The answer goes to standard output and nothing else does. What is piped in is
put before the prompt. Flags may stand before or after the prompt; what stands
behind -- is prompt. doc:NAME in it sends a document along (fettle docs --help),
@SERVER:URI a resource of an MCP server; \@ is only an @.
fettle help exit-codes tells what the exit status says.

The model may use files, commands (in a sandbox, without the network) and the
web; run_command and web_fetch ask first. Where nobody can be asked, as in a
pipe, only the file tools are offered, and those that --tool, --toolset or
--allow names. Of small toolsets and MCP servers at most 100 tools are offered;
--tool, --toolset and the setting tools choose others. fettle help
environment has the settings run_command.* and search.*.

--approvals chooses which calls ask. With changes, a contained command runs first,
and the question shows what it changed: apply all, some of the files, or discard.
With edits, the file tools change files of the workspace without a question. With
ask-all, every call asks. --plan lets the model only read and answer with a plan.

Beside a running fettle serve the question goes through it, and the answer is the
same. --server asks one elsewhere: -w and what is about this machine can't be
given then.`

const askExamples = `fettle ask "why is the sky blue?"
git diff | fettle ask "write a commit message" -m ollama/qwen3
fettle ask -f report.md -f chart.png "what does the chart add?"
fettle ask -p review -f diff.patch "mind the tests"
fettle ask "name three birds" --schema '{"type":"array"}'
fettle ask "draft a haiku" | fettle ask -c "make it rhyme"
fettle ask --retry -m ollama/qwen3
fettle ask --page edit_research_stream --context '{"stream": {}}' "add topics"
fettle ask --action 1
fettle ask -w . --allow 'write_file(path=notes/**)' "write notes/todo.md"
fettle ask -w . --allow 'run_command(git log*)' "what changed this week?"
fettle ask -w . --approvals changes "rename the tests after what they check"
fettle ask -w . --plan "how would you split main.go?"`

// New makes the command ask.
func New(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:        "ask",
		Usage:       "ask a model one thing",
		ArgsUsage:   "[prompt…]",
		Description: askDescription,
		UsageText:   askExamples,
		Flags:       askFlags(rt),
		Action:      workbench.Run(rt, readAsk, runAsk),
	}
}

// request makes the turn's request of options and configuration; the parts
// are the message.
func (o askOptions) request(rt *workbench.Runtime, cfg *config.Config) (engine.TurnRequest, error) {
	req, err := o.Options.Request(rt, cfg)
	if err != nil {
		return req, err
	}
	req.Docs, req.Title = o.docs(), cmp.Or(req.Title, o.named)
	req.Ephemeral, req.TextAlone = o.ephemeral, req.TextAlone && o.page == ""
	if o.agentMode != "" {
		on := o.agentMode == "on"
		req.AgentMode = &on
	}
	return req, nil
}

// docs are what the person's own words name as doc:ID: what is piped in may
// have such words of its own.
func (o askOptions) docs() []string {
	words, err := o.text(nil, true)
	if err != nil { // a prompt that wants input, which is piped in
		words = o.Prompt
	}
	return append([]string{}, engine.DocRefs(words)...)
}

// runAsk asks and prints the answer.
func runAsk(ctx context.Context, rt *workbench.Runtime, o askOptions) error {
	rt.Quiet, rt.Verbose = o.View.Quiet, o.View.Verbose
	if o.former {
		rt.Notice("--max-turns is called --max-steps now")
	}
	if err := o.usePrompt(rt); err != nil {
		return err
	}
	cfg, err := rt.Config(o.Flags())
	if err != nil {
		return err
	}
	elsewhere, err := o.elsewhere(rt, cfg)
	if err != nil {
		return err
	}
	o.choosePromptTools(rt, cfg)
	req, err := o.request(rt, cfg)
	if err != nil {
		return err
	}
	if !o.retry && (o.action == "" || o.hasQuestion()) {
		if req.Parts, err = readParts(ctx, rt, cfg, o); err != nil {
			return err
		}
	}
	rec, err := openRecord(o.record)
	if err != nil {
		return err
	}
	if elsewhere != nil {
		return o.askElsewhere(ctx, rt, elsewhere, req)
	}
	eng, err := o.turns(ctx, rt, cfg, rec, &req)
	if err != nil {
		return rec.close(err)
	}
	if err := o.Attach(ctx, rt, cfg, eng, &req); err != nil {
		return rec.close(err)
	}
	if err := o.fillFromServer(ctx, rt, cfg, eng, &req); err != nil {
		return rec.close(err)
	}
	if err := o.offerCut(ctx, rt, cfg, eng); err != nil {
		return rec.close(err)
	}
	view := follow.New(rt, o.View, rt.Prices(cfg))
	view.Status("asking " + cmp.Or(req.Model, "the chat's model"))
	id, err := eng.Start(ctx, req)
	if err != nil {
		view.Clear()
		return rec.close(err)
	}
	o.nameChat(rt, eng, id)
	return rec.close(follow.Turn(ctx, rt, eng, id, view))
}

// offerCut asks on a terminal what to do with the files of calls that were cut off in the
// chat or in the folder. In a pipe, and where the output is read by a program, the turn's
// warning names them.
func (o askOptions) offerCut(ctx context.Context, rt *workbench.Runtime, cfg *config.Config, turns client.Turns) error {
	dirs, err := rt.Dirs()
	if err != nil {
		return err
	}
	if o.View.Output != "text" || o.View.Extract || !rt.Streams.In.IsTerminal() || !rt.Streams.Out.IsTerminal() || !engine.HasLayers(dirs.Data) {
		return nil
	}
	eng, err := rt.EngineBeside(cfg, turns)
	if err != nil {
		return err
	}
	c := chat.Chat{Workspace: o.Workspace}
	if o.Chat != (store.ChatRef{}) {
		if c, err = eng.FindChat(ctx, o.Chat); err != nil {
			return nil // the turn reports it
		}
	}
	return new(workspace.Offers).Ask(ctx, rt, eng, c)
}

// longAgo is the time without use after which -c names the chat that it continues.
const longAgo = time.Hour

// nameChat prints which chat -c continues, where that is not the obvious one.
func (o askOptions) nameChat(rt *workbench.Runtime, eng client.Turns, id store.TurnID) {
	if !o.Chat.Last || o.View.Quiet {
		return
	}
	if chat, ok := eng.TurnChat(id); ok && !chat.UpdatedAt.IsZero() && time.Since(chat.UpdatedAt) > longAgo {
		rt.Notice(fmt.Sprintf("continuing chat %d (%s) of %s", chat.Number, term.Clean(chat.Title), chat.UpdatedAt.Local().Format("2 January 2006 15:04")))
	}
}

// turns gives who is asked, and completes the request by what only an engine knows.
func (o askOptions) turns(ctx context.Context, rt *workbench.Runtime, cfg *config.Config, rec *recording, req *engine.TurnRequest) (client.Turns, error) {
	if o.record == "" && o.page == "" && o.action == "" {
		t, err := rt.TurnsFor(ctx, cfg, o.Allow)
		if err != nil {
			return nil, err
		}
		return t, o.onPage(ctx, nil, req) // which looks into none without a page and an action
	}
	eng, err := rt.EngineFor(cfg, rec.wrap)
	if err != nil {
		return nil, err
	}
	return eng, o.onPage(ctx, eng, req)
}
