package server

import (
	"context"
	"encoding/json"
	"io"
	"iter"
	"net"
	"time"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/models"
	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/engine/workspace"
)

// turnsAPI is what handlers of turns need.
type turnsAPI interface {
	Start(context.Context, engine.TurnRequest) (store.TurnID, error)
	Follow(context.Context, store.TurnID, event.Seq) iter.Seq2[event.Event, error]
	Cancel(context.Context, store.TurnID) error
	Confirm(context.Context, store.TurnID, engine.Confirmation) error
	TurnChat(store.TurnID) (chat.Chat, bool)
	TurnBegins(store.TurnID) (string, bool)
	TurnQuestion(store.TurnID) (chat.Message, bool)
	Live(store.TurnID) bool
	RunningModels(context.Context) ([]provider.Running, error)
	PullModel(ctx context.Context, name string, progress func(provider.Progress)) error
	RemoveModel(ctx context.Context, name string) error
	Embed(context.Context, engine.EmbedRequest) (*engine.Embedded, error)
	Complete(context.Context, string, provider.Request) iter.Seq2[[]provider.Delta, error]
	CountTokens(context.Context, engine.TurnRequest) (n int, exact bool, err error)
	SyncTime(store.TurnID) time.Duration
}

// chatsAPI is what handlers of chats need.
type chatsAPI interface {
	Chats(context.Context, store.ListChats) (store.ChatPage, error)
	FindChat(context.Context, store.ChatRef) (chat.Chat, error)
	Chat(context.Context, store.ChatRef) (store.Conversation, error)
	ChatMessages(ctx context.Context, ref store.ChatRef, before string, n int) (store.MessagePage, error)
	NewChat(ctx context.Context, title string) (chat.Chat, error)
	RenameChat(ctx context.Context, ref store.ChatRef, title string) (chat.Chat, error)
	Mode(chat.Chat) permission.Mode
	SetMode(ctx context.Context, ref store.ChatRef, m store.ModeChange) (chat.Chat, error)
	ForkChat(ctx context.Context, ref store.ChatRef, place int) (chat.Chat, error)
	SearchChats(context.Context, store.SearchChats) (store.FoundPage, error)
	Previews(context.Context, []chat.Chat) (map[string]string, error)
}

// binAPI is what handlers of deleted chats need.
type binAPI interface {
	DeleteChats(context.Context, ...chat.Chat) error
	DeletedChats(context.Context) ([]chat.Chat, error)
	RestoreChat(ctx context.Context, number int64) (chat.Chat, bool, error)
}

// branchesAPI is what handlers of a chat's branches need.
type branchesAPI interface {
	Branches(context.Context, store.ChatRef) (chat.Chat, []store.Branch, error)
	Switch(context.Context, workspace.SwitchRequest) (*workspace.Restored, error)
	Siblings(context.Context, chat.Chat) (map[string][]string, error)
}

// filesAPI is what handlers of a workspace's files need.
type filesAPI interface {
	State(ctx context.Context, chat chat.Chat, name string) (*engine.Manifest, error)
	FolderState(context.Context, workspace.RestoreRequest) (chat.Chat, *engine.Manifest, error)
	Files(context.Context, *engine.Manifest) iter.Seq2[engine.FileAt, error]
	FileEntry(ctx context.Context, m *engine.Manifest, name string) (engine.FileEntry, error)
	ReadFile(context.Context, io.Writer, engine.FileEntry) error
	PutFile(ctx context.Context, req workspace.RestoreRequest, put workspace.Put) (*workspace.Restored, error)
	RemoveFile(ctx context.Context, req workspace.RestoreRequest, name string) (*workspace.Restored, error)
	MoveFile(ctx context.Context, req workspace.RestoreRequest, from, to string) (*workspace.Restored, error)
	WriteManifest(context.Context, io.Writer, *engine.Manifest) error
	DiffStates(ctx context.Context, from, to *engine.Manifest) iter.Seq2[engine.FileChange, error]
}

