package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/toolset/bundle"
	"github.com/fettle-cli/fettle/toolset/gallery"
	"github.com/fettle-cli/fettle/toolset/python"
	"github.com/fettle-cli/fettle/toolset/registry"
)

// The conversation is document 003's: its toolset, and its two questions.
const (
	// Model is the recording of the conversation.
	Model = "script/:demo"
	// Agent is the one that the conversation enters by.
	Agent          = toolsetID + ":interface"
	toolsetID      = "chaoscontext"
	firstQuestion  = "I'm starting on the login system. What's the final spec?"
	secondQuestion = "What library should I use for that?"
)

// agentsScene has three agents answer a question that two sources disagree on,
// and then one that only the chat's memory can answer.
func (d *demo) agentsScene(ctx context.Context) error {
	d.says("Three agents find out which login a team has settled on. " + d.who("the agents, their tools, the folder and the store"))
	if err := d.install(ctx); err != nil {
		return err
	}
	d.asks(firstQuestion)
	chat, err := d.ask(ctx, engine.TurnRequest{Parts: question(firstQuestion), Agent: Agent}, Model)
	if err != nil || d.lost() {
		return err
	}
	d.asks(secondQuestion)
	_, err = d.ask(ctx, engine.TurnRequest{Parts: question(secondQuestion), Chat: store.ChatRef{ID: chat.ID}}, Model)
	if err != nil || d.lost() {
		return err
	}
	d.agentsEnd(chat)
	return nil
}

// agentsEnd says what was seen, what was kept, and what to try next.
func (d *demo) agentsEnd(chat chat.Chat) {
	d.rt.Streams.Err.Printf("\n")
	var steps []step
	if d.recorded {
		d.says("The first question took three agents and two tools; the second was answered from memory by the first agent alone.")
	}
	if d.o.keep {
		d.says(fmt.Sprintf("Chat %d and the toolset %s were kept.", chat.Number, toolsetID))
		steps = append(steps,
			step{fmt.Sprintf("fettle chats show %d", chat.Number), "shows the chat with its handoffs"},
			step{"fettle agents show interface", "shows an agent with its prompt"},
			step{"fettle toolset rm " + toolsetID, "removes the toolset"})
	} else {
		d.says("Nothing of it was kept.")
		steps = append(steps,
			step{"fettle demo files", "a model reads and writes files, and undo takes it back"},
			step{"fettle demo --keep", "keeps the chat and the toolset, to look at them"})
	}
	if d.recorded {
		steps = append(steps, realModel("fettle demo")...)
	}
	d.next(steps)
}

// install imports the toolset from the program itself. It asks for nothing that
// would need an approval.
func (d *demo) install(ctx context.Context) error {
	status := d.rt.Streams.Status()
	status.Set("installing " + toolsetID)
	defer status.Clear()
	p, err := d.eng.PlanToolset(ctx, gallery.Ref(toolsetID), registry.PlanOptions{Env: os.LookupEnv, WorkDir: d.scratch})
	if err != nil {
		return err
	}
	defer p.Close()
	if p.Installed != nil && !p.Same && p.Installed.SourceType != bundle.FromProgram {
		return fault.New(fault.Failed, "another "+toolsetID+" is installed, and the demo leaves it alone", fault.Run("fettle demo"))
	}
	if _, err := d.eng.ImportToolset(ctx, p, registry.ApplyOptions{Approved: true}); err != nil {
		return err
	}
	return d.standIn(ctx)
}

// standIn lets fettle itself run the toolset's two functions where there is no
// Python: whoever looks at a demo has not installed anything yet.
func (d *demo) standIn(ctx context.Context) error {
	err := d.rt.FindPython(ctx)
	var none *python.UnavailableError
	if !errors.As(err, &none) {
		return err
	}
	d.rt.StandIn(standIns())
	d.says("(There is no Python here, which the toolset is written in; fettle stands in for its two functions.)")
	return nil
}

func (d *demo) inScratch(name string) string { return filepath.Join(d.scratch, name) }
