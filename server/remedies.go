package server

import (
	"net/url"
	"sync"

	"github.com/fettle-cli/fettle/engine/fault"
)

// hintLines returns remedies in the terms of this API: what to do and, where there is one,
// the operation or the field for it.
func hintLines(all []fault.Remedy) []string {
	var out []string
	for _, r := range all {
		if r.Kind == fault.Command {
			continue
		}
		line := r.Text
		if at := operations()[r.Kind]; at != "" {
			line += ": " + fault.Fill(at, r.Args, url.PathEscape)
		}
		out = append(out, line)
	}
	return out
}

// CleanRemedies returns remedies that another process has sent, with texts that can be shown.
func CleanRemedies(all []fault.Remedy) []fault.Remedy {
	out := make([]fault.Remedy, len(all))
	for i, r := range all {
		out[i] = fault.Remedy{Kind: r.Kind, Effect: clean(r.Effect), Text: clean(r.Text)}
		for _, arg := range r.Args {
			out[i].Args = append(out[i].Args, clean(arg))
		}
	}
	return out
}

// operations are the routes of kinds, or the fields of a request with a method and a path
// where the kind is about one, as templates of [fault.Fill]. Other kinds have an operation
// of the command line alone, or none.
var operations = sync.OnceValue(func() map[fault.Kind]string {
	return map[fault.Kind]string{
		fault.ListChats: "GET /api/chats", fault.ListDeletedChats: "GET /api/deleted-chats",
		fault.ShowChat: "GET /api/chats/{1|CHAT}/messages", fault.ListBranches: "GET /api/chats/{1}/branches",
		fault.ForkChat: "POST /api/chats/{1}/fork", fault.RestoreChat: "POST /api/chats/{1}/restore",
		fault.ListFiles: "GET /api/chats/CHAT/workspace/files", fault.ListSnapshots: "GET /api/chats/{1}/workspace/states",
		fault.ShowChanges:     "GET /api/chats/{1}/workspace/diff",
		fault.UndoOverwriting: "POST /api/chats/{1}/workspace/undo", fault.Redo: "POST /api/chats/{1}/workspace/redo",

		fault.Ask: "the field message of POST /api/turns", fault.NewChat: "POST /api/turns without a chat",
		fault.AskModel: "the field model of POST /api/turns", fault.OtherModel: "the field model of POST /api/turns",
		fault.SimplerSchema: "the fields model and schema of POST /api/turns", fault.Continue: "POST /api/turns in the same chat",
		fault.AllowTool: "the field allow of POST /api/turns", fault.WriteRule: "the field allow of POST /api/turns",
		fault.SelectTools: "the field tools of POST /api/turns", fault.WriteSchema: "the field schema of POST /api/turns",
		fault.WithoutAgent: "the field agent of POST /api/turns, none", fault.DontKeep: "the field ephemeral of POST /api/turns",
		fault.ForkFrom: "the fields conversation_id and fork of POST /api/turns", fault.ReplaceMessage: "POST /api/chats/CHAT/edit",
		fault.AttachFiles: "the field files of POST /api/turns", fault.SendContext: "the fields page and context of POST /api/turns",

		fault.ListModels: "GET /api/models",
		fault.ListTools:  "GET /api/tools", fault.ShowTool: "GET /api/tools/{1}", fault.EnableTool: "POST /api/tools/{1}/enable",
		fault.ListToolsets: "GET /api/toolsets", fault.ShowToolset: "GET /api/toolsets/{1}",
		fault.ListAgents: "GET /api/agents", fault.ShowAgent: "GET /api/agents/{1}",
		fault.ListWorkflows: "GET /api/workflows", fault.ShowWorkflow: "GET /api/workflows/{1}",
		fault.StartWorkflow: "POST /api/workflows/{1}/start",
	}
})
