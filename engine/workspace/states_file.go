package workspace

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/record"
	"github.com/fettle-cli/fettle/toolset"
)

// historyChat is the part of an exported history that says whose it is.
const historyChat = "chat.json"

// exportedChat is what that part holds.
type exportedChat struct {
	Title string `json:"title"`
	// Tools has for each call that made a state the tool that it called.
	Tools map[string]string `json:"tools,omitempty"`
}

// aboutChat reads that part, which is for people alone: one that can't be read says
// nothing.
func aboutChat(extras []cas.Extra) (about exportedChat) {
	for _, x := range extras {
		if x.Name == historyChat && json.Unmarshal(x.Body, &about) != nil {
			about = exportedChat{}
		}
	}
	return about
}

// toolsOf are the tools whose calls made states of a chat, by the calls.
func (w *Folders) toolsOf(ctx context.Context, chat chat.Chat) (map[string]string, error) {
	_, states, _, err := w.StateTree(ctx, store.ChatRef{ID: chat.ID}, 0)
	if err != nil {
		return nil, err
	}
	tools := map[string]string{}
	for _, info := range states {
		if info.Tool != "" {
			tools[info.SourceRef] = info.Tool
		}
	}
	return tools, nil
}

// ExportStates writes the history of a chat's files as one file, with its title and
// the names of the tools that made the states. What these were called with isn't in it.
func (w *Folders) ExportStates(ctx context.Context, out io.Writer, chat chat.Chat) error {
	if chat.ActiveManifest == "" {
		return noFiles(chat)
	}
	switch last, err := w.Snapshots.Latest(ctx, chat.ID); {
	case err != nil:
		return store.StoreFault("read the states of the workspace", err)
	case last == nil: // a fork whose folder isn't filled yet
		return fault.New(fault.NotFound, fmt.Sprintf("chat %d has no states of its own yet: it is at one of the chat that it was forked from", chat.Number),
			fault.Try(fault.ShowChanges, fmt.Sprint(chat.Number)).That("gives it its files"))
	}
	tools, err := w.toolsOf(ctx, chat)
	if err != nil {
		return err
	}
	about, err := record.Marshal(exportedChat{Title: chat.Title, Tools: tools})
	if err == nil {
		err = w.Snapshots.Export(ctx, out, chat.ID, cas.Extra{Name: historyChat, Body: about})
	}
	if err != nil {
		return store.StateFault("export the history", err)
	}
	return nil
}

// History is a file that ExportStates wrote, of which nothing is believed.
type History struct {
	Name    string // of the file, for messages
	Content io.Reader
	// New makes a chat for the states, with the title that the file has.
	New bool
}

// ImportedStates is what was imported.
type ImportedStates struct {
	Chat   chat.Chat
	States []*cas.Manifest // those of the file, in its order: the latest is the last one
	// Follows tells that the chat had no states: it goes on from these now, and its
	// folder, which is as it was, is the state after the last of them. In another
	// chat they lie beside its own.
	Follows bool
}

// ImportStates reads what ExportStates wrote, as states of a chat. No file of the
// chat's folder changes; a state is brought back by RestoreState. A file that can't
// be read to its end, or isn't what ExportStates writes, leaves no state and no
// chat. Of req it uses Chat, unless a new chat is made, OnWait, Begin and Progress.
func (w *Folders) ImportStates(ctx context.Context, req RestoreRequest, file History) (*ImportedStates, error) {
	if file.New {
		return w.importNew(ctx, file)
	}
	conv, unlock, err := w.heldChat(ctx, &req)
	if err != nil {
		return nil, err
	}
	defer unlock()
	chat := &conv.Chat
	open := func() (*toolset.Workspace, func(), error) { return w.lockedFolderOf(ctx, *chat, req.OnWait) }
	if err := w.TakeBackCut(ctx, *chat, open); err != nil {
		return nil, err
	}
	if err := w.SettleIn(ctx, chat, open); err != nil {
		return nil, err
	}
	if chat.ActiveManifest != "" {
		in, err := w.readHistory(ctx, chat.ID, file)
		if err != nil {
			return nil, err
		}
		return &ImportedStates{Chat: *chat, States: in.Manifests}, nil
	}
	ws, release, err := open() // before anything is read: it may be gone
	if err != nil {
		return nil, err
	}
	defer release()
	in, err := w.readHistory(ctx, chat.ID, file)
	if err != nil {
		return nil, err
	}
	if err := w.followStates(ctx, chat, ws, in.Manifests, req); err != nil {
		return nil, err
	}
	return &ImportedStates{Chat: *chat, States: in.Manifests, Follows: true}, nil
}

