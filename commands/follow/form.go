package follow

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/consent"
	"github.com/fettle-cli/fettle/server/client"
)

// maxFieldTries is how often a field is asked for that isn't filled in as it has to
// be, before the question comes back as a whole.
const maxFieldTries = 5

// answerForm asks the person what a running tool wants to know. Whatever ends it but
// a clear yes declines.
func answerForm(ctx context.Context, rt *workbench.Runtime, eng client.Turns, id store.TurnID, ask event.ConfirmRequest) error {
	answer := engine.Confirmation{ToolUseID: ask.ToolUseID, Decision: event.Deny}
	f := &former{rt: rt, form: ask.Form, rule: ask.Rule, width: rt.PromptWidth()}
	decision, content, err := f.run(ctx)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		answer.Reason = "nobody answered"
	default:
		answer.Decision, answer.Content = decision, content
	}
	return eng.Confirm(ctx, id, answer)
}

// former puts one form on a terminal.
type former struct {
	rt    *workbench.Runtime
	form  *event.Form
	rule  string
	width int
}

func (f *former) run(ctx context.Context) (event.Decision, json.RawMessage, error) {
	switch f.form.Kind {
	case event.URLForm:
		d, err := f.choose(ctx, f.head()+f.address(), []term.Choice{{Key: 'y', Label: "yes, go on", Commits: true}, {Key: 'n', Label: "no"}})
		return d, nil, err
	case event.SamplingForm:
		if f.form.Prompt == nil { // a server elsewhere may send anything
			return event.Deny, nil, errors.New("the prompt is missing")
		}
		d, err := f.choose(ctx, f.head()+f.prompt(), f.promptChoices())
		return d, nil, err
	}
	if len(f.form.Fields) == 0 {
		d, err := f.choose(ctx, f.head(), []term.Choice{{Key: 'y', Label: "yes", Commits: true}, {Key: 'n', Label: "no"}})
		return d, nil, err
	}
	return f.fields(ctx)
}

// choose puts a question of letters. On a page what is asked stands above, so that
// all of it can be read.
func (f *former) choose(ctx context.Context, text string, choices []term.Choice) (event.Decision, error) {
	key, err := f.rt.Streams.Ask(ctx, term.Question{Text: f.above(text), Choices: choices})
	return DecisionOf(key), err
}

// above shows a text where a page keeps it, and gives what the question still has to
// say.
func (f *former) above(text string) string {
	if !f.rt.Streams.Hosted() {
		return text
	}
	f.rt.Streams.Out.WriteString(text)
	return "the MCP server " + consent.Line(f.form.Server) + " waits for an answer\n"
}

// head is who asks, and what: every line of the server's words is indented, so that
// none looks like words of ours.
func (f *former) head() string {
	var b strings.Builder
	fmt.Fprintf(&b, "? the MCP server %s asks\n", consent.Line(f.form.Server))
	if f.form.Message != "" {
		show.Whole(&b, "    ", f.form.Message, f.width)
	}
	return b.String()
}

// address shows an address whole, with where it leads.
func (f *former) address() string {
	var b strings.Builder
	b.WriteString("  open this address yourself, if you trust it; nothing opens it for you\n")
	show.Whole(&b, "    ", f.form.URL, f.width)
	if u, err := url.Parse(f.form.URL); err == nil {
		fmt.Fprintf(&b, "  it is at %s\n", consent.Line(u.Host))
	}
	return b.String()
}

// prompt shows all that a model would be asked.
func (f *former) prompt() string {
	p := f.form.Prompt
	var b strings.Builder
	fmt.Fprintf(&b, "  %s would be asked, for at most %s tokens\n", consent.Line(p.Model), term.Number(int64(p.MaxTokens)))
	if p.System != "" {
		b.WriteString("  system\n")
		show.Whole(&b, "    ", p.System, f.width)
	}
	for _, m := range p.Messages {
		fmt.Fprintf(&b, "  %s\n", consent.Line(m.Role))
		show.Whole(&b, "    ", m.Text, f.width)
	}
	return b.String()
}

func (f *former) promptChoices() []term.Choice {
	return []term.Choice{
		{Key: 'y', Label: "once", Commits: true}, {Key: 'c', Label: "this chat", Commits: true},
		{Key: 'a', Label: "always: " + consent.Line(f.rule), Commits: true}, {Key: 'n', Label: "no"},
	}
}

// fields asks for each field, shows what was filled in, and asks whether to send it.
func (f *former) fields(ctx context.Context) (event.Decision, json.RawMessage, error) {
	key, err := f.rt.Streams.Ask(ctx, term.Question{Text: f.above(f.head()), Choices: []term.Choice{{Key: 'f', Label: "fill in"}, {Key: 'n', Label: "no"}}})
	if err != nil || key != 'f' {
		return event.Deny, nil, err
	}
	for {
		filled := map[string]json.RawMessage{}
		var shown strings.Builder
		for i := range f.form.Fields {
			field := &f.form.Fields[i]
			value, err := f.field(ctx, field)
			if err != nil {
				return event.Deny, nil, err
			}
			if value == nil {
				continue
			}
			filled[field.Name] = value
			show.Whole(&shown, "    ", labelOf(field)+": "+plainValue(value), f.width)
		}
		content, err := json.Marshal(filled)
		if err != nil {
			return event.Deny, nil, err
		}
		text := "  " + consent.Line(f.form.Server) + " would get\n" + cmp.Or(shown.String(), "    nothing\n")
		key, err := f.rt.Streams.Ask(ctx, term.Question{Text: text, Choices: []term.Choice{
			{Key: 's', Label: "send it", Commits: true}, {Key: 'f', Label: "fill in again"}, {Key: 'n', Label: "no"},
		}})
		switch {
		case err != nil || key == 'n':
			return event.Deny, nil, err
		case key == 's':
			return event.Allow, content, nil
		}
	}
}

