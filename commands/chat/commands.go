package chat

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/fettle-cli/fettle/commands/chats"
	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/usage"
	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/didyoumean"
)

// talkCommand is a command of a chat.
type talkCommand struct {
	name, args, about string
	now               bool // it needs no job, and works while one runs
	run               func(t *talk, ctx context.Context, arg string) error
}

// talkCommands are all of them, as /help lists them.
func talkCommands() []talkCommand {
	return []talkCommand{
		{"model", "[NAME]", "ask another model from here on", false, (*talk).doModel},
		{"effort", "[LEVEL | default]", "say how much the model reasons from here on", false, (*talk).doEffort},
		{"set", "[NAME VALUE]", "set effort, temperature or max-tokens from here on", false, (*talk).doSet},
		{"agent", "[ID | none]", "enter by another agent", false, (*talk).doAgent},
		{"approvals", "[MODE | default]", "show or choose which calls need an approval, from here on", false, (*talk).doApprovals},
		{"plan", "[accept [WORDS] | off]", "let the model only read, until you accept its plan", false, (*talk).doPlan},
		{"toolset", "[ID… | all | none]", "offer only the tools of these toolsets", false, (*talk).doToolset},
		{"tools", "", "list the tools that there are", false, fixed("tool", "list")},
		{"files", "[PATH]", "list the chat's files", false, inThisChat("workspace", "files")},
		{"diff", "[STATE…]", "show what the last change did to files", false, inThisChat("workspace", "diff")},
		{"undo", "[N | --call ID]", "revert the last changes of files, or one call", false, stepped("undo")},
		{"redo", "[N]", "restore what undo reverted", false, stepped("redo")},
		{"prompt", "[SERVER/NAME [KEY=VALUE…]]", "list the prompts of MCP servers, or ask one", false, (*talk).doPrompt},
		{"branch", "", "show the chat's branches, and what they did to files", false, (*talk).doBranch},
		{"switch", "N", "go on in another branch", false, (*talk).doSwitch},
		{"retry", "", "ask the last question again, in a branch", false, (*talk).doRetry},
		{"edit", "", "change the last question, and ask it in a branch", false, (*talk).doEdit},
		{"context", "", "show how full the model's context is", false, (*talk).doContext},
		{"compact", "", "sum up what was said so far", false, inThisChat("chats", "compact")},
		{"usage", "", "show the tokens used, and what they cost", false, (*talk).doUsage},
		{"export", "[FILE]", "write the chat to a file, or show it", false, (*talk).doExport},
		{"render", "[N]", "show what the last call, or call N, gave in its own view", false, (*talk).doRender},
		{"payloads", "[accept N | reject N]", "list the chat's payloads, or decide one", false, (*talk).doPayloads},
		{"copy", "[code]", "copy the last answer, or its code", false, (*talk).doCopy},
		{"new", "", "begin another chat", false, (*talk).doNew},
		{"chats", "[N]", "list the chats, or go on with chat N", false, (*talk).doChats},
		{"rename", "TITLE", "give the chat another title", false, (*talk).doRename},
		{"help", "", "show this", true, (*talk).doHelp},
		{"quit", "", "leave", true, func(t *talk, _ context.Context, _ string) error { t.leave = true; return nil }},
	}
}

// slash splits a command: its name, and the rest of the line.
func slash(text string) (name, arg string, ok bool) {
	if !strings.HasPrefix(text, "/") {
		return "", "", false
	}
	name, arg, _ = strings.Cut(text[1:], " ")
	if strings.ContainsAny(name, "/.\n") {
		return "", "", false // a path is no command
	}
	return name, strings.TrimSpace(arg), true
}

// now tells whether a command works beside what runs.
func now(name string) bool {
	for _, c := range talkCommands() {
		if c.name == name {
			return c.now
		}
	}
	return false
}

// take does what was entered: a command, a shell command, or a question.
func (t *talk) take(ctx context.Context, text string) error {
	if name, arg, ok := slash(text); ok {
		return t.command(ctx, name, arg)
	}
	if command, ok := strings.CutPrefix(text, "!"); ok && strings.TrimSpace(command) != "" {
		return t.shell(ctx, strings.TrimSpace(command))
	}
	return t.question(ctx, text)
}

func (t *talk) command(ctx context.Context, name, arg string) error {
	var names []string
	for _, c := range talkCommands() {
		if c.name == name {
			if c.args == "" && arg != "" {
				return cmdline.Usagef("", "/%s takes nothing behind it", name)
			}
			return c.run(t, ctx, arg)
		}
		names = append(names, c.name)
	}
	msg := "there is no command /" + term.Clean(name)
	if near := didyoumean.Of(name, names); near != "" {
		msg += "; did you mean /" + near + "?"
	}
	return fault.New(fault.Usage, msg, fault.Run("/help"))
}

// fettle runs one of the program's own commands here.
func (t *talk) fettle(ctx context.Context, args ...string) error {
	sub := *t.in
	return t.program(ctx, &sub, append([]string{"fettle"}, args...))
}

