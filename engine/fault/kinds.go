package fault

import "sync"

// Kind is the kind of a [Remedy].
type Kind string

// The kinds of remedies. A comment names the arguments of its kind; "?" is an argument
// that may be missing.
const (
	Advice  Kind = "advice"  // a sentence that fits every front end
	Command Kind = "command" // a text for a terminal, such as a command that can be pasted

	ListChats        Kind = "list_chats"
	ListDeletedChats Kind = "list_deleted_chats"
	ShowChat         Kind = "show_chat"      // the chat's number?
	ListBranches     Kind = "list_branches"  // the chat's number
	ForkChat         Kind = "fork_chat"      // the chat's number, the message's number?
	ForkFrom         Kind = "fork_from"      // a fork lacks the chat it is made of
	ForkInFolder     Kind = "fork_in_folder" // for a folder that can't be opened
	RestoreChat      Kind = "restore_chat"   // the chat's number
	CompactChat      Kind = "compact_chat"   // the chat's number
	ImportCopies     Kind = "import_copies"  // of chats
	SkipExisting     Kind = "skip_existing"  // in an import of chats
	ListFiles        Kind = "list_files"     // of a workspace
	ListSnapshots    Kind = "list_snapshots" // the chat's number
	ShowChanges      Kind = "show_changes"   // the chat's number
	ExportSnapshots  Kind = "export_snapshots"
	UndoOverwriting  Kind = "undo_overwriting" // the chat's number
	Redo             Kind = "redo"             // the chat's number

	Ask            Kind = "ask"
	NewChat        Kind = "new_chat"
	AskModel       Kind = "ask_model"       // provider/model
	OtherModel     Kind = "other_model"     // for the same chat
	UnlistedModel  Kind = "unlisted_model"  // the provider
	CompactModel   Kind = "compact_model"   // another model sums up
	SimplerSchema  Kind = "simpler_schema"  // or another model
	Rephrase       Kind = "rephrase"        // or another model
	Wait           Kind = "wait"            // how long
	WaitLonger     Kind = "wait_longer"     // for the first byte and between chunks
	MoreTime       Kind = "more_time"       // for a turn
	MoreSteps      Kind = "more_steps"      // how many
	Continue       Kind = "continue"        // a turn that broke off
	AllowTool      Kind = "allow_tool"      // the tool's id
	WriteRule      Kind = "write_rule"      // an example of an approval rule
	SelectTools    Kind = "select_tools"    // an example of a selection
	WriteSchema    Kind = "write_schema"    // an example of a schema
	WithoutAgent   Kind = "without_agent"   // in the same chat
	ReplaceMessage Kind = "replace_message" // name the message whose question is replaced
	UseFolder      Kind = "use_folder"      // an absolute path
	UseProject     Kind = "use_project"     // a folder that can be a workspace
	LeaveFolder    Kind = "leave_folder"    // the chat has another folder
	AttachFiles    Kind = "attach_files"
	DontKeep       Kind = "dont_keep" // ask without a stored chat
	SendContext    Kind = "send_context"

	ListModels   Kind = "list_models"  // the provider?
	ShowModel    Kind = "show_model"   // provider/model
	PullModel    Kind = "pull_model"   // the model
	StartOllama  Kind = "start_ollama" // the model to pull first?
	EditConfig   Kind = "edit_config"
	StopProcess  Kind = "stop_process"  // its number
	InstallDemo  Kind = "install_demo"  // its toolset
	RunDemo      Kind = "run_demo"      // answers without a model
	AddKey       Kind = "add_key"       // the provider, the variable of its key
	SetVariable  Kind = "set_variable"  // the variable
	StoreKey     Kind = "store_key"     // the key's name
	ListKeys     Kind = "list_keys"     // of providers
	SetEmbedding Kind = "set_embedding" // a model
	ShowLimits   Kind = "show_limits"   // of the settings

	ListTools     Kind = "list_tools"
	ShowTool      Kind = "show_tool"      // the tool's id
	EnableTool    Kind = "enable_tool"    // the tool's id
	CallTool      Kind = "call_tool"      // the tool's id
	TryTool       Kind = "try_tool"       // the tool's id
	ListToolsets  Kind = "list_toolsets"  //
	TrustToolset  Kind = "trust_toolset"  // the toolset's id
	ShowToolset   Kind = "show_toolset"   // the toolset's id
	ImportToolset Kind = "import_toolset" // where from?
	ListServers   Kind = "list_servers"   // of MCP
	ShowServer    Kind = "show_server"    // the MCP server's id
	AddServer     Kind = "add_server"     // to MCP servers
	DisableServer Kind = "disable_server" // the MCP server's id
	TestServer    Kind = "test_server"    // the MCP server's id
	SignIn        Kind = "sign_in"        // the MCP server's id
	Diagnose      Kind = "diagnose"       // the machine and the setup
	ListAgents    Kind = "list_agents"
	ShowAgent     Kind = "show_agent" // the agent's id

	ListDocuments        Kind = "list_documents"
	ListDeletedDocuments Kind = "list_deleted_documents"
	AddDocument          Kind = "add_document"    // with a name
	RenameDocument       Kind = "rename_document" // another name for a new document
	RemoveDocument       Kind = "remove_document" // the document's name
	ListPayloads         Kind = "list_payloads"   // the chat's number
	ShowPayload          Kind = "show_payload"    // the payload's number, the chat's number
	ListWorkflows        Kind = "list_workflows"
	ListInstances        Kind = "list_instances"  // of workflows
	ShowWorkflow         Kind = "show_workflow"   // the id of a workflow or an instance
	StartWorkflow        Kind = "start_workflow"  // the workflow's id
	ActOnWorkflow        Kind = "act_on_workflow" // the instance's id, continue or retry
	CancelWorkflow       Kind = "cancel_workflow" // the instance's id

	StoreStats     Kind = "store_stats"
	VerifyStore    Kind = "verify_store"
	MoveData       Kind = "move_data" // to another folder
	MakeBackup     Kind = "make_backup"
	ReplaceData    Kind = "replace_data"    // by a backup
	RestoreDamaged Kind = "restore_damaged" // what is whole in a backup
	TryBackup      Kind = "try_backup"      // whether another backup is whole
)