// field asks for one field; nil leaves it out.
func (f *former) field(ctx context.Context, field *event.FormField) (json.RawMessage, error) {
	prompt := f.fieldPrompt(field)
	for range maxFieldTries {
		line, err := f.rt.Streams.AskLine(ctx, prompt)
		if err != nil {
			return nil, err
		}
		if line = strings.TrimSpace(line); line == "" {
			if len(field.Default) > 0 || !field.Required {
				return field.Default, nil
			}
			prompt = "    it is needed: "
			continue
		}
		value := readField(field, line)
		exact, why := field.Check(value)
		if why == "" {
			return exact, nil
		}
		prompt = "    " + why + ": "
	}
	return nil, errors.New("the field was not filled in")
}

// labelOf is how a field is called.
func labelOf(field *event.FormField) string { return consent.Line(cmp.Or(field.Title, field.Name)) }

// fieldPrompt says what a field takes.
func (f *former) fieldPrompt(field *event.FormField) string {
	var b strings.Builder
	if field.Description != "" {
		show.Whole(&b, "    ", field.Description, f.width)
	}
	for i, o := range field.Options {
		text := consent.Line(o.Value)
		if o.Title != "" {
			text = consent.Line(o.Title) + "  (" + text + ")"
		}
		for j, part := range term.Chop(text, max(f.width-8, 16)) {
			if j == 0 {
				fmt.Fprintf(&b, "    %d  %s\n", i+1, part)
			} else {
				fmt.Fprintf(&b, "       %s\n", part)
			}
		}
	}
	var takes []string
	switch field.Type {
	case event.BooleanField:
		takes = append(takes, "yes or no")
	case event.ChoiceField:
		takes = append(takes, "a number")
	case event.ChoicesField:
		takes = append(takes, "numbers with commas between")
	case event.NumberField, event.IntegerField:
		takes = append(takes, "a number")
	}
	switch {
	case len(field.Default) > 0:
		takes = append(takes, "Enter for "+plainValue(field.Default))
	case !field.Required:
		takes = append(takes, "Enter leaves it out")
	}
	b.WriteString("  " + labelOf(field))
	if len(takes) > 0 {
		b.WriteString(" (" + strings.Join(takes, ", ") + ")")
	}
	b.WriteString(": ")
	return b.String()
}

// plainValue is a value as a person would write it.
func plainValue(raw json.RawMessage) string {
	var text string
	var list []string
	switch {
	case json.Unmarshal(raw, &text) == nil:
		return term.Clean(text)
	case json.Unmarshal(raw, &list) == nil:
		return term.Clean(strings.Join(list, ", "))
	case string(raw) == "true":
		return "yes"
	case string(raw) == "false":
		return "no"
	}
	return term.Clean(string(raw))
}

// readField makes a value of what was typed. What it can't is a text, which the
// field then refuses in its own words.
func readField(field *event.FormField, line string) json.RawMessage {
	text := jsonString(line)
	switch field.Type {
	case event.BooleanField:
		switch strings.ToLower(line) {
		case "y", "yes", "true":
			return json.RawMessage("true")
		case "n", "no", "false":
			return json.RawMessage("false")
		}
	case event.NumberField, event.IntegerField:
		if _, err := strconv.ParseFloat(line, 64); err == nil && json.Valid([]byte(line)) {
			return json.RawMessage(line)
		}
	case event.ChoiceField:
		return jsonString(optionMeant(field, line))
	case event.ChoicesField:
		list := []string{}
		for _, one := range strings.Split(line, ",") {
			if one = strings.TrimSpace(one); one != "" {
				list = append(list, optionMeant(field, one))
			}
		}
		raw, err := json.Marshal(list)
		if err == nil {
			return raw
		}
	}
	return text
}

// optionMeant is the option with a value, or with a number or title.
func optionMeant(field *event.FormField, word string) string {
	for _, o := range field.Options {
		if o.Value == word {
			return word
		}
	}
	for i, o := range field.Options {
		if strconv.Itoa(i+1) == word || o.Title != "" && strings.EqualFold(o.Title, word) {
			return o.Value
		}
	}
	return word
}

func jsonString(s string) json.RawMessage {
	raw, err := json.Marshal(s)
	if err != nil { // a text can always be encoded
		return json.RawMessage(`""`)
	}
	return raw
}

// DecisionOf is what a key of a question decides; any other key denies.
func DecisionOf(key rune) event.Decision {
	switch key {
	case 'y':
		return event.Allow
	case 'c':
		return event.AllowChat
	case 'a':
		return event.AllowAlways
	}
	return event.Deny
}
