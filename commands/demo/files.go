package demo

import (
	"context"
	"fmt"

	"github.com/fettle-cli/fettle/commands/demodata"
	workspacecmd "github.com/fettle-cli/fettle/commands/workspace"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/engine/workspace"
)

const (
	filesModel    = "script/:files"
	ordersFile    = "orders.csv"
	filesQuestion = "Which customer spent the most, and is anything odd in orders.csv?"
)

// filesScene has a model read a file and write another, and takes that back.
func (d *demo) filesScene(ctx context.Context) error {
	csv, err := demodata.Files().ReadFile(ordersFile)
	if err != nil {
		return fault.Wrap(fault.Failed, "read the demo's file", err)
	}
	d.says("A model looks at a small file and writes down what it finds. " + d.who("the tools, the folder and the store"))
	d.asks(filesQuestion)
	chat, err := d.ask(ctx, engine.TurnRequest{
		Agent: catalog.NoAgent, Parts: question(filesQuestion), Uploads: []engine.Upload{{Name: ordersFile, Data: csv}},
	}, filesModel)
	if err != nil || d.lost() {
		return err
	}
	if d.recorded {
		if err := d.takeBack(ctx, chat); err != nil {
			return err
		}
	}
	d.filesEnd(chat)
	return nil
}

// takeBack shows undo and redo on the file that was just written.
func (d *demo) takeBack(ctx context.Context, chat chat.Chat) error {
	for _, s := range []struct {
		verb, past string
		do         workspacecmd.StepFunc
	}{{"undo", "undid", (*engine.Engine).Undo}, {"redo", "redid", (*engine.Engine).Redo}} {
		done, err := s.do(d.eng, ctx, workspace.RestoreRequest{Chat: store.ChatRef{ID: chat.ID}, Steps: 1, OnWait: d.rt.Waiting})
		if err != nil {
			return err
		}
		out := d.rt.Streams.Err
		out.Printf("\n%s\n", out.Style().Bold("> fettle "+s.verb))
		d.says(fmt.Sprintf("%s %s: %s", s.past, workspacecmd.StepsText(done.Steps), done.Summary().Counts()))
	}
	return nil
}

func (d *demo) filesEnd(chat chat.Chat) {
	d.rt.Streams.Err.Printf("\n")
	var steps []step
	if d.o.keep {
		d.says(fmt.Sprintf("Chat %d was kept.", chat.Number))
		steps = append(steps,
			step{fmt.Sprintf("fettle chats show %d", chat.Number), "shows the chat"},
			step{fmt.Sprintf("fettle workspace log %d", chat.Number), "shows what became of its files"})
	} else {
		d.says("Nothing of it was kept.")
		steps = append(steps,
			step{"fettle demo", "three agents answer together"},
			step{"fettle demo files --keep", "keeps the chat and its files, to look at them"})
	}
	if d.recorded {
		steps = append(steps, realModel("fettle demo files")...)
	}
	d.next(steps)
}