// statesAPI is what handlers of a workspace's states need.
type statesAPI interface {
	States(ctx context.Context, ref store.ChatRef, limit int) (chat.Chat, []store.StateInfo, bool, error)
	StateTree(ctx context.Context, ref store.ChatRef, limit int) (chat.Chat, []store.StateInfo, bool, error)
	StateBefore(context.Context, *engine.Manifest) (*engine.Manifest, error)
	StateChanges(ctx context.Context, m *engine.Manifest, most int) ([]event.Change, int, error)
	Undo(context.Context, workspace.RestoreRequest) (*workspace.Restored, error)
	Redo(context.Context, workspace.RestoreRequest) (*workspace.Restored, error)
	Pending(context.Context, chat.Chat) (*workspace.Pending, error)
	RestoreState(ctx context.Context, manifest string, req workspace.RestoreRequest) (*workspace.Restored, error)
}

// toolsetsAPI is what handlers of installed toolsets need.
type toolsetsAPI interface {
	InstalledToolsets(context.Context) ([]engine.InstalledSet, error)
	InstalledToolset(ctx context.Context, id string) (*engine.InstalledSet, error)
	Gallery(context.Context) ([]catalog.GallerySet, error)
	EntryAgent(context.Context) (string, error)
	PlanToolset(ctx context.Context, ref string, o engine.PlanOptions) (*engine.ImportPlan, error)
	ImportToolset(context.Context, *engine.ImportPlan, engine.ApplyOptions) (*engine.SetRecord, error)
	ExportToolset(ctx context.Context, id string, w io.Writer, o engine.ExportOptions) (*engine.ExportedSet, error)
	SwitchToolset(ctx context.Context, id string, on bool) (bool, error)
	RemoveToolset(ctx context.Context, id string) (*engine.RemovedSet, error)
}

// toolsAPI is what handlers of tools and agents need.
type toolsAPI interface {
	ToolGroups(context.Context) ([]catalog.ToolGroup, error)
	SwitchTool(ctx context.Context, toolID string, on bool) (bool, error)
	AllAgents(context.Context) (*catalog.Agents, error)
	SetAgent(ctx context.Context, id string, fields catalog.AgentFields) error
	RemoveAgent(ctx context.Context, id string) error
	RenderDocument(ctx context.Context, callID string) (*engine.RenderedCall, error)
	ViewCall(ctx context.Context, id string) (*chat.CallView, error)
	ViewCalls(ctx context.Context, chatID string, messages []chat.Message) ([]chat.CallView, error)
}

// appsAPI is what handlers of MCP Apps need.
type appsAPI interface {
	OpenApp(ctx context.Context, callID string) (*engine.OpenedApp, error)
	CallApp(ctx context.Context, callID string, call engine.AppCall) (*engine.AppAnswer, error)
	ReadApp(ctx context.Context, callID, uri string) (*engine.AppResource, error)
}

// servicesAPI is what handlers of tools that live on need.
type servicesAPI interface {
	Running(chatID string) []engine.Service
	CallService(ctx context.Context, callID string) (*engine.CallService, error)
	PayloadService(ctx context.Context, p chat.ShownPayload, plan json.RawMessage) (*engine.CallService, error)
	DialService(ctx context.Context, id string, port int) (net.Conn, error)
	EndService(ctx context.Context, callID string) (bool, error)
	CallAgain(ctx context.Context, callID string) (engine.TurnRequest, error)
}

// serversAPI is what handlers of MCP servers need.
type serversAPI interface {
	ListedServers(context.Context) ([]engine.ListedServer, error)
	SwitchMCPServer(ctx context.Context, id string, on bool) (bool, error)
	LookAtMCPServer(ctx context.Context, id string, approved bool) (*catalog.Looked, error)
	ApproveSeen(ctx context.Context, id, approve string) ([]catalog.ListedTool, error)
	RemoveMCPServer(ctx context.Context, id string) error
}

// Models lists what models there are.
type Models interface {
	// List asks the providers of a query, each with a deadline of its own.
	List(context.Context, models.Query) ([]models.List, error)
}

// storeAPI is what the server itself needs of the data directory.
type storeAPI interface {
	Open(context.Context) error
	Fold(ctx context.Context, budget time.Duration) (int, error)
	ShareStore() (end func())
	Close() error
}

// Engine is all of it; *engine.Engine is one.
type Engine interface {
	turnsAPI
	chatsAPI
	binAPI
	branchesAPI
	filesAPI
	statesAPI
	cutAPI
	toolsetsAPI
	toolsAPI
	threadsAPI
	payloadsAPI
	documentsAPI
	workflowsAPI
	appsAPI
	serversAPI
	servicesAPI
	storeAPI
}

var _ Engine = (*engine.Engine)(nil)
