package suggest

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/commands/help"
	"github.com/fettle-cli/fettle/commands/mcp"
	"github.com/fettle-cli/fettle/commands/models"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine/chat"
	enginemodels "github.com/fettle-cli/fettle/engine/models"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/builtin"
	"github.com/fettle-cli/fettle/toolset/registry"
)

const (
	// glanceTime bounds the reading of the store, since the user waits for it. It takes a
	// few hundredths of a second, also where a server has to release a large store first;
	// the rest is for a busy machine, where late suggestions are better than none.
	glanceTime = time.Second
	// mostRead is how many prompts are read for what they are about.
	mostRead = 50
	// mostChats is how many chats are offered, the last used first.
	mostChats = 50
	// ollamaProvider is the built-in provider whose address is a setting of its own.
	ollamaProvider = "ollama"
)

// completer finds live values. Nothing in it asks an address, and what can't be
// had, by a broken configuration say, is left out.
type completer struct {
	ctx context.Context
	rt  *workbench.Runtime
	app *cli.App

	typed string           // the word at the cursor
	read  *registry.Mirror // what mirror has read
}

// flagValue suggests values of a flag: by what its help calls them, so that a
// new flag is completed without a word here.
func (c *completer) flagValue(p place, f cli.Flag) List {
	d, ok := f.(cli.DocGenerationFlag)
	if !ok {
		return List{}
	}
	_, marked, _ := strings.Cut(d.GetUsage(), "`")
	placeholder, after, _ := strings.Cut(marked, "`")
	if list := enumerated(after); list != nil {
		return List{Values: list}
	}
	switch f.Names()[0] {
	case "chat":
		return c.chats(lastUsed)
	case "prompt":
		out := c.prompts()
		for _, s := range c.mirror().Servers {
			if s.Enabled && s.Unusable == "" { // which prompts it has, only it knows
				out.add(s.ID+"/", "a prompt of the MCP server")
			}
		}
		return out
	case "profile":
		return c.profiles()
	case "agent":
		return c.agents()
	case "provider":
		return c.providers()
	case "tool", "allow", "deny":
		return c.tools()
	case "page":
		return c.pages()
	case "toolset":
		out := List{Values: []Value{{"builtin", "the tools of fettle itself"}}}
		out.Values = append(out.Values, c.toolsets().Values...)
		return out
	}
	return c.named(p, placeholder)
}

// enumerated reads the values that a flag's help lists: "text, json (one
// object) or events". nil where it lists none.
func enumerated(usage string) []Value {
	usage, _, _ = strings.Cut(usage, ";")
	var out []Value
	for usage = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(usage), ":")); usage != ""; {
		end := strings.IndexAny(usage, ", (")
		if end < 0 {
			end = len(usage)
		}
		s := Value{Text: usage[:end]}
		usage = strings.TrimSpace(usage[end:])
		if strings.HasPrefix(usage, "(") {
			s.About, usage, _ = strings.Cut(usage[1:], ")")
			usage = strings.TrimSpace(usage)
		}
		out = append(out, s)
		rest, comma := strings.CutPrefix(usage, ",")
		rest, or := strings.CutPrefix(strings.TrimSpace(rest), "or ")
		if usage != "" && !comma && !or || s.Text == "" {
			return nil // prose
		}
		usage = strings.TrimSpace(rest)
	}
	if len(out) < 2 {
		return nil
	}
	return out
}

// argument suggests what a command's next argument could be, by what its help
// calls it.
func (c *completer) argument(p place) List {
	if p.command == nil {
		return List{}
	}
	switch p.path {
	case "fettle help":
		return c.helpWords(p.args)
	case "fettle man":
		return c.commandWords(p.args)
	case "fettle completion":
		return List{Values: shellNames(p.args)}
	}
	names := strings.Fields(strings.NewReplacer("[", "", "]", "", "…", "").Replace(p.command.ArgsUsage))
	if len(names) == 0 {
		return List{}
	}
	n := len(p.args)
	if n == 0 && p.command.ArgsUsage == "[CHAT] FILE" { // the chat may be left out
		out := c.named(p, names[0])
		out.Paths = "files"
		return out
	}
	if n >= len(names) {
		if !strings.Contains(p.command.ArgsUsage, "…") {
			return List{}
		}
		n = len(names) - 1 // the last one may be repeated
	}
	return c.named(p, names[n])
}

