package server

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/server/dialect"
)

func jsonBody() []string { return []string{"application/json"} }

// routes is the table of all operations: the mux and /openapi.json are made of
// it. Names are those of document 004, §7, where it has one.
func routes() []route {
	return slices.Concat(turnRoutes(), chatRoutes(), workspaceRoutes(), toolsetRoutes(), toolRoutes(), payloadRoutes(), documentRoutes(), workflowRoutes(), wireRoutes(), mcpRoutes(), serverRoutes(), compatRoutes(), opsRoutes(), pageRoutes(), ownerRoutes())
}

func turnRoutes() []route {
	const tag = "turns"
	after := []param{{"after", "the id of the last event that the client has, where it can't send Last-Event-ID", ""}}
	return []route{
		{
			op: "start_turn", method: http.MethodPost, path: "/api/turns", tag: tag, do: startTurn,
			summary: "Ask something; the answer's stream is at its own address",
			body:    turnBody{}, takes: jsonBody(), max: maxTurn, status: http.StatusAccepted, gives: turnJSON{},
		},
		{
			op: "stream", method: http.MethodPost, path: "/api/stream", tag: tag, do: streamTurn,
			summary: "Ask something, and follow the answer; the turn is cancelled when the client goes away, unless `detach` is set",
			body:    turnBody{}, takes: jsonBody(), max: maxTurn, gives: eventJSON{}, media: mediaSSE,
		},
		{
			op: "follow_turn", method: http.MethodGet, path: "/api/turns/{turn}/events", tag: tag, do: followTurn,
			summary: "Follow a turn, live or ended, after Last-Event-ID",
			query:   append(after, param{"form", "`events` gives the events just as the engine has them", ""}), gives: eventJSON{}, media: mediaSSE, maybe: []int{http.StatusNoContent}, hidden: true,
		},
		{
			op: "cancel_turn", method: http.MethodPost, path: "/api/turns/{turn}/cancel", tag: tag, do: cancelTurn,
			summary: "Stop a turn; a second time waits for no tool", status: http.StatusNoContent,
		},
		{
			op: "list_approvals", method: http.MethodGet, path: "/api/turns/{turn}/approvals", tag: tag, do: listApprovals,
			summary: "The calls of a turn that wait for an approval", gives: approvalsJSON{},
		},
		{
			op: "confirm_turn", method: http.MethodPost, path: "/api/turns/{turn}/confirm", tag: tag, do: confirmTurn,
			summary: "Allow or deny a call, once, with the nonce that it was shown with",
			body:    confirmBody{}, takes: jsonBody(), status: http.StatusNoContent,
		},
	}
}