func fixed(args ...string) func(*talk, context.Context, string) error {
	return func(t *talk, ctx context.Context, _ string) error { return t.fettle(ctx, args...) }
}

// inThisChat is a command whose first argument is the chat.
func inThisChat(command ...string) func(*talk, context.Context, string) error {
	return func(t *talk, ctx context.Context, arg string) error {
		n, err := t.number()
		if err != nil {
			return err
		}
		return t.fettle(ctx, append(append(command[:len(command):len(command)], n), strings.Fields(arg)...)...)
	}
}

// stepped is undo or redo.
func stepped(verb string) func(*talk, context.Context, string) error {
	return func(t *talk, ctx context.Context, arg string) error {
		n, err := t.number()
		if err != nil {
			return err
		}
		return t.fettle(ctx, append([]string{verb, "--chat", n}, strings.Fields(arg)...)...)
	}
}

func (t *talk) doModel(_ context.Context, arg string) error {
	if arg == "" {
		t.say("the model is " + t.modelName() + "; /model NAME asks another, and Tab lists them")
		return nil
	}
	t.ask.Model = arg
	t.say("the next question goes to " + term.Clean(arg))
	return nil
}

func (t *talk) doAgent(ctx context.Context, arg string) error {
	if arg == "" {
		return t.fettle(ctx, "agents", "list")
	}
	agents, err := t.eng.AllAgents(ctx)
	if err != nil {
		return err
	}
	if arg != catalog.NoAgent {
		if _, err := agents.Find(arg); err != nil {
			return err
		}
	}
	t.ask.Agent = arg
	if arg == catalog.NoAgent {
		t.say("the next question goes to the model itself")
	} else {
		t.say("the next question enters by " + term.Clean(arg))
	}
	return nil
}

func (t *talk) doToolset(ctx context.Context, arg string) error {
	switch arg {
	case "":
		return t.fettle(ctx, "toolset", "list")
	case "all":
		t.ask.Toolsets, t.ask.Tools, t.ask.NoTools = nil, nil, false
		t.say("all enabled tools are offered")
		return nil
	case "none":
		t.ask.Toolsets, t.ask.Tools, t.ask.NoTools = nil, nil, true
		t.say("no tools are offered")
		return nil
	}
	groups, err := t.eng.ToolGroups(ctx)
	if err != nil {
		return err
	}
	ids := map[string]bool{"builtin": true}
	for _, g := range groups {
		ids[g.ID] = true
	}
	want := strings.Fields(arg)
	for _, id := range want {
		if !ids[id] {
			return fault.New(fault.NotFound, "there is no toolset "+term.Clean(id), fault.Run("/toolset"))
		}
	}
	t.ask.Toolsets, t.ask.Tools, t.ask.NoTools = want, nil, false
	t.say("only the tools of " + term.Clean(strings.Join(want, ", ")) + " are offered")
	return nil
}

func (t *talk) doSwitch(ctx context.Context, arg string) error {
	n, err := t.number()
	if err != nil {
		return err
	}
	if arg == "" {
		return t.doBranch(ctx, "")
	}
	if err := t.fettle(ctx, append([]string{"chats", "switch", n}, strings.Fields(arg)...)...); err != nil {
		return err
	}
	return t.reload(ctx)
}

// reload shows the chat as it is now.
func (t *talk) reload(ctx context.Context) error {
	chat, err := t.eng.FindChat(ctx, store.ChatRef{ID: t.chat.ID})
	if err != nil {
		return err
	}
	t.goOn(chat)
	t.in.Streams.Out.WriteString("\n")
	return t.greet(ctx)
}

func (t *talk) doRetry(ctx context.Context, _ string) error {
	if _, err := t.number(); err != nil {
		return err
	}
	return t.runTurn(ctx, running{retry: true})
}

func (t *talk) doEdit(_ context.Context, _ string) error {
	if _, err := t.number(); err != nil {
		return err
	}
	if t.at != 0 {
		t.at = 0
		t.say("what you send next goes on as usual")
		return nil
	}
	if t.asked == "" {
		return fault.New(fault.NotFound, "the last question has no text to change")
	}
	t.at, t.fill = -1, t.asked
	t.say("what you send next is asked in the place of your last question; /edit again leaves it")
	return nil
}

func (t *talk) doContext(context.Context, string) error {
	s := &t.spent
	switch {
	case s.last == 0:
		t.say("no model has said yet how much a request takes")
	case s.context == 0:
		t.say(term.Number(s.last) + " tokens so far; how many fit isn't known of " + t.modelName())
	default:
		const cells = 30
		full := int(min(cells*s.last/int64(s.context), cells))
		t.say(fmt.Sprintf("%s%s  %s of %s tokens, %s", strings.Repeat("█", full), strings.Repeat("░", cells-full),
			term.Number(s.last), term.Number(int64(s.context)), t.modelName()))
		t.say("what doesn't fit any more is summed up by itself; /compact does it now")
	}
	return nil
}

func (t *talk) doUsage(context.Context, string) error {
	s := &t.spent
	if s.usage == nil {
		t.say("no tokens were told since this began; fettle usage has all days")
		return nil
	}
	line := term.Count(s.turns, "turn", "turns") + " since this began: " + usage.Line(s.usage)
	if s.cost.Known() {
		line += ", " + s.cost.String()
	}
	t.say(line)
	return nil
}

