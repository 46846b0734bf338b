package chat

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/commands/suggest"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/term/live"
	"github.com/fettle-cli/fettle/engine/catalog"
)

const (
	// menuRows is how many completions are shown at once.
	menuRows = 8
	// menuMost is how many are looked for.
	menuMost = 200
)

// menu is what could stand at the cursor.
type menu struct {
	list []suggest.Value
	word string // what is completed
	at   int
}

func (m *menu) open() bool { return len(m.list) > 0 }

// rows draws the menu around the chosen entry.
func (m *menu) rows(style term.Style, width, most int) []string {
	from := min(max(m.at-most/2, 0), max(len(m.list)-most, 0))
	var out []string
	wide := 0
	list := m.list[from:min(from+most, len(m.list))]
	for _, s := range list {
		wide = max(wide, min(term.Cells(s.Text), width/2))
	}
	for i, s := range list {
		value := term.CutMiddle(term.Clean(s.Text), max(wide, 4))
		line := "  " + value + strings.Repeat(" ", max(wide-term.Cells(value), 0)) + "  " + show.OneLine(s.About)
		line = term.CutEnd(strings.TrimRight(line, " "), width-1)
		if from+i == m.at {
			line = style.Bold("> " + strings.TrimPrefix(line, "  "))
		} else {
			line = style.Dim(line)
		}
		out = append(out, line)
	}
	return out
}

// menuKey moves in the menu or takes its entry; it tells whether it did.
func (p *page) menuKey(ctx context.Context, k live.Key) bool {
	m := &p.menu
	switch {
	case k.Name == live.Up:
		m.at = (m.at + len(m.list) - 1) % len(m.list)
	case k.Name == live.Down, k.Name == live.BackTab:
		m.at = (m.at + 1) % len(m.list)
	case k.Name == live.Tab:
		p.accept(ctx)
	case k.Name == live.Enter && !k.Alt && m.list[m.at].Text != m.word:
		p.accept(ctx)
	case k.Name == live.Escape:
		*m = menu{}
		p.stopLooking()
	default:
		return false
	}
	return true
}

// accept puts the chosen entry in the place of the word.
func (p *page) accept(ctx context.Context) {
	value := p.menu.list[p.menu.at].Text
	space := " "
	if strings.HasSuffix(value, "/") || strings.HasSuffix(value, ":") {
		space = ""
	}
	p.line.Replace(len(p.menu.word), value+space)
	p.menu = menu{}
	if space == "" {
		p.complete(ctx, true)
	}
}

// atCursor is the text before the cursor, and the word of it that the cursor is at.
func (p *page) atCursor() (before, word string) {
	before = p.line.Before()
	return before, before[strings.LastIndexAny(before, " \n")+1:]
}

// complete looks for what could stand at the cursor. Only where a person asks
// are files and chats looked for whose word isn't begun. What may take its time is
// looked for beside the loop, see [page.look].
func (p *page) complete(ctx context.Context, asked bool) {
	before, word := p.atCursor()
	if before == "" && asked && !p.busy && len(p.log.Next) > 0 {
		p.line.Set(p.log.Next[0])
		return
	}
	p.menu = menu{word: word}
	var list []suggest.Value
	switch {
	case strings.HasPrefix(before, "/") && word == before:
		list = slashNames()
	case strings.HasPrefix(before, "/"):
		name, _, _ := slash(before)
		list = p.valuesFor(ctx, name, asked)
	case strings.HasPrefix(word, "@chat:"):
		list = p.chatsToName(ctx, "@chat:", asked)
	case strings.HasPrefix(word, "@"):
		list = append(p.filesToName(word[1:]), p.serversToName(ctx)...)
		list = append(list, p.resourcesToName(ctx, word, asked)...)
		if strings.HasPrefix("@chat:", word) {
			list = append(list, suggest.Value{Text: "@chat:", About: "a chat, by its number"})
		}
	case !asked:
		return
	}
	for _, s := range list {
		if strings.HasPrefix(s.Text, word) && len(p.menu.list) < menuMost {
			p.menu.list = append(p.menu.list, s)
		}
	}
	if len(p.menu.list) == 1 && p.menu.list[0].Text == word {
		p.menu = menu{}
	}
}