// named suggests values for a name that help gives to one.
func (c *completer) named(p place, name string) List {
	within := func(group string) bool { return strings.HasPrefix(p.path+" ", "fettle "+group+" ") }
	switch {
	case name == "FILE" && p.path == "fettle toolset import":
		return c.gallery()
	case name == "FILE" || name == "PATH":
		return List{Paths: "files"}
	case name == "DIR" || name == "FOLDER":
		return List{Paths: "dirs"}
	case strings.HasPrefix(name, "PROVIDER/"):
		return c.models("")
	case name == "NAME" && p.path == "fettle models rm":
		return c.models("ollama/")
	case name == "PROVIDER", name == "NAME" && within("keys"):
		return c.providers()
	case p.path == "fettle chats restore", p.path == "fettle chats purge":
		return c.chats((*store.Store).DeletedChats)
	case name == "N" && within("chats"), name == "CHAT":
		return c.chats(lastUsed)
	case name == "NAME" && within("prompts") && p.path != "fettle prompts new":
		return c.prompts()
	case within("workflows"):
		return c.workflows(name)
	case name == "DOC":
		return c.documents(p.path == "fettle docs restore")
	case name == "TOOLSET":
		return c.toolsets()
	case name == "SERVER":
		return c.servers(p)
	case name == "TOOL":
		return c.tools()
	case name == "TYPE" && within("payloads"):
		return c.payloadTypes()
	case name == "PAYLOAD" && len(p.args) == 0:
		return c.payloads()
	case p.path == "fettle agents set":
		return c.agentChange(p.args)
	case p.path == "fettle agents rm":
		return c.ownAgents()
	case name == "AGENT":
		return c.agents()
	case p.path == "fettle demo":
		return List{Values: []Value{{"files", "a model reads and writes files, and undo"}}}
	case name == "TYPE" && within("tool"):
		return List{Values: []Value{
			{toolset.RenderCode, "in an editor"}, {toolset.RenderDocument, "as a text"},
			{toolset.RenderHTML, "by a page of the toolset"}, {toolset.RenderTable, "as a table"}, {toolset.RenderFrame, "by an address"},
		}}
	case (name == "KEY" || name == "PREFIX") && within("config"):
		return settingNames()
	case name == "VALUE" && within("config"):
		return c.settingValues(p.args[0])
	}
	return List{}
}

func shellNames(args []string) (out []Value) {
	if len(args) == 0 {
		for _, s := range Shells() {
			out = append(out, Value{Text: s})
		}
	}
	return out
}

// helpWords are the commands and topics of `fettle help`.
func (c *completer) helpWords(args []string) List {
	out := c.commandWords(args)
	if len(args) == 0 {
		for _, t := range help.Topics() {
			out.add(t.Name, t.About)
		}
	}
	return out
}

// commandWords are the commands below those that args name.
func (c *completer) commandWords(args []string) List {
	cmds := c.app.Commands
	for _, arg := range args {
		next := cmdline.FindCommand(cmds, arg)
		if next == nil {
			return List{}
		}
		cmds = next.Subcommands
	}
	return commandNames(cmds)
}

func settingNames() List {
	var out List
	for _, s := range config.Settings() {
		out.add(s.Key, s.Meaning)
	}
	return out
}

// settingValues are those of a setting that has a few, or is a model.
func (c *completer) settingValues(key string) List {
	var out List
	for _, s := range config.Settings() {
		if s.Key != key {
			continue
		}
		if values := strings.Split(s.Type, " | "); len(values) > 1 {
			for _, v := range values {
				out.add(v, "")
			}
		}
	}
	if key == "model" || key == "fallback" {
		return c.models("")
	}
	return out
}

// tools are the builtin ones, and those of installed toolsets.
func (c *completer) tools() List {
	var out List
	for _, e := range builtin.Entries(builtin.Options{}) {
		about, _, _ := strings.Cut(e.Tool.Description, "\n")
		out.add(e.Tool.ID, about)
	}
	for _, set := range c.mirror().Toolsets {
		for _, t := range set.Tools {
			about, _, _ := strings.Cut(t.Tool.Description, "\n")
			out.add(t.Tool.ID, about)
		}
	}
	for _, server := range c.mirror().Servers {
		for _, t := range server.Tools {
			about, _, _ := strings.Cut(t.Tool.Description, "\n")
			out.add(t.Tool.ID, about)
		}
	}
	return out
}

// servers are the MCP servers. A new one has a name that isn't there yet.
func (c *completer) servers(p place) List {
	var out List
	if p.path == "fettle mcp add" {
		return out
	}
	for i := range c.mirror().Servers {
		s := &c.mirror().Servers[i]
		out.add(s.ID, mcp.Where(s))
	}
	return out
}

// agents are those of the user, of installed toolsets and of the configuration.
func (c *completer) agents() List {
	out := c.ownAgents()
	for _, set := range c.mirror().Toolsets {
		for _, a := range set.Agents {
			out.addAgent(set.ID+":"+a.ID, a.Purpose)
		}
	}
	cfg, err := c.rt.Config(nil)
	if err != nil {
		return out
	}
	for _, id := range slices.Sorted(maps.Keys(cfg.Agents)) {
		out.addAgent(id, cfg.Agents[id].Purpose)
	}
	return out
}