func chatRoutes() []route {
	const tag = "chats"
	number := "integer"
	return []route{
		{
			op: "list_chats", method: http.MethodGet, path: "/api/chats", tag: tag, do: listChats, gives: chatsJSON{},
			summary: "Chats, the last used first",
			query: []param{
				{"limit", "how many; 50 unless it is given, 500 at most", number}, {"after", "the next of the page before", ""},
				{"model", "a part of the model's name", ""}, {"since", "used at or after this time", ""}, {"before", "used before this time", ""},
			},
		},
		{
			op: "create_chat", method: http.MethodPost, path: "/api/chats", tag: tag, do: createChat,
			summary: "Make a chat before anything is asked in it", body: titleBody{}, takes: jsonBody(), status: http.StatusCreated, gives: chatJSON{},
		},
		{
			op: "search_chats", method: http.MethodGet, path: "/api/search", tag: tag, do: searchChats, gives: foundJSON{},
			summary: "Chats in which words occur",
			query: []param{
				{"q", "words, \"phrases\", begin*, -without", ""}, {"limit", "how many; 50 unless it is given", number},
				{"after", "the next of the page before", number}, {"model", "a pattern of the model's name", ""},
			},
		},
		{op: "list_deleted_chats", method: http.MethodGet, path: "/api/deleted-chats", tag: tag, do: listDeleted, gives: chatsJSON{}, summary: "Chats that can be brought back"},
		{op: "get_chat", method: http.MethodGet, path: "/api/chats/{chat}", tag: tag, do: inChat(getChat), gives: chatJSON{}, summary: "A chat, by number or id, and the turn that runs in it"},
		{
			op: "list_messages", method: http.MethodGet, path: "/api/chats/{chat}/messages", tag: tag, do: inChat(listMessages), gives: messagesJSON{},
			summary: "The last messages of the active branch, oldest first",
			query: []param{
				{"limit", "how many; 100 unless it is given, 1000 at most", number}, {"before", "only those before this message", ""},
				{"leaf", "the branch that ends with this message", ""},
				{"tool_history", "`false` leaves the tool history out, which the parts have too", "boolean"},
			},
		},
		{
			op: "follow_chat", method: http.MethodGet, path: "/api/chats/{chat}/events", tag: tag, do: inChat(followChat),
			summary: "Follow the turn that runs in a chat; the ids of events name it, so that a client comes back to the same one",
			gives:   eventJSON{}, media: mediaSSE, maybe: []int{http.StatusNoContent}, hidden: true,
			query: []param{{"after", "the id of the last event that the client has, where it can't send Last-Event-ID", ""}},
		},
		{op: "rename_chat", method: http.MethodPatch, path: "/api/chats/{chat}", tag: tag, do: inChat(changeChat), body: changeChatBody{}, takes: jsonBody(), gives: chatJSON{}, summary: "Change a chat's title, or its mode of approvals"},
		{op: "delete_chat", method: http.MethodDelete, path: "/api/chats/{chat}", tag: tag, do: inChat(deleteChat), status: http.StatusNoContent, summary: "Delete a chat; it can be brought back for 30 days"},
		{op: "restore_chat", method: http.MethodPost, path: "/api/chats/{chat}/restore", tag: tag, do: inChat(restoreChat), gives: chatJSON{}, summary: "Bring a deleted chat back, by its number"},
		{op: "fork_chat", method: http.MethodPost, path: "/api/chats/{chat}/fork", tag: tag, do: inChat(forkChat), body: forkBody{}, takes: jsonBody(), status: http.StatusCreated, gives: chatJSON{}, summary: "Make a chat that begins with the messages of another"},
		{
			op: "edit_message", method: http.MethodPost, path: "/api/chats/{chat}/edit", tag: tag, do: editMessage,
			summary: "Ask a question in other words, as another branch", body: againBody{}, takes: jsonBody(), max: maxTurn, status: http.StatusAccepted, gives: turnJSON{},
		},
		{
			op: "retry_message", method: http.MethodPost, path: "/api/chats/{chat}/retry", tag: tag, do: retryMessage,
			summary: "Ask a question again, as another branch", body: againBody{}, takes: jsonBody(), status: http.StatusAccepted, gives: turnJSON{},
		},
		{op: "list_branches", method: http.MethodGet, path: "/api/chats/{chat}/branches", tag: tag, do: inChat(listBranches), gives: branchesJSON{}, summary: "The branches of a chat"},
		{op: "switch_branch", method: http.MethodPost, path: "/api/chats/{chat}/switch", tag: tag, do: inChat(switchBranch), body: switchBody{}, takes: jsonBody(), gives: restoredJSON{}, summary: "Go on in another branch, with its files"},
	}
}

