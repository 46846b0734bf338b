package config

import (
	"slices"
	"strings"
	"sync"
	"time"
)

// Setting is one row of the table of settings: those that have one value or
// one list. The maps are described by [Maps].
type Setting struct {
	Key     string // as in the file, with a dot between section and name
	Type    string
	Default string // as it would be written; "" where there is none
	Meaning string
	Env     []string // the variables that set it, strongest first
	Flag    string   // the flag of `ask` that sets it; "" where there is none
	// Formerly is the key that it had in earlier versions, which files may still have, as
	// the environment may have the variable of that key; "" where it had none.
	Formerly string
	Project  bool // whether a project's file may set it
	Trust    bool // whether it may once the user trusts the file
}

// setting is a row with what reading it needs.
type setting struct {
	Setting
	kind kind
	adds bool // a list whose sources add up
	// refused is why a project can't set it.
	refused string
	// grants is what it lets a trusted project do.
	grants string
}

// The bounds of the settings. They keep slips (a zero too many) from turning
// into a machine without memory or a command that never ends.
const (
	maxContext  = 1 << 24 // tokens; the longest known contexts are 10 million
	maxSteps    = 10_000
	maxRetries  = 20
	maxTimeout  = 7 * 24 * time.Hour
	maxSilence  = 24 * time.Hour
	maxRunning  = 10 * time.Minute // run_command's own bound
	maxInput    = 1 << 30
	maxStore    = 1 << 50 // a petabyte
	minSilence  = time.Second
	defaultHost = "127.0.0.1:" + ollamaPort
)

// refusedCalls is why a project can't say which calls run without an approval.
const refusedCalls = "whoever wrote the project would decide what runs on your machine"

// refusedCommands is why a project can't say what commands may reach.
const refusedCommands = "whoever wrote the project would decide what a command can reach"

// refusedStore is why a project can't set what the store may take.
const refusedStore = "it is about your disk"

// refusedSearch is why a project can't choose who is searched.
const refusedSearch = "it decides where your questions go"