// lockedFolderOf opens a chat's folder and keeps other chats out of it.
func (w *Folders) lockedFolderOf(ctx context.Context, chat chat.Chat, onWait func(string)) (*toolset.Workspace, func(), error) {
	ws, err := w.OpenWorkspace(chat)
	if err != nil {
		return nil, nil, err
	}
	release, err := w.LockWorkspace(ctx, ws, onWait)
	if err != nil {
		return nil, nil, errors.Join(err, ws.Close())
	}
	return ws, func() { release(); _ = ws.Close() }, nil // nothing was written through it
}

// followStates takes a chat's folder in as the state that comes after imported
// ones, or withdraws these.
func (w *Folders) followStates(ctx context.Context, chat *chat.Chat, ws *toolset.Workspace, in []*cas.Manifest, req RestoreRequest) error {
	last := in[len(in)-1]
	snap, err := w.TakeState(ctx, ws, cas.SnapshotOptions{
		About: cas.About{ChatID: chat.ID, Source: cas.Imported, SourceRef: last.ID}, Parent: last,
		Limits: w.Options.States, Begin: req.Begin, Progress: req.Progress,
	})
	if err != nil {
		return w.withdraw(ctx, chat.ID, in, store.StateFault("look at "+ws.Path, err))
	}
	if err := w.SetActive(ctx, chat.ID, snap.Manifest.ID); err != nil {
		if snap.New {
			in = append(in, snap.Manifest)
		}
		return w.withdraw(ctx, chat.ID, in, err)
	}
	chat.ActiveManifest = snap.Manifest.ID
	return nil
}

// importNew imports into a chat that it makes. The chat appears once its states are
// there; where a crash comes between, the collector removes them.
func (w *Folders) importNew(ctx context.Context, file History) (*ImportedStates, error) {
	letData, err := w.ShareData(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer letData()
	release, err := w.Snapshots.Guard(ctx) // the states have no chat until the end
	if err != nil {
		return nil, store.StoreFault("keep the collector away", err)
	}
	defer release()
	id := w.NewID()
	in, err := w.readHistory(ctx, id, file)
	if err != nil {
		return nil, err
	}
	last := in.Manifests[len(in.Manifests)-1]
	folder, err := w.Snapshots.Empty(ctx, cas.About{ChatID: id, ParentID: last.ID, Source: cas.Imported, SourceRef: last.ID})
	if err != nil {
		return nil, w.withdraw(ctx, id, in.Manifests, store.StateFault("import "+file.Name, err))
	}
	w.Pause("import:states")
	now := w.Options.Now()
	c := &store.Incoming{Chat: chat.Chat{ID: id, Title: titleOf(in.Extras), CreatedAt: now, UpdatedAt: now, ActiveManifest: folder.ID}}
	if err := w.Insert(ctx, c); err != nil {
		return nil, w.withdraw(ctx, id, append(in.Manifests, folder), err)
	}
	return &ImportedStates{Chat: c.Chat, States: in.Manifests, Follows: true}, nil
}

// withdraw removes states that their chat couldn't take up, and gives the reason.
func (w *Folders) withdraw(ctx context.Context, chatID string, list []*cas.Manifest, why error) error {
	if err := w.Snapshots.Withdraw(context.WithoutCancel(ctx), chatID, list); err != nil {
		return errors.Join(why, store.StoreFault("take the imported states back", err))
	}
	return why
}

// titleOf is the title that an imported history brings along.
func titleOf(extras []cas.Extra) string {
	return cmp.Or(chat.CleanTitle(aboutChat(extras).Title), store.NewTitle)
}

// readHistory reads a file's states as those of a chat: all of them or none.
func (w *Folders) readHistory(ctx context.Context, chatID string, file History) (*cas.Import, error) {
	hint := fault.Try(fault.ExportSnapshots).That("writes such a file")
	var about *exportedChat // read once, for all states
	in, err := w.Snapshots.Import(ctx, file.Content, cas.ImportOptions{ChatID: chatID, Limits: w.Options.States,
		Maker: func(extras []cas.Extra, call string) string {
			if about == nil {
				known := aboutChat(extras)
				about = &known
			}
			return chat.CleanTitle(about.Tools[call])
		},
	})
	var bad *cas.ImportError
	switch {
	case errors.As(err, &bad):
		f := fault.New(fault.Usage, "import "+file.Name+": "+bad.Why()+"; nothing was imported", hint)
		f.Err = err
		return nil, f
	case err != nil:
		return nil, store.StateFault("import "+file.Name, err)
	case len(in.Manifests) == 0:
		return nil, fault.New(fault.Usage, "import "+file.Name+": it has no states", hint)
	}
	return in, nil
}