// valuesFor are the arguments of a command.
func (p *page) valuesFor(ctx context.Context, name string, asked bool) []suggest.Value {
	silent := *p.in
	silent.Quiet = true // warnings of the configuration were said when the chat began
	switch name {
	case "model":
		return p.cached(name, func() []suggest.Value { return suggest.Models(ctx, &silent) })
	case "agent":
		return p.agentsToName(ctx, asked)
	case "toolset":
		return p.cached(name, func() []suggest.Value { return suggest.Toolsets(ctx, &silent) })
	case "chats":
		return p.chatsToName(ctx, "", asked)
	case "approvals":
		return modesToName()
	case "plan":
		return []suggest.Value{{Text: "accept", About: "leave plan mode, and carry the plan out"}, {Text: "off", About: "leave plan mode"}}
	}
	return nil
}

// valuesFresh is how long a list of models and the like is used again: a menu
// looks at it with every key.
const valuesFresh = 30 * time.Second

// cached gives a list that was found a moment ago, or finds it.
func (p *page) cached(name string, find func() []suggest.Value) []suggest.Value {
	if p.values.name != name || time.Since(p.values.at) > valuesFresh {
		p.values = foundValues{name, time.Now(), find()}
	}
	return p.values.list
}

type foundValues struct {
	name string
	at   time.Time
	list []suggest.Value
}

// chatsToName are the chats that were used last. Another command may hold the store.
func (p *page) chatsToName(ctx context.Context, prefix string, asked bool) []suggest.Value {
	const most = 50
	return p.look(ctx, cmp.Or(prefix, "chats"), asked, func(ctx context.Context) []suggest.Value {
		chats, err := p.eng.Glance(ctx, most)
		if err != nil {
			return nil // completion never fails
		}
		var out []suggest.Value
		for _, c := range chats {
			out = append(out, suggest.Value{Text: prefix + strconv.FormatInt(c.Number, 10), About: c.Title})
		}
		return out
	})
}

// agentsToName are the agents that a question can enter by, those of the user included. Another
// command may hold the store.
func (p *page) agentsToName(ctx context.Context, asked bool) []suggest.Value {
	return p.look(ctx, "agent", asked, func(ctx context.Context) []suggest.Value {
		agents, err := p.eng.AllAgents(ctx)
		if err != nil {
			return nil // completion never fails
		}
		return suggest.Agents(agents.All())
	})
}

// filesToName are the files of the chat's folder, or of where the program was
// started, that a begun path may mean.
func (p *page) filesToName(begun string) []suggest.Value {
	dir, _ := filepath.Split(begun)
	at := filepath.Join(p.dir, dir)
	if filepath.IsAbs(begun) {
		at = filepath.Clean(dir)
	}
	entries, err := os.ReadDir(at)
	if err != nil {
		return nil // completion never fails
	}
	var out []suggest.Value
	for _, e := range entries[:min(len(entries), 5000)] {
		if strings.HasPrefix(e.Name(), ".") && !strings.HasPrefix(filepath.Base(begun), ".") || strings.ContainsAny(e.Name(), " \n\t") {
			continue
		}
		s := suggest.Value{Text: "@" + dir + e.Name()}
		if e.IsDir() {
			s.Text += "/"
			s.About = "folder"
		}
		out = append(out, s)
	}
	return out
}

// agentName is the agent that the next turn enters by.
func (t *talk) agentName() string {
	name := t.ask.Agent
	if name == "" {
		name = t.chat.Agent
	}
	if name == catalog.NoAgent {
		return ""
	}
	return term.Clean(name)
}

// slashNames are the commands, as they are completed.
func slashNames() []suggest.Value {
	var out []suggest.Value
	for _, c := range talkCommands() {
		out = append(out, suggest.Value{Text: "/" + c.name, About: c.about})
	}
	slices.SortFunc(out, func(a, b suggest.Value) int { return strings.Compare(a.Text, b.Text) })
	return out
}