// table is built on first use; it never changes.
var table = sync.OnceValue(func() []setting {
	return []setting{
		{Setting: Setting{Key: "model", Flag: "--model", Project: true, Env: []string{"FETTLE_MODEL"},
			Meaning: "the model to ask"}, kind: modelKind()},
		{Setting: Setting{Key: "fallback", Project: true, Env: []string{"FETTLE_FALLBACK"},
			Meaning: "models to try, in order, when the first one stays out of reach"}, kind: modelsKind()},
		{Setting: Setting{Key: "system", Flag: "--system", Trust: true, Env: []string{"FETTLE_SYSTEM"},
			Meaning: "what every model is told first"}, kind: textKind(),
			refused: "it would tell your models what to do", grants: grantsSystem},
		{Setting: Setting{Key: "agent", Flag: "--agent", Trust: true, Env: []string{"FETTLE_AGENT"},
			Meaning: "the agent that new chats begin with; none begins them without one, even if a toolset has an entry agent"}, kind: agentIDKind(),
			refused: "it would choose who answers you", grants: grantsAgent},
		{Setting: Setting{Key: "embedding", Env: []string{"FETTLE_EMBEDDING"},
			Meaning: "the model that turns texts into vectors, for fettle embed and docs search"}, kind: modelKind(),
			refused: "it would decide where your documents go"},
		{Setting: Setting{Key: "profile", Flag: "--profile", Trust: true, Env: []string{"FETTLE_PROFILE"},
			Meaning: "the profile that overlays the rest of the files"},
			kind: profileKind(), refused: "it would choose among your own profiles", grants: grantsProfile},
		{Setting: Setting{Key: "color", Default: "auto", Flag: "--color", Env: []string{"FETTLE_COLOR"},
			Meaning: "colour and Markdown on the terminal; auto is never with NO_COLOR"},
			kind: choiceKind("auto", "always", "never"), refused: "it is about your terminal"},
		{Setting: Setting{Key: "ollama.host", Default: defaultHost, Env: []string{"FETTLE_OLLAMA_HOST", "OLLAMA_HOST"},
			Meaning: "where Ollama listens", Trust: true},
			kind: hostKind(), refused: "it decides where your data goes", grants: grantsSending},
		{Setting: Setting{Key: "ollama.num_ctx", Default: "0", Project: true,
			Env:     []string{"FETTLE_OLLAMA_NUM_CTX", "OLLAMA_CONTEXT_LENGTH"},
			Meaning: "the context length to load Ollama's models with, in tokens; 0: what the conversation needs"},
			kind: countKind(0, maxContext, " of tokens")},
		{Setting: Setting{Key: "ollama.max_num_ctx", Default: "0", Project: true, Env: []string{"FETTLE_OLLAMA_MAX_NUM_CTX"},
			Meaning: "the longest context to load, in tokens; 0: the model's own length"},
			kind: countKind(0, maxContext, " of tokens")},
		{Setting: Setting{Key: "tools", Default: "on", Project: true, Flag: "--no-tools, --tool", Env: []string{"FETTLE_TOOLS"},
			Meaning: "which tools a model is offered; a project can only narrow it"}, kind: toolsKind()},
		{Setting: Setting{Key: "allow", Flag: "--allow", Trust: true,
			Meaning: "tool calls to run without asking; sources add up"}, kind: rulesKind(), adds: true,
			refused: refusedCalls, grants: grantsCalls},
		{Setting: Setting{Key: "approvals", Default: "calls", Flag: "--approvals", Trust: true, Env: []string{"FETTLE_APPROVALS"},
			Meaning: "which calls need an approval where no rule decides: calls asks before a call, changes runs contained calls first and asks about their changes, " +
				"edits lets the builtin tools change files, ask-all asks about every call; a chat can have its own"},
			kind: choiceKind("calls", "changes", "edits", "ask-all"), refused: refusedCalls, grants: grantsCalls},
		{Setting: Setting{Key: "deny", Project: true,
			Meaning: "tool calls never to run; sources add up"}, kind: rulesKind(), adds: true},
		{Setting: Setting{Key: "ask", Project: true,
			Meaning: "tool calls to ask about; sources add up"}, kind: rulesKind(), adds: true},
		{Setting: Setting{Key: "workspace.content", Default: "yours", Env: []string{"FETTLE_WORKSPACE_CONTENT"},
			Meaning: "how files in your own folders count once a tool has read them: as yours, or as content from outside, after which remembered approvals no longer allow calls that reach out"},
			kind: choiceKind("yours", "outside"), refused: "the project would decide how far its own files are trusted"},
		{Setting: Setting{Key: "run_command.sandbox", Default: "reduced", Env: []string{"FETTLE_RUN_COMMAND_SANDBOX"},
			Meaning: "the least containment to run commands in; with none a command can do all that you can"},
			kind: choiceKind("full", "reduced", "none"), refused: refusedCommands},
		{Setting: Setting{Key: "run_command.network", Default: "none", Env: []string{"FETTLE_RUN_COMMAND_NETWORK"},
			Meaning: "the network that commands get: none, all, or a list of hosts"},
			kind: networkKind(), refused: refusedCommands},
		{Setting: Setting{Key: "run_command.env", Env: []string{"FETTLE_RUN_COMMAND_ENV"},
			Meaning: "names of variables of yours that commands get"}, kind: namesKind(), refused: refusedCommands},
		{Setting: Setting{Key: "run_command.readable", Env: []string{"FETTLE_RUN_COMMAND_READABLE"},
			Meaning: "folders and files that commands may read beside the workspace and the system's programs"},
			kind: pathsKind(), refused: refusedCommands},
		{Setting: Setting{Key: "run_command.git", Default: "read", Env: []string{"FETTLE_RUN_COMMAND_GIT"},
			Meaning: "what commands may do to the .git of your folder; undo brings nothing back there"},
			kind: choiceKind("read", "write"), refused: refusedCommands},
		{Setting: Setting{Key: "run_command.timeout", Default: "2m", Project: true, Env: []string{"FETTLE_RUN_COMMAND_TIMEOUT"},
			Meaning: "how long a command may take that names no time"}, kind: durationKind(time.Second, maxRunning)},
		{Setting: Setting{Key: "search.provider", Default: "searxng", Env: []string{"FETTLE_SEARCH_PROVIDER"},
			Meaning: "what web_search asks: a SearXNG, or a service that answers as Brave's does"},
			kind: choiceKind("searxng", "brave"), refused: refusedSearch},
		{Setting: Setting{Key: "search.address", Env: []string{"FETTLE_SEARCH_ADDRESS"},
			Meaning: "where it listens; Brave's own where it is left out"},
			kind: baseURLKind(), refused: refusedSearch},
		{Setting: Setting{Key: "limits.max_steps", Formerly: "limits.max_turns", Default: "50", Flag: "--max-steps", Project: true,
			Env:     []string{"FETTLE_LIMITS_MAX_STEPS"},
			Meaning: "how often a model may answer with tool calls before a question ends"},
			kind: countKind(1, maxSteps, "")},
		{Setting: Setting{Key: "limits.max_handoffs", Default: "16", Project: true, Env: []string{"FETTLE_LIMITS_MAX_HANDOFFS"},
			Meaning: "how often agents may hand over to each other before a question ends"},
			kind: countKind(1, maxSteps, "")},
		{Setting: Setting{Key: "limits.max_repeats", Default: "5", Project: true, Env: []string{"FETTLE_LIMITS_MAX_REPEATS"},
			Meaning: "how often a model may make the same call with the same result in a row before a question ends"},
			kind: countKind(2, maxSteps, "")},
		{Setting: Setting{Key: "limits.max_failures", Default: "12", Project: true, Env: []string{"FETTLE_LIMITS_MAX_FAILURES"},
			Meaning: "how many calls in a row may fail before a question ends"},
			kind: countKind(1, maxSteps, "")},
		{Setting: Setting{Key: "limits.timeout", Default: "0s", Flag: "--timeout", Project: true,
			Env:     []string{"FETTLE_LIMITS_TIMEOUT"},
			Meaning: "how long a question may take in all; 0s: as long as it takes"}, kind: durationKind(0, maxTimeout)},
		{Setting: Setting{Key: "limits.first_byte", Default: "10m", Project: true, Env: []string{"FETTLE_LIMITS_FIRST_BYTE"},
			Meaning: "how long to wait for the first byte of an answer"}, kind: durationKind(minSilence, maxSilence)},
		{Setting: Setting{Key: "limits.between_chunks", Default: "120s", Project: true,
			Env:     []string{"FETTLE_LIMITS_BETWEEN_CHUNKS"},
			Meaning: "how long to wait for the next piece of an answer"}, kind: durationKind(minSilence, maxSilence)},
		{Setting: Setting{Key: "limits.stdin_bytes", Default: "16MiB", Project: true, Env: []string{"FETTLE_LIMITS_STDIN_BYTES"},
			Meaning: "the most that is read from standard input"}, kind: sizeKind(1, maxInput)},
		{Setting: Setting{Key: "limits.file_bytes", Default: "16MiB", Project: true, Env: []string{"FETTLE_LIMITS_FILE_BYTES"},
			Meaning: "the most that one --file may hold"}, kind: sizeKind(1, maxInput)},
		{Setting: Setting{Key: "limits.kept_file", Default: "256MiB", Env: []string{"FETTLE_LIMITS_KEPT_FILE"},
			Meaning: "the largest file that undo can bring back"},
			kind: sizeKind(1, maxStore), refused: refusedStore},
		{Setting: Setting{Key: "limits.chat_files", Default: "8GiB", Env: []string{"FETTLE_LIMITS_CHAT_FILES"},
			Meaning: "what the states of one chat's files may add to the store; 0B: no bound"},
			kind: sizeKind(0, maxStore), refused: refusedStore},
		{Setting: Setting{Key: "limits.all_files", Default: "32GiB", Env: []string{"FETTLE_LIMITS_ALL_FILES"},
			Meaning: "what the states of all chats' files may add to the store; 0B: no bound"},
			kind: sizeKind(0, maxStore), refused: refusedStore},
		{Setting: Setting{Key: "compact.auto", Default: "on", Project: true, Env: []string{"FETTLE_COMPACT_AUTO"},
			Meaning: "make a conversation fit the model's context: old outputs of tools are left out, then old messages are summed up; the chat keeps them all"},
			kind: choiceKind("on", "off")},
		{Setting: Setting{Key: "compact.percent", Default: "100", Project: true, Env: []string{"FETTLE_COMPACT_PERCENT"},
			Meaning: "how much of the context a question with its answer may take before that"},
			kind: countKind(10, 100, " of percent")},
		{Setting: Setting{Key: "compact.model", Project: true, Env: []string{"FETTLE_COMPACT_MODEL"},
			Meaning: "the model that sums up; without it the one that is asked"}, kind: modelKind()},
		{Setting: Setting{Key: "retries", Default: "3", Project: true, Env: []string{"FETTLE_RETRIES"},
			Meaning: "how often a request that may succeed later is repeated"}, kind: countKind(0, maxRetries, "")},
		{Setting: Setting{Key: "python", Env: []string{"FETTLE_PYTHON"},
			Meaning: "the interpreter of Python tools; without it python3 on the PATH"},
			kind: textKind(), refused: "it decides what runs on your machine"},
		{Setting: Setting{Key: "require_sandbox", Default: "off", Flag: "--require-sandbox", Env: []string{"FETTLE_REQUIRE_SANDBOX"},
			Meaning: "run tools of toolsets only where they can be contained in full"},
			kind: choiceKind("off", "on"), refused: "it decides what runs on your machine"},
		{Setting: Setting{Key: "server", Flag: "--server", Env: []string{"FETTLE_SERVER"},
			Meaning: "the address of a fettle serve that ask asks instead, by that one's configuration; FETTLE_TOKEN or --token-file has its token"},
			kind: baseURLKind(), refused: "it decides where your questions go"},
	}
})