// texts are the kinds in words that fit every front end, as templates of [Fill].
var texts = sync.OnceValue(func() map[Kind]string {
	return map[Kind]string{
		Advice: "{1}", Command: "{1}",

		ListChats: "list the chats", ListDeletedChats: "list the deleted chats",
		ShowChat: "read the chat[ {1}]", ListBranches: "list the branches of chat {1}",
		ForkChat:     "fork chat {1}[ after message {2}]",
		ForkFrom:     "name the chat to fork",
		ForkInFolder: "fork the chat into another folder",
		RestoreChat:  "restore chat {1}",
		CompactChat:  "sum up all messages of chat {1}",
		ImportCopies: "import the chats as copies", SkipExisting: "import only the chats that are not here",
		ListFiles: "list the files of the workspace", ListSnapshots: "list the snapshots of chat {1}",
		ShowChanges: "compare the folder of chat {1} with its snapshots", ExportSnapshots: "write the snapshots of a chat to a file",
		UndoOverwriting: "undo the last step of chat {1}, with later changes of the same files", Redo: "redo in chat {1}",

		Ask: "ask a question", NewChat: "begin a new chat", AskModel: "ask the model {1}", OtherModel: "ask another model",
		UnlistedModel: "check the address of {1} in the configuration, or name the model as {1}/MODEL, which needs no list",
		CompactModel:  "let another model sum up: set compact.model",
		SimplerSchema: "ask another model, or use a simpler schema", Rephrase: "ask in other words, or ask another model",
		Wait:       "wait {1}, or ask another model; the setting fallback does so by itself",
		WaitLonger: "raise the settings limits.first_byte and limits.between_chunks", MoreTime: "allow the turn more time",
		MoreSteps: "allow the model {1} responses", Continue: "ask the model to continue",
		AllowTool:   "allow the tool {1}, and ask the model to continue",
		WriteRule:   "write a rule such as write_file(path=notes/**)",
		SelectTools: "select tools by their names or by patterns such as read_*",
		WriteSchema: `use a JSON Schema such as {"type":"object"}`, WithoutAgent: "continue the chat without its agent",
		ReplaceMessage: "name the message whose question is replaced", UseFolder: "name the folder by its absolute path",
		UseProject: "use the folder of a project", LeaveFolder: "leave the folder out, or begin a new chat with it",
		AttachFiles: "give the model long texts as files", DontKeep: "ask without keeping the chat",
		SendContext: `send a page and a context such as {"tab": "…"}`,

		ListModels: "list the models[ of {1}]", ShowModel: "look at the model {1}", PullModel: "pull the model {1}",
		StartOllama: "start Ollama[ and pull a model such as {1}]", RunDemo: "try the demo, which needs no model",
		AddKey: "set a key for {1}", SetVariable: "set the environment variable {1}", StoreKey: "store a key for {1}",
		ListKeys: "check which key was used", SetEmbedding: "set the setting embedding, as to ollama/nomic-embed-text",
		ShowLimits: "check the limits in the settings",

		ListTools: "list the tools", ShowTool: "look at the tool {1}", EnableTool: "enable the tool {1}",
		CallTool: "call {1} with a JSON object", TryTool: "call {1} by itself", ListToolsets: "list the toolsets",
		TrustToolset: "trust the toolset {1} again",
		ShowToolset:  "look at the toolset {1}", ImportToolset: "import the toolset again[ from {1}]",
		ListServers: "list the MCP servers", ShowServer: "look at the MCP server {1}",
		AddServer: "check the definition of the MCP server", DisableServer: "disable the MCP server {1}",
		TestServer: "test the MCP server {1}, and approve what changed",
		SignIn:     "sign in to the MCP server {1}", Diagnose: "let fettle check this machine",
		ListAgents: "list the agents", ShowAgent: "look at the agent {1}",

		ListDocuments: "list the documents", ListDeletedDocuments: "list the deleted documents",
		AddDocument: "add the document with a name", RenameDocument: "add the document with another name",
		RemoveDocument: "remove the document {1} first",
		ListPayloads:   "list the payloads of chat {1}", ShowPayload: "look at payload {1} of chat {2}",
		ListWorkflows: "list the workflows", ListInstances: "list the workflows that were started",
		ShowWorkflow: "look at the workflow {1}", StartWorkflow: "start the workflow {1}",
		ActOnWorkflow: "{2} the workflow {1}", CancelWorkflow: "cancel the workflow {1}",

		EditConfig:  "edit the configuration",
		InstallDemo: "run the demo, which installs its toolset",
		StopProcess: "end the process {1}",
		StoreStats:  "check what uses the space", VerifyStore: "verify the store",
		MoveData: "keep the data in another folder, by FETTLE_DATA", MakeBackup: "make a backup",
		ReplaceData: "let the backup replace the data", RestoreDamaged: "restore what is whole in the backup",
		TryBackup: "check whether another backup is whole",
	}
})