func workspaceRoutes() []route {
	const tag = "workspace"
	state := []param{
		{"manifest", "a state: its id, @ for the active one, @-1 for the one before it", ""},
		{"message_id", "the state after this message", ""}, {"tool_call_id", "the state after this call", ""},
	}
	return []route{
		{op: "get_workspace_files", method: http.MethodGet, path: "/api/chats/{chat}/workspace/files", tag: tag, do: getWorkspaceFiles, query: state, gives: filesJSON{}, summary: "The files of a chat"},
		{
			op: "get_workspace_file", method: http.MethodGet, path: "/api/chats/{chat}/workspace/files/{path...}", tag: tag, do: getWorkspaceFile,
			summary: "The content of a file, or the part of it that Range asks for", query: state, media: anyType, slow: true, linked: true,
			maybe: []int{http.StatusPartialContent, http.StatusNotModified},
		},
		{
			op: "create_link", method: http.MethodPost, path: "/api/links", tag: tag, do: createLink, body: linkBody{}, takes: jsonBody(), status: http.StatusCreated, gives: linkJSON{},
			summary: "Make an address of one file that needs no token for 12 hours, or until the server ends: for players, which send no header",
		},
		{
			op: "put_workspace_file", method: http.MethodPut, path: "/api/chats/{chat}/workspace/files/{path...}", tag: tag, do: inChat(putWorkspaceFile),
			summary: "Write a file; undo takes it back. If-Match takes the ETag of what it replaces", takes: []string{anyType}, max: maxUpload, chunks: true, slow: true, gives: restoredJSON{},
		},
		{op: "delete_workspace_file", method: http.MethodDelete, path: "/api/chats/{chat}/workspace/files/{path...}", tag: tag, do: inChat(deleteWorkspaceFile), gives: restoredJSON{}, summary: "Remove a file, or a folder with all in it; undo takes it back"},
		{op: "move_workspace_file", method: http.MethodPost, path: "/api/chats/{chat}/workspace/move", tag: tag, do: inChat(moveWorkspaceFile), body: moveBody{}, takes: jsonBody(), gives: restoredJSON{}, summary: "Give a file or a folder another path, which nothing has; undo takes it back"},
		{op: "get_workspace_manifest", method: http.MethodGet, path: "/api/chats/{chat}/workspace/manifest", tag: tag, do: getWorkspaceManifest, query: state, gives: manifestJSON{}, summary: "A state as {path: sha256}"},
		{
			op: "list_workspace_states", method: http.MethodGet, path: "/api/chats/{chat}/workspace/states", tag: tag, do: inChat(listStates), gives: statesJSON{},
			summary: "The states of a chat's files, the latest first",
			query:   []param{{"limit", "how many; 100 unless it is given", "integer"}, {"changes", "tell what each changed of the one before it", "boolean"}, {"all", "those of all branches, not only of the way to the active one", "boolean"}},
		},
		{
			op: "diff_workspace", method: http.MethodGet, path: "/api/chats/{chat}/workspace/diff", tag: tag, do: diffWorkspace, gives: diffJSON{},
			summary: "What differs between two states", query: []param{{"from", "a state; the one before, unless it is given", ""}, {"to", "a state; the active one, unless it is given", ""}},
		},
		{op: "restore_workspace", method: http.MethodPost, path: "/api/chats/{chat}/workspace/restore", tag: tag, do: restoreWorkspace, body: restoreBody{}, takes: jsonBody(), gives: restoredJSON{}, summary: "Bring a state back"},
		{op: "undo_workspace", method: http.MethodPost, path: "/api/chats/{chat}/workspace/undo", tag: tag, do: undoWorkspace, body: restoreBody{}, takes: jsonBody(), gives: restoredJSON{}, summary: "Revert what the last steps, or one call, did to files"},
		{op: "redo_workspace", method: http.MethodPost, path: "/api/chats/{chat}/workspace/redo", tag: tag, do: redoWorkspace, body: restoreBody{}, takes: jsonBody(), gives: restoredJSON{}, summary: "Bring back what undo has taken away"},
		{op: "list_cut_calls", method: http.MethodGet, path: "/api/chats/{chat}/workspace/cut-calls", tag: tag, do: inChat(listCutCalls), gives: cutCallsJSON{}, summary: "The calls that were cut off before their changes were applied, in the chat or in its folder"},
		{op: "review_cut_call", method: http.MethodGet, path: "/api/chats/{chat}/workspace/cut-calls/{call}", tag: tag, do: inChat(reviewCutCall), gives: cutReviewJSON{}, summary: "The changes of a call that was cut off, as they would be applied"},
		{op: "apply_cut_call", method: http.MethodPost, path: "/api/chats/{chat}/workspace/cut-calls/{call}/apply", tag: tag, do: inChat(applyCutCall), gives: cutAppliedJSON{}, summary: "Apply the changes of a call that was cut off, as a step that undo reverts"},
		{op: "discard_cut_call", method: http.MethodDelete, path: "/api/chats/{chat}/workspace/cut-calls/{call}", tag: tag, do: inChat(discardCutCall), status: http.StatusNoContent, summary: "Discard the changes of a call that was cut off"},
	}
}