// current returns the key of the setting that had the key before.
func current(former string) (key string, ok bool) {
	for _, s := range table() {
		if s.Formerly != "" && s.Formerly == former {
			return s.Key, true
		}
	}
	return "", false
}

// variables are the variables that set it, strongest first. The last may be that of its
// former key.
func (s setting) variables() []string {
	if s.Formerly == "" {
		return s.Env
	}
	return append(slices.Clone(s.Env), "FETTLE_"+strings.ToUpper(strings.ReplaceAll(s.Formerly, ".", "_")))
}

// Settings is the table of settings, in the order to show them: what the
// documentation, `help environment` and the defaults come from.
func Settings() []Setting {
	rows := table()
	out := make([]Setting, len(rows))
	for i, r := range rows {
		out[i] = r.Setting
		out[i].Type = r.kind.name
		out[i].Env = append([]string(nil), r.Env...)
	}
	return out
}

// MapField is a field of an entry of one of the maps.
type MapField struct{ Key, Type, Meaning string }

// Maps describes the settings that are maps: providers, models, agents and
// prices.
func Maps() []MapField {
	return []MapField{
		{"providers.<name>.type", TypeOpenAI + " | " + TypeAnthropic + " | " + TypeMistral, "the protocol: " + TypeOpenAI + " (where it is left out), " + TypeAnthropic + " or " + TypeMistral},
		{"providers.<name>.api", APIResponses + " | " + APIChat, "the API of the type " + TypeOpenAI + "; where it is left out, it follows from address and model"},
		{"providers.<name>.base_url", "address", "where the server listens, such as http://127.0.0.1:8000/v1"},
		{"providers.<name>.key_env", "text", "the variable that holds the key"},
		{"providers.<name>.key", "text", "the key, or ! and a command that prints it, where the variable isn't set; without either, what fettle keys has"},
		{"providers.<name>.agents", AgentsOwn + " | " + AgentsNative, "who keeps agents that hand over to each other: fettle, or with " + TypeMistral + " the provider, which keeps their conversations too"},
		{"providers.<name>.headers.<header>", "text", "a header to send with each request"},
		{"providers.<name>.query.<name>", "text", "a parameter for the address of each request, such as api-version"},
		{"providers.<name>.body.<field>", "JSON", "a field for the JSON of each question; \"null\" leaves one out"},
		{"providers.<name>.models.<model>", "map", "by model name, the fields of models below"},
		{"models.<provider/model>.context_length", "number", "the model's context length in tokens"},
		{"models.<provider/model>.tools", "true | false", "whether the model can call tools"},
		{"models.<provider/model>.images", "true | false", "whether the model takes images"},
		{"models.<provider/model>.thinking", "true | false", "whether the model can think first"},
		{"models.<provider/model>.schema", "true | false", "whether the model can answer by a JSON Schema"},
		{"models.<provider/model>.alias", "text", "a short name by which -m finds the model"},
		{"models.<provider/model>.effort", "none | minimal | low | medium | high | xhigh | max", "how much the model reasons where a question doesn't say"},
		{"models.<provider/model>.temperature", "number", "the temperature where a question doesn't say, from 0 to 2"},
		{"models.<provider/model>.max_tokens", "number", "the longest answer in tokens where a question doesn't say"},
		{"agents.<id>.purpose", "text", "what it is for, which other agents are told"},
		{"agents.<id>.prompt", "text", "its system prompt"},
		{"agents.<id>.name", "text", "its name for people"},
		{"agents.<id>.model", "model", "the model it asks; the question's where it is left out"},
		{"agents.<id>.tools", "list of globs", "the tools that it is offered; none where it is left out"},
		{"agents.<id>.handoffs", "list of agents", "the agents that it can hand over to; those of toolsets as toolset:id"},
		{"agents.<id>.history", "full | turn", "what it sees: the conversation, or the question alone"},
		{"agents.<id>.answers", "true | false", "whether its words are part of the answer; left out, those of the entry agent and of agents without handoffs are"},
		{"agents.<id>.entry", "true | false", "whether a new chat begins with it"},
		{"prices.<provider/model>.input", "amount", "what a million input tokens cost"},
		{"prices.<provider/model>.output", "amount", "what a million output tokens cost"},
		{"prices.<provider/model>.cached", "amount", "what a million cached input tokens cost; input where it is left out"},
		{"prices.<provider/model>.cache_write", "amount", "what a million input tokens cost that the provider keeps for later; the cost leaves them out where there is none"},
		{"prices.<provider/model>.currency", "currency", "in which currency; USD where it is left out"},
	}
}