// toolsets are the installed ones.
func (c *completer) toolsets() List {
	var out List
	dirs, err := c.rt.Dirs()
	if err != nil {
		return out
	}
	index, err := registry.ReadIndex(dirs.Data)
	if err != nil {
		return out
	}
	for _, set := range index.Toolsets {
		out.add(set.ID, set.Name+" "+set.Version)
	}
	return out
}

// mirror is what is kept of toolsets for reading without the store; where that
// can't be read it is as if there were none.
func (c *completer) mirror() *registry.Mirror {
	if c.read != nil {
		return c.read
	}
	c.read = new(registry.Mirror)
	if dirs, err := c.rt.Dirs(); err == nil {
		if m, err := registry.ReadMirror(dirs.Data); err == nil {
			c.read = m
		}
	}
	return c.read
}

// models are those that the configuration names and that providers told of
// before. Without its prefix a model of one provider stands for itself.
func (c *completer) models(prefix string) List {
	var out List
	cfg, index, end, err := c.index()
	if err != nil {
		return out
	}
	defer end()
	seen := map[string]bool{}
	add := func(ref, about string) {
		name, ok := strings.CutPrefix(ref, prefix)
		if ok && name != "" && !seen[ref] && !(prefix != "" && name[0] == '-') {
			seen[ref] = true
			out.add(name, about)
		}
	}
	kept := index.Kept()
	about := map[string]string{}
	for _, m := range kept {
		about[m.Ref()] = models.About(m)
	}
	if prefix == "" {
		for _, ref := range append([]string{cfg.Model}, cfg.Fallback...) {
			add(ref, about[ref])
		}
		aliases := cfg.Aliases()
		for _, alias := range slices.Sorted(maps.Keys(aliases)) {
			add(alias, aliases[alias])
		}
	}
	for _, m := range kept {
		add(m.Ref(), about[m.Ref()])
	}
	if prefix == "" {
		for _, ref := range configuredModels(cfg) {
			add(ref, about[ref])
		}
	}
	return out
}

// index is what there is to know of models. The function that it gives ends it.
func (c *completer) index() (*config.Config, *enginemodels.Index, func(), error) {
	cfg, err := c.rt.Config(nil)
	if err != nil {
		return nil, nil, nil, err
	}
	client := workbench.NewClient()
	index, err := models.Index(c.rt, cfg, client)
	return cfg, index, client.CloseIdleConnections, err
}

// configuredModels are the models that the configuration has settings of.
func configuredModels(cfg *config.Config) []string {
	out := slices.Sorted(maps.Keys(cfg.Models))
	for _, name := range slices.Sorted(maps.Keys(cfg.Providers)) {
		for _, model := range slices.Sorted(maps.Keys(cfg.Providers[name].Models)) {
			out = append(out, name+"/"+model)
		}
	}
	return out
}

func (c *completer) providers() List {
	var out List
	cfg, index, end, err := c.index()
	if err != nil {
		return out
	}
	defer end()
	for _, name := range index.Catalog.Registry.Names() {
		if name == "script" { // it plays files: nothing to list, and no key
			continue
		}
		address := cfg.Providers[name].BaseURL
		if name == ollamaProvider {
			address = cfg.Ollama.Host
		}
		out.add(name, hostOf(address))
	}
	return out
}

// hostOf is what is told of an address: no path, and nobody's password.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}

// profiles are those of the files that count here. One that was chosen and
// isn't there is no reason to offer none.
func (c *completer) profiles() List {
	var out List
	none := ""
	c.rt.Profile = &none
	cfg, err := c.rt.Config(nil)
	if err != nil {
		return out
	}
	for _, name := range cfg.Profiles {
		out.add(name, "")
	}
	return out
}

func (c *completer) prompts() List {
	var out List
	library, err := c.rt.Library()
	if err != nil {
		return out
	}
	for i, name := range library.Names() {
		about := ""
		if i < mostRead {
			if p, err := library.Load(name); err == nil {
				about = p.Description
			}
		}
		out.add(name, about)
	}
	return out
}

// lastUsed are the chats that are offered where one is to be used.
func lastUsed(eng *store.Store, ctx context.Context) ([]chat.Chat, error) {
	return eng.Glance(ctx, mostChats)
}

// chats gives chats that an engine finds without writing.
func (c *completer) chats(find func(*store.Store, context.Context) ([]chat.Chat, error)) List {
	return c.fromStore(func(ctx context.Context, eng *store.Store) (List, error) {
		var out List
		chats, err := find(eng, ctx)
		for _, chat := range chats {
			out.add(strconv.FormatInt(chat.Number, 10), chat.Title)
		}
		return out, err
	})
}
