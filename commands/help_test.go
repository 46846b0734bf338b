package commands

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/follow"
	"github.com/fettle-cli/fettle/commands/help"
	"github.com/fettle-cli/fettle/commands/help/helptest"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/usage"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/provider"
)

// helpPages are all pages of the help, by the command line that prints them.
func helpPages(t *testing.T) map[string]string {
	t.Helper()
	pages := map[string]string{}
	show := func(args ...string) {
		streams := term.Test(term.TestOptions{})
		if status := Main(t.Context(), append([]string{"fettle"}, args...), streams.Streams); status != 0 {
			t.Errorf("fettle %s: status %d, %s", strings.Join(args, " "), status, streams.Stderr)
		}
		pages[strings.Join(args, " ")] = streams.Stdout.String()
	}
	var walk func(cmds []*cli.Command, path []string)
	walk = func(cmds []*cli.Command, path []string) {
		for _, c := range cmds {
			if !c.Hidden {
				args := append(path[:len(path):len(path)], c.Name)
				show(append(args, "--help")...)
				walk(c.Subcommands, args)
			}
		}
	}
	walk(newApp(workbench.New(term.Test(term.TestOptions{}).Streams)).Commands, nil)
	for _, topic := range help.Topics() {
		show("help", topic.Name)
	}
	show()
	show("help")
	return pages
}

func TestHelpFitsATerminal(t *testing.T) {
	t.Parallel()
	pages := helpPages(t)
	if len(pages) < 12 {
		t.Errorf("only %d pages", len(pages))
	}
	for name, page := range pages {
		for line := range strings.Lines(page) {
			line = strings.TrimSuffix(line, "\n")
			if n := term.Cells(line); n > 80 {
				t.Errorf("fettle %s: %d columns: %s", name, n, line)
			}
			if strings.TrimRight(line, " ") != line {
				t.Errorf("fettle %s: blanks at the end of %q", name, line)
			}
		}
		if strings.HasSuffix(name, "--help") && !strings.Contains(page, "\nexamples\n") {
			t.Errorf("fettle %s has no examples", name)
		}
	}
}

// Each command is listed by the page above it, so that who reads the pages, as
// the test of the examples does, finds them all.
func TestEveryCommandIsListed(t *testing.T) {
	t.Parallel()
	pages := helpPages(t)
	var walk func(cmds []*cli.Command, page, path string)
	walk = func(cmds []*cli.Command, page, path string) {
		_, list, _ := strings.Cut(pages[page], "\ncommands\n")
		list, _, _ = strings.Cut(list, "\n\n")
		for _, c := range cmds {
			line := regexp.MustCompile(`(?m)^  ` + c.Name + ` +` + regexp.QuoteMeta(c.Usage) + `$`)
			if !c.Hidden && !line.MatchString(list) {
				t.Errorf("fettle %s doesn't list %s %q:\n%s", page, c.Name, c.Usage, list)
			}
			walk(c.Subcommands, strings.TrimSpace(path+" "+c.Name+" --help"), strings.TrimSpace(path+" "+c.Name))
		}
	}
	walk(newApp(workbench.New(term.Test(term.TestOptions{}).Streams)).Commands, "help", "")
}

// toldOfAsk are the names of fields that the page of shapes has for `fettle ask -o json`.
// A name ends where two blanks are, or with its line.
func toldOfAsk(t *testing.T) (names []string) {
	t.Helper()
	_, shape, found := strings.Cut(helptest.OutputPage(t), "\nfettle ask -o json: one object on one line\n")
	shape, _, ended := strings.Cut(shape, "\n\n")
	if !found || !ended {
		t.Fatal("the page has no shape of ask")
	}
	for _, m := range regexp.MustCompile(`(?m)^  (\S+(?: \S+)*)(?:  .*)?$`).FindAllStringSubmatch(shape, -1) {
		names = append(names, strings.Split(m[1], ", ")...)
	}
	return names
}

// The page of shapes names every field that a program can meet of a turn, a chat and
// a failure. What a family of commands prints is that family's to test.
func TestTheOutputPageNamesEveryField(t *testing.T) {
	t.Parallel()
	page := helptest.OutputPage(t)
	helptest.Names(t, page, map[string]any{
		"ask":     follow.Answer{},
		"failure": workbench.FaultJSON{},
		"version": workbench.Build{},
		"export":  chat.Document{},
		"part":    provider.Part{},
		"message": chat.Message{},
		"history": event.ToolHistory{},
	})
	for _, b := range event.Bodies() {
		if !strings.Contains(page, string(b.Type())) {
			t.Errorf("the event %s is not on the page", b.Type())
		}
		for name := range helptest.Fields(b) {
			if !regexp.MustCompile(`\b` + name + `\b`).MatchString(page) {
				t.Errorf("event %s: %s is not on the page", b.Type(), name)
			}
		}
	}
}

// What the page says of the fields of `ask -o json` is what is printed.
func TestTheOutputPageIsTrueOfAsk(t *testing.T) {
	t.Parallel()
	var all map[string]json.RawMessage
	full := follow.Answer{
		Value: 1, Chat: 1, ChatID: "x", MessageID: "x", Usage: &event.Usage{}, Cost: []usage.Amount{{}}, StopReason: "x", Ending: event.EndLength, Reasoning: "x",
		Footnotes: []string{"x"}, Error: &workbench.FaultBody{}, Payloads: []event.Payload{{}},
		SuggestedValues: []json.RawMessage{[]byte("1")}, SuggestedActions: []json.RawMessage{[]byte("1")},
	}
	line, err := json.Marshal(full)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(line, &all); err != nil {
		t.Fatal(err)
	}
	told := map[string]bool{}
	for _, name := range toldOfAsk(t) {
		told[name] = true
		if _, ok := all[name]; !ok {
			t.Errorf("%s is told and not printed", name)
		}
	}
	for name := range all {
		if !told[name] {
			t.Errorf("%s is printed and not told", name)
		}
	}
}