func (t *talk) doExport(ctx context.Context, arg string) error {
	n, err := t.number()
	if err != nil {
		return err
	}
	if arg == "" {
		return t.fettle(ctx, "chats", "export", n)
	}
	if err := t.fettle(ctx, "chats", "export", n, "--file", arg); err != nil {
		return err
	}
	t.say("wrote " + term.Clean(arg))
	return nil
}

func (t *talk) doPayloads(ctx context.Context, arg string) error {
	n, err := t.number()
	if err != nil {
		return err
	}
	if arg == "" {
		return t.fettle(ctx, "payloads", "list", "--chat", n)
	}
	return t.fettle(ctx, append(append([]string{"payloads"}, strings.Fields(arg)...), "--chat", n)...)
}

// maxCopied is what terminals take by OSC 52.
const maxCopied = 74_994

func clipboardCode(text string) string {
	return "\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte(text)) + "\a"
}

func (t *talk) doCopy(_ context.Context, arg string) error {
	text := t.log.Answer.String()
	if arg == "code" {
		block, ok := show.FirstBlock(text)
		if !ok {
			return fault.New(fault.NotFound, "the last answer has no code block")
		}
		text = block
	}
	switch {
	case arg != "" && arg != "code":
		return cmdline.Usagef("/copy code", "/copy copies the last answer, and /copy code the code in it")
	case strings.TrimSpace(text) == "":
		return fault.New(fault.NotFound, "there is no answer to copy yet")
	case t.copied == nil:
		return fault.New(fault.Failed, "there is no terminal here that keeps a copy")
	case len(text) > maxCopied:
		return fault.New(fault.Failed, "the answer is longer than a terminal keeps, "+term.Size(maxCopied), fault.Run("/export FILE"))
	}
	t.copied(text)
	t.say("sent " + term.Size(int64(len(text))) + " to the terminal's clipboard, if it takes that")
	return nil
}

func (t *talk) doNew(ctx context.Context, _ string) error {
	if err := t.saveMode(ctx); err != nil {
		return err
	}
	t.chooseMode(store.ModeChange{})
	model := t.ask.Model
	t.goOn(chat.Chat{})
	if model != "" {
		t.ask.Model = model
	}
	t.say("a new chat begins with your next question")
	return nil
}

func (t *talk) doChats(ctx context.Context, arg string) error {
	if arg == "" {
		return t.fettle(ctx, "chats", "list", "--limit", "20")
	}
	ref, err := chats.Ref(ctx, t.eng, arg)
	if err != nil {
		return err
	}
	chat, err := t.eng.FindChat(ctx, ref)
	if err == nil {
		err = t.saveMode(ctx)
	}
	if err != nil {
		return err
	}
	t.chooseMode(store.ModeChange{})
	t.goOn(chat)
	return t.greet(ctx)
}

func (t *talk) doRename(ctx context.Context, arg string) error {
	n, err := t.number()
	if err != nil {
		return err
	}
	if arg == "" {
		return cmdline.Usagef("/rename TITLE", "/rename wants the title")
	}
	return t.fettle(ctx, "chats", "rename", n, arg)
}

func (t *talk) doHelp(context.Context, string) error {
	out := t.in.Streams.Out
	style := out.Style()
	row := func(head, about string) {
		const column = 32
		line := "  " + head + strings.Repeat(" ", max(column-2-term.Cells(head), 2))
		if w := out.Width(); w > 0 && w < column+24 {
			out.Printf("  %s\n", head)
			for _, l := range term.Wrap(about, w-6) {
				out.Printf("    %s\n", style.Dim(l))
			}
			return
		}
		out.Printf("%s%s\n", line, style.Dim(about))
	}
	for _, c := range talkCommands() {
		row(strings.TrimSpace("/"+c.name+" "+c.args), c.about)
	}
	out.WriteString("\n")
	row("!COMMAND", "run a command in the chat's folder, by the same rules")
	row("@PATH, @chat:N", "send a file, an image or another chat along")
	row("@SERVER:URI", "send a resource of an MCP server along; \\@ is only an @")
	if t.copied == nil { // no page
		return nil
	}
	for _, k := range [][2]string{
		{"Enter", "send; while an answer comes, it waits for its end"},
		{`Alt-Enter, Ctrl-J, \ Enter`, "begin another line"},
		{"Up, Down, Ctrl-R", "what was entered before; search in it"},
		{"Tab", "complete"},
		{"Shift-Tab", "choose the next mode of approvals, or plan mode"},
		{"Ctrl-O", "open what was thought and done in the last answer"},
		{"Ctrl-X Ctrl-E", "edit the line in $EDITOR"},
		{"Ctrl-C", "stop the answer, or empty the line; again: leave"},
	} {
		row(k[0], k[1])
	}
	return nil
}

// say prints a line of the chat's own.
func (t *talk) say(text string) { show.ShowLabel(t.in.Streams.Out, "· "+text) }
