package ask

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/payloads"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/didyoumean"
	"github.com/fettle-cli/fettle/internal/textenc"
)

// pageFlags say where in a client the question is asked, and what is taken up
// of the last answer.
func pageFlags(category string) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "action", Category: category, Usage: "take an `ACTION` that the last answer suggests, by its number or type"},
		&cli.StringFlag{Name: "page", Category: category, Usage: "ask as from the page `PAGE` of a toolset, with its payloads and context"},
		&cli.StringFlag{Name: "tab", Category: category, Usage: "with --page: the `TAB` of that page"},
		&cli.StringFlag{Name: "context", Category: category, Usage: "with --page: what the page shows, as a JSON object or the `FILE` that has one"},
	}
}

// pageOptions are those flags, as values.
type pageOptions struct {
	page, tab string
	context   json.RawMessage
	action    string
}

func (o *askOptions) readPage(c *cli.Context) error {
	o.page, o.tab, o.action = c.String("page"), c.String("tab"), c.String("action")
	const help = "fettle ask --help"
	for _, name := range []string{"page", "tab", "context", "action"} {
		if c.IsSet(name) && c.String(name) == "" {
			return cmdline.Usagef(help, "--%s is empty", name)
		}
	}
	switch {
	case o.page == "" && (c.IsSet("tab") || c.IsSet("context")):
		return cmdline.Usagef("fettle ask --page PAGE …", "--tab and --context are about a page, and --page names none")
	case o.action != "" && (c.Bool("retry") || c.IsSet("at")):
		return cmdline.Usagef(help, "--action goes on with the last answer; --retry and --at don't")
	}
	if o.action != "" && !o.Chat.Last && !c.IsSet("chat") {
		o.Chat.Last = true
	}
	if !c.IsSet("context") {
		return nil
	}
	var err error
	o.context, err = readObject("--context", c.String("context"))
	return err
}

// readObject takes a JSON object itself, or the file of that name.
func readObject(flag, arg string) (json.RawMessage, error) {
	const example = `fettle ask --page PAGE --context '{"stream": {"name": "Sleep"}}' …`
	data := []byte(strings.TrimSpace(arg))
	if !strings.HasPrefix(string(data), "{") {
		f, err := os.Open(arg)
		if err != nil {
			var pe *os.PathError
			if errors.As(err, &pe) {
				err = pe.Err
			}
			return nil, fault.Wrap(fault.Usage, flag+": read "+arg, err, fault.Run(example))
		}
		defer f.Close() // it was only read
		if data, err = io.ReadAll(io.LimitReader(f, payloads.MaxContext+1)); err != nil {
			return nil, fault.Wrap(fault.Usage, flag, err)
		}
		data = textenc.ToUTF8(data)
	}
	var object map[string]json.RawMessage
	switch {
	case len(data) > payloads.MaxContext:
		return nil, cmdline.Usagef(example, "%s has more than %d KB, the limit", flag, payloads.MaxContext>>10)
	case json.Unmarshal(data, &object) != nil || object == nil:
		return nil, cmdline.Usagef(example, "%s is no JSON object", flag)
	}
	return data, nil
}

// hasQuestion tells whether something is asked beside an action that is taken.
func (o askOptions) hasQuestion() bool {
	return o.Prompt != "" || o.named != "" || len(o.files) > 0
}

// onPage completes a request by where it is asked, and by the action that is
// taken.
func (o askOptions) onPage(ctx context.Context, eng *engine.Engine, req *engine.TurnRequest) error {
	req.Page, req.Tab, req.Context, req.Suggestions = o.page, o.tab, o.context, o.page != ""
	if o.page != "" {
		if err := knownPage(ctx, eng, o.page); err != nil {
			return err
		}
	}
	if o.action == "" {
		return nil
	}
	a, err := suggestedAction(ctx, eng, o.Chat, o.action)
	if err != nil {
		return err
	}
	req.InteractionType, req.ActionMetadata = a.Type, a.Metadata
	if len(req.Parts) == 0 {
		req.Parts = []provider.Part{{Kind: provider.TextPart, Text: a.Label}}
	}
	return nil
}

func knownPage(ctx context.Context, eng *engine.Engine, name string) error {
	pages, err := eng.Pages(ctx)
	if err != nil {
		return err
	}
	var ids []string
	for _, p := range pages {
		if p.ID == name {
			return nil
		}
		ids = append(ids, p.ID)
	}
	f := fault.New(fault.NotFound, "no toolset has a page "+cmdline.ShellWord(name))
	if near := didyoumean.Of(name, ids); near != "" {
		f.Msg += "; did you mean " + near + "?"
	}
	f.Remedies = []fault.Remedy{fault.Run("fettle toolset list")}
	if len(ids) > 0 {
		f.Detail = []string{"pages: " + strings.Join(ids, ", ")}
	}
	return f
}

// suggestedAction finds an action of the chat's last answer.
func suggestedAction(ctx context.Context, eng *engine.Engine, ref store.ChatRef, name string) (payloads.SuggestedAction, error) {
	ref.Fork = false
	conv, err := eng.Chat(ctx, ref)
	if err != nil {
		return payloads.SuggestedAction{}, err
	}
	var all []payloads.SuggestedAction
	if n := len(conv.Messages); n > 0 {
		all = show.Actions(conv.Messages[n-1].SuggestedActions)
	}
	look := fmt.Sprintf("fettle chats show %d", conv.Chat.Number)
	if len(all) == 0 {
		return payloads.SuggestedAction{}, fault.New(fault.NotFound, fmt.Sprintf("the last answer of chat %d suggests no action", conv.Chat.Number), fault.Run(look))
	}
	if n, err := strconv.Atoi(name); err == nil {
		if n < 1 || n > len(all) {
			return payloads.SuggestedAction{}, fault.New(fault.NotFound, fmt.Sprintf("chat %d has no action %d: its last answer suggests %d", conv.Chat.Number, n, len(all)), fault.Run(look))
		}
		return all[n-1], nil
	}
	i := slices.IndexFunc(all, func(a payloads.SuggestedAction) bool { return a.Type == name })
	if i < 0 {
		var types []string
		for _, a := range all {
			types = append(types, a.Type)
		}
		return payloads.SuggestedAction{}, fault.New(fault.NotFound, fmt.Sprintf("the last answer of chat %d suggests no action %s; it has %s",
			conv.Chat.Number, cmdline.ShellWord(name), strings.Join(types, ", ")), fault.Run(look))
	}
	return all[i], nil
}