func toolsetRoutes() []route {
	const tag = "toolsets"
	bundles := []string{"application/zip", "application/gzip", "application/x-gzip", "application/x-tar", mediaForm}
	return []route{
		{op: "list_toolsets", method: http.MethodGet, path: "/api/toolsets", tag: tag, do: listToolsets, gives: toolsetsJSON{}, summary: "The installed toolsets"},
		{op: "get_toolset", method: http.MethodGet, path: "/api/toolsets/{toolset}", tag: tag, do: getToolset, gives: toolsetDetailJSON{}, summary: "A toolset with its tools"},
		{
			op: "import_toolset", method: http.MethodPost, path: "/api/toolsets", tag: tag, do: importToolset, slow: true,
			summary: "Look at a bundle; with `approve` install it", takes: bundles, max: maxBundle, gives: importJSON{},
			maybe: []int{http.StatusCreated}, query: []param{{"approve", "the `approve` of the answer without it, once a person has seen what the bundle wants", ""}, {"name", "the name of the bundle's file, which is kept as its source; a form contains the name", ""}},
		},
		{op: "list_gallery", method: http.MethodGet, path: "/api/gallery", tag: tag, do: listGallery, gives: galleryJSON{}, summary: "The toolsets that are part of the program"},
		{
			op: "import_gallery", method: http.MethodPost, path: "/api/gallery/{toolset}", tag: tag, do: importGallery, slow: true,
			summary: "Look at a toolset of the gallery; with `approve` install it", gives: importJSON{}, maybe: []int{http.StatusCreated},
			query: []param{{"approve", "the `approve` of the answer without it, once a person has seen what the toolset wants", ""}},
		},
		{op: "export_toolset", method: http.MethodGet, path: "/api/toolsets/{toolset}/export", tag: tag, do: exportToolset, media: "application/zip", slow: true, summary: "A toolset as a ZIP"},
		{op: "enable_toolset", method: http.MethodPost, path: "/api/toolsets/{toolset}/enable", tag: tag, do: enableToolset, body: enableBody{}, takes: jsonBody(), gives: enabledJSON{}, summary: "Switch a toolset on or off"},
		{op: "uninstall_toolset", method: http.MethodPost, path: "/api/toolsets/{toolset}/uninstall", tag: tag, do: uninstallToolset, gives: uninstalledJSON{}, summary: "Remove a toolset"},
	}
}

