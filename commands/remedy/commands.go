package remedy

import (
	"sync"

	"github.com/fettle-cli/fettle/engine/fault"
)

// commands are the kinds as templates of [fault.Fill]. Advice and Command are texts of their own.
var commands = sync.OnceValue(func() map[fault.Kind]string {
	return map[fault.Kind]string{
		fault.ListChats: "fettle chats list", fault.ListDeletedChats: "fettle chats list --deleted",
		fault.ShowChat: "fettle chats show[ {1}]", fault.ListBranches: "fettle chats branches {1}",
		fault.ForkChat: "fettle chats fork {1}[ --at {2}]", fault.ForkFrom: "fettle ask -c --fork …",
		fault.ForkInFolder: "fettle ask -c --fork -w DIR …", fault.RestoreChat: "fettle chats restore {1}",
		fault.CompactChat:  "fettle chats compact {1} --keep 0",
		fault.ImportCopies: "fettle chats import --copy FILE…", fault.SkipExisting: "fettle chats import --skip FILE…",
		fault.ListFiles: "fettle workspace files", fault.ListSnapshots: "fettle workspace log {1}",
		fault.ShowChanges: "fettle workspace diff {1}", fault.ExportSnapshots: "fettle workspace export 1 history.tar.gz",
		fault.UndoOverwriting: "fettle undo --chat {1} --overwrite", fault.Redo: "fettle redo --chat {1}",

		fault.Ask: `fettle ask "why is the sky blue?"`, fault.NewChat: "fettle ask …",
		fault.AskModel: "fettle ask -m {1} …", fault.OtherModel: "fettle ask -c -m MODEL …",
		fault.UnlistedModel: "check the address in the configuration; fettle ask -m {1}/MODEL … needs no list",
		fault.CompactModel:  "FETTLE_COMPACT_MODEL=MODEL fettle ask …",
		fault.SimplerSchema: "another model with -m, or a simpler schema",
		fault.Rephrase:      `fettle ask -c "…"   with another hint, or another model with -m`,
		fault.Wait:          "wait {1}, or ask another model with -m; the setting fallback does so by itself",
		fault.WaitLonger:    "FETTLE_LIMITS_FIRST_BYTE=30m FETTLE_LIMITS_BETWEEN_CHUNKS=10m fettle ask …",
		fault.MoreTime:      "--timeout 10m gives it longer", fault.MoreSteps: `fettle ask -c --max-steps {1} "go on"`,
		fault.Continue: `fettle ask -c "go on"`, fault.AllowTool: `fettle ask -c --allow {1} "go on"`,
		fault.WriteRule:   "fettle ask --allow 'write_file(path=notes/**)' …",
		fault.SelectTools: "fettle ask --tool 'read_*' …", fault.WriteSchema: `fettle ask --schema '{"type":"object"}' …`,
		fault.WithoutAgent: "fettle ask -c --agent none …", fault.ReplaceMessage: "fettle ask -c --at 3 …",
		fault.UseFolder: "fettle ask -w DIR …", fault.UseProject: "fettle ask -w DIR …, with a folder of a project",
		fault.LeaveFolder: "leave -w out, or begin a new chat with it",
		fault.AttachFiles: "give the model long texts as files: fettle ask -f FILE …",
		fault.DontKeep:    "fettle ask --ephemeral …", fault.SendContext: `fettle ask --page PAGE --context '{"tab": "…"}' …`,

		fault.ListModels: "fettle models list[ --provider {1}]", fault.ShowModel: "fettle models show {1}",
		fault.PullModel: "fettle models pull {1}", fault.StartOllama: "ollama serve[, then: fettle models pull {1}]",
		fault.RunDemo: "fettle demo            a recorded model, nothing to set up", fault.InstallDemo: "fettle demo",
		fault.AddKey:      "export {2}=…   or: fettle keys set {1}",
		fault.SetVariable: "export {1}=…", fault.StoreKey: "fettle keys set {1}", fault.ListKeys: "fettle keys list",
		fault.SetEmbedding: "fettle config set embedding ollama/nomic-embed-text", fault.ShowLimits: "fettle config show limits",

		fault.ListTools: "fettle tool list", fault.ShowTool: "fettle tool show {1}", fault.EnableTool: "fettle tool enable {1}",
		fault.CallTool: "fettle tool call {1} '{…}'", fault.TryTool: "fettle tool call {1} …",
		fault.ListToolsets: "fettle toolset list", fault.ShowToolset: "fettle toolset show {1}",
		fault.ImportToolset: "fettle toolset import {1|FILE}",
		fault.ListServers:   "fettle mcp list", fault.ShowServer: "fettle mcp show {1}", fault.AddServer: "fettle mcp add --help",
		fault.DisableServer: "fettle mcp disable {1}", fault.TestServer: "fettle mcp test {1}", fault.TrustToolset: "fettle toolset trust {1}",
		fault.SignIn: "fettle mcp login {1}", fault.Diagnose: "fettle doctor",
		fault.ListAgents: "fettle agents list", fault.ShowAgent: "fettle agents show {1}",

		fault.ListDocuments: "fettle docs list", fault.ListDeletedDocuments: "fettle docs list --deleted",
		fault.AddDocument: "fettle docs add --name NAME FILE", fault.RenameDocument: "fettle docs add --name OTHER FILE",
		fault.RemoveDocument: "fettle docs rm {1}", fault.ListPayloads: "fettle payloads list --chat {1}",
		fault.ShowPayload:   "fettle payloads show {1} --chat {2}",
		fault.ListWorkflows: "fettle workflows list", fault.ListInstances: "fettle workflows list --instances",
		fault.ShowWorkflow: "fettle workflows show {1}", fault.StartWorkflow: "fettle workflows start {1} '{…}'",
		fault.ActOnWorkflow: "fettle workflows act {1} {2}", fault.CancelWorkflow: "fettle workflows cancel {1}",

		fault.StoreStats: "fettle store stats", fault.VerifyStore: "fettle store verify",
		fault.MoveData: "export FETTLE_DATA=DIR", fault.MakeBackup: "fettle store backup FILE",
		fault.ReplaceData: "fettle store restore --replace FILE", fault.RestoreDamaged: "fettle store restore --damaged FILE",
		fault.TryBackup:   "another backup may be whole: fettle store restore --dry-run FILE",
		fault.StopProcess: "kill {1}", fault.EditConfig: "fettle config edit",
	}
})