// Variable is an environment variable that fettle reads.
type Variable struct{ Name, Meaning string }

// Variables lists the environment: the variables of the settings first, in
// the table's order, then the others.
func Variables() []Variable {
	var out []Variable
	for _, s := range table() {
		for _, name := range s.Env {
			out = append(out, Variable{name, s.Key + ": " + s.Meaning})
		}
	}
	for _, b := range builtins() {
		out = append(out, Variable{b.keyEnv, "providers." + b.name + ".key: the key of the provider " + b.name})
		if b.urlEnv != "" {
			out = append(out, Variable{b.urlEnv, "providers." + b.name + ".base_url: where the provider " + b.name + " listens"})
		}
	}
	return append(out,
		Variable{ollamaKeyEnv, "the key for an Ollama that wants one"},
		Variable{searchKeyEnv, "the key for web_search's service"},
		Variable{"FETTLE_TOKEN", "the token of the server that --server or the setting server names"},
		Variable{"VISUAL, EDITOR", "what opens a file to edit, the first that is set (default vi, on Windows notepad)"},
		Variable{"FETTLE_KEYRING", "off: keys are not kept in the system's keyring, nor looked for there"},
		Variable{"NO_COLOR", "if it isn't empty, color: auto means never"},
		Variable{"FETTLE_CONFIG", "the folder of config.yaml, or the file itself if it ends in .yaml"},
		Variable{"FETTLE_DATA", "the folder of chats and workspaces"},
		Variable{"XDG_CONFIG_HOME, XDG_DATA_HOME, XDG_STATE_HOME, XDG_CACHE_HOME, XDG_RUNTIME_DIR",
			"the base directories of those folders"},
	)
}