func toolRoutes() []route {
	return []route{
		{op: "list_tools", method: http.MethodGet, path: "/api/tools", tag: "tools", do: listTools, gives: toolsJSON{}, summary: "All tools: builtin, of toolsets, of MCP servers"},
		{op: "get_available_tools", method: http.MethodGet, path: "/api/available-tools", tag: "tools", do: getAvailableTools, gives: toolsJSON{}, summary: "The tools that a turn can be offered now"},
		{op: "get_tool", method: http.MethodGet, path: "/api/tools/{tool}", tag: "tools", do: getTool, gives: toolJSON{}, summary: "A tool, and how its calls are shown"},
		{op: "enable_tool", method: http.MethodPost, path: "/api/tools/{tool}/enable", tag: "tools", do: enableTool, body: enableBody{}, takes: jsonBody(), gives: enabledJSON{}, summary: "Switch a tool on or off"},
		{op: "get_tool_call", method: http.MethodGet, path: "/api/tool-calls/{call}", tag: "tools", do: getToolCall, gives: chat.CallView{}, summary: "A tool call that has ended, whole"},
		{op: "open_artifact", method: http.MethodPost, path: "/api/tool-calls/{call}/artifact", tag: "tools", do: openArtifact, slow: true, gives: artifactJSON{}, summary: "The page of a call at an address of its own, on another origin, for some minutes"},
		{op: "get_service", method: http.MethodGet, path: "/api/tool-calls/{call}/service", tag: "tools", do: getService, gives: serviceJSON{}, summary: "Whether the service of a call runs, and why it doesn't"},
		{op: "restart_service", method: http.MethodPost, path: "/api/tool-calls/{call}/service", tag: "tools", do: restartService, body: restartBody{}, takes: jsonBody(), gives: turnJSON{}, summary: "Make the call of a service anew, as a turn of the chat that asks for approvals as any"},
		{op: "stop_service", method: http.MethodDelete, path: "/api/tool-calls/{call}/service", tag: "tools", do: stopService, gives: serviceJSON{}, summary: "End the service of a call"},
		{op: "list_services", method: http.MethodGet, path: "/api/services", tag: "tools", do: listServices, query: []param{{"chat_id", "those of one chat", ""}}, gives: servicesJSON{}, summary: "The tools that live on after their calls"},
		{op: "call_app_tool", method: http.MethodPost, path: "/api/tool-calls/{call}/app/tools", tag: "tools", do: callAppTool, slow: true, body: appToolBody{}, takes: jsonBody(), gives: appToolJSON{}, summary: "Call a tool for the page that an MCP server has for a call; of that server alone"},
		{op: "read_app_resource", method: http.MethodPost, path: "/api/tool-calls/{call}/app/resources", tag: "tools", do: readAppResource, slow: true, body: appResourceBody{}, takes: jsonBody(), gives: json.RawMessage{}, summary: "Read a resource for the page that an MCP server has for a call; of that server alone"},
		{op: "get_render_document", method: http.MethodGet, path: "/api/tool-calls/{call}/render", tag: "tools", do: getRenderDocument, gives: renderJSON{}, summary: "How a call is shown; a page of its own, where it has one"},
		{
			op: "list_models", method: http.MethodGet, path: "/api/models", tag: "models", do: listModels, gives: modelsJSON{}, summary: "What each provider offers",
			query: []param{{"provider", "only this one; may be repeated", ""}, {"refresh", "ask all of them now", "boolean"}},
		},
		{op: "list_agents", method: http.MethodGet, path: "/api/agents", tag: "agents", do: listAgents, gives: agentsJSON{}, summary: "The agents that a turn can enter by"},
		{op: "get_agent", method: http.MethodGet, path: "/api/agents/{agent}", tag: "agents", do: getAgent, gives: store.Agent{}, summary: "An agent with its prompt"},
		{op: "update_agent", method: http.MethodPatch, path: "/api/agents/{agent}", tag: "agents", do: updateAgent, body: catalog.AgentFields{}, takes: jsonBody(), gives: store.Agent{}, summary: "Change fields of an agent that the user made; fields that are left out stay"},
		{op: "delete_agent", method: http.MethodDelete, path: "/api/agents/{agent}", tag: "agents", do: deleteAgent, status: http.StatusNoContent, summary: "Remove an agent that the user made"},
		{op: "export_agent", method: http.MethodGet, path: "/api/agents/{agent}/export", tag: "agents", do: exportAgent, media: "application/yaml", summary: "An agent as the text of a configuration that describes it"},
	}
}

func payloadRoutes() []route {
	const tag, path = "payloads", "/api/chats/{chat}/payloads"
	return []route{
		{op: "list_payloads", method: http.MethodGet, path: path, tag: tag, do: inChat(listPayloads), gives: payloadsJSON{}, summary: "The payloads that were shown in a chat, and what became of them"},
		{op: "get_payload", method: http.MethodGet, path: path + "/{payload}", tag: tag, do: getPayload, gives: payloadJSON{}, summary: "A payload, and how it is shown"},
		{op: "edit_payload", method: http.MethodPut, path: path + "/{payload}/text", tag: tag, do: editPayload, body: editBody{}, takes: jsonBody(), gives: editedJSON{}, summary: "Store the text that the user made of a payload's; the model gets it with the next question"},
		{op: "open_payload_artifact", method: http.MethodPost, path: path + "/{payload}/artifact", tag: tag, do: openPayloadArtifact, gives: artifactJSON{}, summary: "The page of a payload at an address of its own, as open_artifact has it"},
		{op: "accept_payload", method: http.MethodPost, path: path + "/{payload}/accept", tag: tag, do: acceptPayload, body: decisionBody{}, takes: jsonBody(), gives: decidedJSON{}, summary: "Accept a payload, once; a tool that its type names runs then"},
		{op: "reject_payload", method: http.MethodPost, path: path + "/{payload}/reject", tag: tag, do: rejectPayload, body: decisionBody{}, takes: jsonBody(), gives: decidedJSON{}, summary: "Reject a payload, once"},
	}
}

func documentRoutes() []route {
	const tag, path = "documents", "/api/documents"
	return []route{
		{
			op: "list_documents", method: http.MethodGet, path: path, tag: tag, do: listDocuments, gives: documentsJSON{},
			summary: "The stored documents", query: []param{{"deleted", "those that were removed and can be brought back", "boolean"}},
		},
		{
			op: "search_documents", method: http.MethodGet, path: "/api/search/documents", tag: tag, do: searchDocuments, slow: true, gives: passagesJSON{},
			summary: "Passages of documents, found by words, and by meaning if an embedding model is configured, the best first. The first search by meaning sends the text of the documents to the model's provider",
			query: []param{
				{"q", "words, \"phrases\", begin*, -without", ""}, {"limit", "how many; 10 unless it is given, 100 at most", "integer"},
				{"words", "`true` ranks by words alone, and sends nothing to a provider", "boolean"},
			},
		},
		{op: "get_document", method: http.MethodGet, path: path + "/{document}", tag: tag, do: getDocument, gives: store.Document{}, summary: "A document, by its id or name"},
		{op: "get_document_content", method: http.MethodGet, path: path + "/{document}/content", tag: tag, do: getDocumentContent, media: anyType, slow: true, summary: "What a document holds"},
		{
			op: "put_document", method: http.MethodPut, path: path + "/{document}", tag: tag, do: putDocument, takes: []string{anyType}, max: store.MaxDocumentSize,
			summary: "Store a text or an image under a name", status: http.StatusCreated, maybe: []int{http.StatusOK}, gives: store.AddedDocument{},
		},
		{op: "delete_document", method: http.MethodDelete, path: path + "/{document}", tag: tag, do: deleteDocument, status: http.StatusNoContent, summary: "Remove a document; it can be brought back for 30 days"},
		{op: "restore_document", method: http.MethodPost, path: path + "/{document}/restore", tag: tag, do: restoreDocument, gives: store.Document{}, summary: "Bring a removed document back"},
	}
}

func workflowRoutes() []route {
	const tag, path = "workflows", "/api/workflow-instances"
	return []route{
		{op: "list_workflows", method: http.MethodGet, path: "/api/workflows", tag: tag, do: listWorkflows, gives: workflowsJSON{}, summary: "The workflows that can be started"},
		{op: "get_workflow", method: http.MethodGet, path: "/api/workflows/{workflow}", tag: tag, do: getWorkflow, gives: store.Workflow{}, summary: "A workflow with its steps"},
		{op: "start_workflow", method: http.MethodPost, path: "/api/workflows/{workflow}/start", tag: tag, do: startWorkflow, body: workflowBody{}, takes: jsonBody(), status: http.StatusAccepted, gives: instanceJSON{}, summary: "Start a workflow; its turn is followed like any other"},
		{op: "list_workflow_instances", method: http.MethodGet, path: path, tag: tag, do: listInstances, gives: instancesJSON{}, summary: "The workflows that were started, the last one first"},
		{op: "get_workflow_instance", method: http.MethodGet, path: path + "/{instance}", tag: tag, do: getInstance, gives: store.WorkflowInstance{}, summary: "How far a workflow is"},
		{op: "act_workflow", method: http.MethodPost, path: path + "/{instance}/act", tag: tag, do: actWorkflow, body: actBody{}, takes: jsonBody(), status: http.StatusAccepted, gives: instanceJSON{}, summary: "Go on with a workflow that waits, or do the step again that failed"},
		{op: "cancel_workflow", method: http.MethodPost, path: path + "/{instance}/cancel", tag: tag, do: cancelWorkflow, gives: store.WorkflowInstance{}, summary: "End a workflow for good"},
	}
}

// wireRoutes are those that speak another program's dialect.
func wireRoutes() []route {
	const tag = "dialects"
	return []route{
		{
			op: "chat", method: http.MethodPost, path: "/chat", tag: tag, do: chatAgents, speaks: dialect.Agents, trusted: true,
			summary: "A message of a session, answered as a stream (document 003)", body: agentsBody{}, takes: jsonBody(), max: maxTurn, media: mediaSSE,
		},
		{
			op: "aisdk_chat", method: http.MethodPost, path: "/aisdk", tag: tag, do: chatAISDK, speaks: dialect.AISDK,
			summary: "The last message of a conversation, answered as a UI message stream of the AI SDK", body: aisdkBody{}, takes: jsonBody(), max: maxTurn, media: mediaSSE,
		},
		{
			op: "aisdk_resume", method: http.MethodGet, path: "/aisdk/{thread}/stream", tag: tag, do: resumeAISDK, speaks: dialect.AISDK,
			summary: "Follow the turn that runs in a conversation, from its beginning", media: mediaSSE, maybe: []int{http.StatusNoContent},
		},
		{
			op: "agui_run", method: http.MethodPost, path: "/agui", tag: tag, do: chatAGUI, speaks: dialect.AGUI,
			summary: "A run of AG-UI: the last message of a thread, answered as its events", body: aguiBody{}, takes: jsonBody(), max: maxTurn, media: mediaSSE,
		},
	}
}

func opsRoutes() []route {
	const tag = "operation"
	return []route{
		{op: "open_page", method: http.MethodPost, path: "/api/open", tag: tag, do: openPage, public: true, body: openBody{}, takes: jsonBody(), gives: tokenJSON{}, summary: "The token for a code that fettle serve --open has given a browser; once"},
		{op: "get_health", method: http.MethodGet, path: "/healthz", tag: tag, do: getHealth, public: true, gives: healthJSON{}, summary: "Whether the process answers"},
		{op: "get_ready", method: http.MethodGet, path: "/readyz", tag: tag, do: getReady, public: true, gives: readyJSON{}, maybe: []int{http.StatusServiceUnavailable}, summary: "Whether turns can begin"},
		{op: "get_metrics", method: http.MethodGet, path: "/metrics", tag: tag, do: getMetrics, media: "text/plain", summary: "Counters in Prometheus' text format"},
		{op: "get_openapi", method: http.MethodGet, path: "/openapi.json", tag: tag, do: getOpenAPI, media: "application/json", summary: "This description"},
	}
}
