package archtest

// rule says what some rooms may not import.
type rule struct {
	rooms  []string // who: patterns of rooms
	except []string // rooms that the patterns don't mean
	forbid []string // what: patterns of rooms, or of other modules' packages
	allow  []string // what forbid doesn't mean
	tests  bool     // holds for test files too
	deep   bool     // holds for what the imports import, too
	why    string
}

// rules is the table of who may call whom. A rule never
// forbids a room its own tree. Where the table says nothing, an import is fine, but each
// room must be the subject of one rule at least beside those for everybody.
func rules() []rule {
	return append(append(layers(), leaves()...), owners()...)
}

// families are the rooms of commands that belong together, each below the app that
// joins them.
func families() []string {
	return []string{
		"./commands/agents/...",
		"./commands/chats/...",
		"./commands/completion/...",
		"./commands/demo/...",
		"./commands/docs/...",
		"./commands/doctor",
		"./commands/embed",
		"./commands/help/...",
		"./commands/keys/...",
		"./commands/mcp/...",
		"./commands/man/...",
		"./commands/models/...",
		"./commands/payloads/...",
		"./commands/prompts/...",
		"./commands/settings/...",
		"./commands/store/...",
		"./commands/tool/...",
		"./commands/toolset/...",
		"./commands/trust/...",
		"./commands/undo/...",
		"./commands/usage/...",
		"./commands/version/...",
		"./commands/workflows/...",
		"./commands/workspace/...",
	}
}

// layers is main → commands → {server, engine}; server → engine;
// engine → {toolset, cas}; toolset → cas; cas, toolset, engine → internal/kv.
func layers() []rule {
	return []rule{
		{
			rooms: []string{"."}, tests: true,
			forbid: []string{"./..."}, allow: []string{"./commands", "./commands/term"},
			why: "main is three lines over commands.Main and the process's own streams",
		},
		{
			rooms:  []string{"./commands/..."},
			forbid: []string{"./internal/kv/..."},
			why:    "the store belongs to the engine and the rooms below it; a command that opens it itself is a second way in",
		},
		{
			rooms:  []string{"./commands/config/..."},
			forbid: []string{"./commands", "./commands/term/...", "./server/...", "./engine", "./engine/journal/...", "./toolset/...", "./cas/..."},
			why:    "configuration is read into plain structs that know nothing of who uses them",
		},
		{
			rooms:  []string{"./commands/input/..."},
			forbid: []string{"./commands", "./server/...", "./engine", "./engine/journal/...", "./cas/..."},
			why:    "reading standard input and files into a message needs no engine",
		},
		{
			rooms:  []string{"./commands/cmdline/..."},
			forbid: []string{"./..."}, allow: []string{"./commands/term", "./engine", "./engine/fault", "./internal/didyoumean"},
			why: "what was typed is read before anything is made for it",
		},
		{
			rooms:  []string{"./commands/newfile/..."},
			forbid: []string{"./..."}, allow: []string{"./commands/cmdline", "./commands/term", "./engine/fault", "./internal/atomicfile"},
			why: "a file is written the same whatever is in it",
		},
		{
			rooms:  []string{"./commands/show/..."},
			forbid: []string{"./commands", "./commands/workbench/...", "./commands/config/...", "./server/..."},
			why:    "how a message looks doesn't depend on who shows it",
		},
		{
			rooms:  []string{"./commands/doctor/machine/..."},
			forbid: []string{"./..."},
			why:    "what a machine has is told without a configuration and without a store",
		},
		{
			rooms:  families(),
			forbid: []string{"./commands", "./server/..."},
			why:    "a family of commands stands alone; the app is put together above it, and a running server is the workbench's business",
		},
		{
			rooms:  []string{"./commands/ask/...", "./commands/chat/..."},
			forbid: []string{"./commands"},
			why:    "the program is put together above its commands; chat gets it from there",
		},
		{
			rooms:  []string{"./commands/ask/..."},
			forbid: []string{"./commands/chat/..."},
			why:    "what both need is commands/question",
		},
		{
			rooms:  []string{"./commands/chat/..."},
			forbid: []string{"./commands/ask/..."},
			why:    "what both need is commands/question",
		},
		{
			rooms:  []string{"./commands/question/..."},
			forbid: append(families(), "./commands", "./commands/ask/...", "./commands/chat/...", "./commands/serve/..."),
			why:    "what ask and chat have in common depends on neither of them",
		},
		{
			rooms:  []string{"./commands/suggest/..."},
			forbid: []string{"./commands", "./commands/completion/...", "./commands/question/...", "./commands/serve/...", "./server/..."},
			why:    "a shell and the menu of chat show the same values, which depend on neither",
		},
		{
			rooms:  []string{"./commands/serve/...", "./commands/acp/..."},
			forbid: []string{"./commands", "./commands/follow/...", "./commands/show/..."},
			why:    "a program is answered by the server's rooms, and nothing is shown to a person here but where it is",
		},
		{
			rooms:  []string{"./commands/commandtest/..."},
			forbid: []string{"./..."}, allow: []string{"./commands", "./commands/term", "./internal/needtest"},
			why: "a test of the program sees it from outside",
		},
		{
			rooms:  []string{"./commands/workspace/...", "./commands/store/...", "./commands/settings/...", "./commands/show/..."},
			forbid: []string{"./commands/chats/..."},
			why:    "switching to a branch brings its files back, so chats may use workspace, and nothing the other way",
		},
		{
			rooms:  []string{"./commands/follow/..."},
			forbid: []string{"./commands", "./commands/chats/...", "./commands/workspace/...", "./commands/store/...", "./commands/settings/..."},
			why:    "how a turn is shown knows no command that shows one",
		},
		{
			rooms:  []string{"./commands/workbench/..."},
			forbid: append(families(), "./commands", "./commands/ask/...", "./commands/chat/...", "./commands/question/...", "./commands/suggest/...", "./commands/serve/...", "./commands/follow/...", "./commands/show/...", "./commands/doctor/machine/...", "./commands/input/...", "./commands/roff/...", "./commands/starter/...", "./commands/transcript/..."),
			why:    "what all commands share knows none of them, nor what only one of them uses",
		},
		{
			rooms:  []string{"./commands/term/..."},
			forbid: []string{"./..."}, allow: []string{"./commands/term/...", "./internal/..."},
			why: "the terminal is the same whatever is shown on it",
		},
		{
			rooms: []string{"./commands/roff/..."}, tests: true,
			forbid: []string{"./..."},
			why:    "how a man page is written depends on nothing that stands in it",
		},
		{
			rooms: []string{"./..."}, except: []string{".", "./commands/...", "./internal/bench/..."}, tests: true,
			forbid: []string{"./commands/...", "."},
			why:    "nothing imports upward: flags and terminals end at commands",
		},
		{
			rooms:  []string{"./server/..."},
			forbid: []string{"./toolset/...", "./cas/...", "./internal/kv/..."}, allow: []string{"./cas", "./toolset", "./toolset/registry"},
			why: "the server reaches tools, files and records by the engine, whose methods take and return types of these three packages",
		},
		{
			rooms:  []string{"./server", "./server/dialect/..."},
			forbid: []string{"./server/client/..."},
			why:    "a server knows its clients by what they send",
		},
		{
			rooms:  []string{"./server/acp/..."},
			forbid: []string{"./..."}, allow: []string{"./cas", "./toolset", "./engine", "./engine/store", "./engine/workspace", "./engine/catalog", "./engine/chat", "./engine/event", "./engine/fault", "./engine/models", "./engine/permission", "./engine/provider", "./internal/consent", "./internal/sanitize", "./internal/units", "./server/asking"},
			why: "what an editor does with a turn is the engine's, and shares nothing with HTTP",
		},
		{
			rooms:  []string{"./server/asking/..."},
			forbid: []string{"./..."}, allow: []string{"./engine", "./engine/event", "./engine/fault", "./engine/store", "./internal/consent", "./internal/sanitize"},
			why: "a question is the same for all front ends, which depend on it",
		},
		{
			rooms:  []string{"./server/mcp/..."},
			forbid: []string{"./..."}, allow: []string{"./cas", "./engine", "./engine/store", "./engine/workspace", "./engine/catalog", "./engine/chat", "./engine/event", "./engine/fault", "./engine/permission", "./engine/prompts", "./engine/provider", "./internal/consent", "./internal/sanitize", "./internal/units", "./server/asking"},
			why: "what an MCP client does with a turn is the engine's; who may reach it is the server's",
		},
		{
			rooms:  []string{"./server/artifacts/..."},
			forbid: []string{"./..."}, allow: []string{"./internal/netguard", "./server/weborigin"},
			why: "the second origin has nothing of the API; which pages there are is decided by the routes",
		},
		{
			rooms: []string{"./server/weborigin/..."}, tests: true,
			forbid: []string{"./..."},
			why:    "what an origin is depends on nothing that has one",
		},
		{
			rooms: []string{"./server/web/..."}, tests: true,
			forbid: []string{"./..."}, allow: []string{"./internal/nodetest"},
			why: "the page's files are sent without knowing what the page is for",
		},
		{
			rooms: []string{"./engine/..."}, tests: true,
			forbid: []string{"./server/..."},
			why:    "the engine doesn't know who follows its turns",
		},
		{
			rooms: []string{"./toolset/...", "./cas/..."}, tests: true, deep: true,
			forbid: []string{"./engine/...", "./server/..."},
			why:    "tools and files are below the turn that uses them; failures go up as plain or typed errors, and the engine makes faults of them",
		},
		{
			rooms: []string{"./cas/..."}, tests: true, deep: true,
			forbid: []string{"./toolset/..."},
			why:    "files are kept without knowing what tools are",
		},
		{
			rooms: []string{"./internal/..."}, except: []string{"./internal/bench/..."}, tests: true, deep: true,
			forbid: []string{"./engine/...", "./server/...", "./toolset/...", "./cas/..."},
			why:    "internal rooms are the ground that the others stand on (bench alone drives the whole)",
		},
		{
			rooms: []string{"./internal/archtest/..."}, tests: true,
			forbid: []string{"./..."},
			why:    "the judge uses nothing of what it judges",
		},
		{
			rooms:  []string{"./internal/bench/..."},
			forbid: []string{"./internal/kv/..."},
			why:    "figures are taken of what people run, not of its parts' insides",
		},
		{
			rooms: []string{"./internal/soak/..."}, tests: true,
			forbid: []string{"./..."}, allow: []string{"./internal/needtest"},
			why: "the soak runs the program from outside, as its users do",
		},
	}
}

// leaves are the rooms that import none of their siblings.
func leaves() []rule {
	return []rule{
		{
			rooms: []string{"./engine/event/...", "./engine/fault/..."}, tests: true, deep: true,
			forbid: []string{"./..."}, allow: []string{"./engine/fault"},
			why: "every room and every client depends on them, so they depend on nothing else of ours; an error event has the remedies of a fault",
		},
		{
			rooms:  []string{"./engine/chat/..."},
			forbid: []string{"./..."}, allow: []string{"./engine/event", "./engine/fault", "./engine/payloads", "./engine/permission", "./engine/provider", "./internal/record", "./internal/sanitize", "./internal/textenc", "./toolset/manifest", "./toolset/render"},
			why: "the data of conversations is read and checked without a store, a turn or a disk",
		},
		{
			rooms:  []string{"./engine/workspace/..."},
			forbid: []string{"./..."}, allow: []string{"./cas", "./engine/chat", "./engine/event", "./engine/fault", "./engine/provider", "./engine/store", "./internal/atomicfile", "./internal/kv", "./internal/lockfile", "./internal/patch", "./internal/record", "./internal/sanitize", "./toolset", "./toolset/gitguard", "./toolset/render"},
			why: "undo and the states of folders need the data directory and the files, and no turn or model",
		},
		{
			rooms:  []string{"./engine/store/..."},
			forbid: []string{"./..."}, allow: []string{"./cas", "./engine/budget", "./engine/chat", "./engine/event", "./engine/fault", "./engine/journal", "./engine/permission", "./engine/provider", "./engine/search", "./internal/atomicfile", "./internal/kv", "./internal/lockfile", "./internal/didyoumean", "./internal/record", "./internal/sanitize", "./internal/schema", "./toolset", "./toolset/manifest", "./toolset/registry", "./toolset/render"},
			why: "the data directory is used without turns, models or tools, by completion, doctor and backups",
		},
		{
			rooms:  []string{"./engine/catalog/..."},
			forbid: []string{"./..."}, allow: []string{"./engine/chat", "./engine/event", "./engine/fault", "./engine/payloads", "./engine/provider", "./engine/store", "./internal/kv", "./internal/didyoumean", "./internal/record", "./internal/sanitize", "./internal/schema", "./toolset", "./toolset/clientconfig", "./toolset/gallery", "./toolset/bundle", "./toolset/manifest", "./toolset/mcp", "./toolset/registry", "./toolset/render"},
			why: "what a turn can use is known without a turn, a model or a folder",
		},
		{
			rooms: []string{"./engine/backup/archive/..."}, tests: true, deep: true,
			forbid: []string{"./..."},
			why:    "the format of a backup file is independent of what is in it",
		},
		{
			rooms:  []string{"./engine/backup/..."},
			forbid: []string{"./..."}, allow: []string{"./cas", "./engine/fault", "./engine/journal", "./engine/store", "./engine/workspace", "./internal/atomicfile", "./internal/kv", "./internal/record", "./toolset/registry"},
			why: "a data directory is backed up and restored without turns, models or tools",
		},
		{
			rooms: []string{"./engine/search/..."}, tests: true, deep: true,
			forbid: []string{"./..."},
			why:    "finding words in a text needs nothing else of ours",
		},
		{
			rooms: []string{"./engine/prompts/..."}, tests: true,
			forbid: []string{"./..."}, allow: []string{"./engine/provider", "./internal/sanitize", "./internal/didyoumean", "./internal/needtest", "./internal/strictyaml", "./internal/textenc"},
			why: "a prompt is a file and what fills it; which model answers it is decided by the caller",
		},
		{
			rooms: []string{"./engine/retrieval/..."}, tests: true, deep: true,
			forbid: []string{"./..."}, allow: []string{"./engine/search", "./internal/float32s"},
			why: "passages are cut and ranked without a store and without a provider",
		},
		{
			rooms: []string{"./engine/payloads/..."}, tests: true, deep: true,
			forbid: []string{"./..."}, allow: []string{"./engine/event", "./engine/fault", "./internal/record", "./internal/sanitize", "./internal/schema", "./internal/didyoumean"},
			why: "what a text and a result hold of payloads is told without knowing turns, models and tools",
		},
		{
			rooms: []string{"./engine/permission/..."}, tests: true,
			forbid: []string{"./..."}, allow: []string{"./toolset", "./toolset/builtin", "./toolset/wspath", "./internal/shellparts"},
			why: "rules, the tool and the folder decide whether a call may run; asking the user is the engine's",
		},
		{
			rooms: []string{"./engine/models/..."}, tests: true,
			forbid: []string{"./..."}, allow: []string{"./engine/fault", "./engine/provider", "./engine/provider/modelcache", "./internal/didyoumean"},
			why: "which models there are is found without chats and turns",
		},
		{
			rooms: []string{"./engine/budget/..."}, tests: true, deep: true,
			forbid: []string{"./..."},
			why:    "what fits is arithmetic over sizes; what the sizes are of is the engine's",
		},
		{
			rooms:  []string{"./engine/journal/..."},
			forbid: []string{"./..."}, allow: []string{"./engine/event", "./internal/..."},
			why: "a journal is lines of events under a lock; what they mean is the engine's",
		},
		{
			rooms: []string{"./engine/provider/..."}, tests: true, deep: true,
			forbid: []string{"./engine", "./engine/journal/...", "./cas/...", "./internal/kv/..."},
			why:    "a provider turns a request into deltas and knows nothing of turns and records",
		},
		{
			rooms: []string{"./engine/provider"}, tests: true,
			forbid: []string{"./engine/provider/*/..."},
			why:    "the interface doesn't know who satisfies it; commands put them together",
		},
		{
			rooms: []string{"./engine/provider/*/..."}, except: []string{"./engine/provider/openai", "./engine/provider/mistral"},
			forbid: []string{"./engine/provider/*/...", "./toolset/..."}, allow: []string{"./engine/provider/wire"},
			why: "one wire format never leans on another; what all need is in wire",
		},
		{
			rooms:  []string{"./engine/provider/openai", "./engine/provider/mistral"},
			forbid: []string{"./engine/provider/*/...", "./toolset/..."}, allow: []string{"./engine/provider/wire", "./engine/provider/chatcompletions"},
			why: "both are chat completions with quirks, which are one package; neither leans on the other",
		},
		{
			rooms: []string{"./engine/provider/*/..."}, tests: true, except: []string{"./engine/provider/openai", "./engine/provider/mistral"},
			forbid: []string{"./engine/provider/*/..."}, allow: []string{"./engine/provider/wire", "./engine/provider/providertest"},
			why: "a provider's tests use the conformance suite and no other provider",
		},
		{
			rooms: []string{"./engine/provider/openai", "./engine/provider/mistral"}, tests: true,
			forbid: []string{"./engine/provider/*/..."}, allow: []string{"./engine/provider/wire", "./engine/provider/chatcompletions", "./engine/provider/providertest"},
			why: "the same for the adapters of chat completions",
		},
		{
			rooms:  []string{"./server/dialect/..."},
			forbid: []string{"./..."}, allow: []string{"./engine/event", "./engine/fault", "./internal/float32s", "./internal/sanitize"},
			why: "a dialect is a pure function from events to frames, and from a body to a request",
		},
		{
			rooms: []string{"./server/dialect/..."}, tests: true,
			forbid: []string{"./..."}, allow: []string{"./engine/event", "./engine/fault", "./internal/float32s", "./internal/sanitize", "./internal/sse", "./internal/schema", "./internal/nodetest", "./internal/needtest"},
			why: "its tests read the frames back and hold them against published schemas, and start no engine",
		},
		{
			rooms: []string{"./toolset/*/..."}, except: []string{"./toolset/registry/...", "./toolset/clientconfig", "./toolset/validate/...", "./toolset/check/...", "./toolset/gallery"},
			forbid: []string{"./toolset/*/..."}, allow: []string{"./toolset/wspath"},
			why: "python, mcp and builtin take a Launcher that sandbox satisfies; bundle, render and the rest know only the parent's types",
		},
		{
			rooms:  []string{"./toolset/gitguard"},
			forbid: []string{"./..."},
			why:    "repositories are found by what is on the disk, whatever a workspace or a call is",
		},
		{
			rooms: []string{"./toolset/wspath/..."}, tests: true,
			forbid: []string{"./..."}, allow: []string{"./toolset"},
			why: "which file a path means depends on the workspace alone; rules and tools share the answer",
		},
		{
			rooms:  []string{"./toolset/registry/..."},
			forbid: []string{"./toolset/*/..."}, allow: []string{"./toolset/bundle", "./toolset/gallery", "./toolset/manifest"},
			why: "it keeps what bundles and manifests give it, and runs nothing",
		},
		{
			rooms: []string{"./toolset/builtin/readable/..."}, tests: true, deep: true,
			forbid: []string{"./..."}, allow: []string{"./internal/sanitize"},
			why: "making text of a page needs nothing else of ours, and fetches nothing",
		},
		{
			rooms: []string{"./toolset/validate/...", "./toolset/check/..."}, tests: true,
			forbid: []string{"./toolset/*/..."}, allow: []string{"./toolset/manifest", "./toolset/bundle", "./toolset/render"},
			why: "toolsets are judged by their files; what runs a tool is handed in",
		},
		{
			rooms:  []string{"./toolset/gallery"},
			forbid: []string{"./..."}, allow: []string{"./toolset/manifest"},
			why: "it contains bundles and lists them; importing one is the registry's work",
		},
		{
			rooms:  []string{"./toolset/clientconfig"},
			forbid: []string{"./..."}, allow: []string{"./internal/strictyaml", "./toolset", "./toolset/manifest", "./toolset/registry"},
			why: "it reads configuration files of other programs, and neither stores nor starts what they name",
		},
		{
			rooms:  []string{"./toolset/python"},
			forbid: []string{"./..."}, allow: []string{"./toolset", "./internal/atomicfile", "./internal/lockfile", "./internal/pystdlib", "./internal/record", "./internal/sanitize"},
			why: "what runs Python functions knows nothing of bundles, manifests and renderers, and takes its processes from a Launcher",
		},
		{
			rooms:  []string{"./toolset/mcp"},
			forbid: []string{"./..."}, allow: []string{"./toolset", "./internal/schema", "./internal/netguard", "./internal/sanitize"},
			why: "what reaches MCP servers keeps no records, and takes its processes from a Launcher",
		},
		{
			rooms: []string{"./toolset/sandbox/supervisor"}, deep: true,
			forbid: []string{"./...", "net", "net/...", "regexp", "text/template"},
			why:    "it runs before what it doesn't import is set up, and is started for every call",
		},
		{
			rooms:  []string{"./toolset"},
			forbid: []string{"./toolset/*/..."},
			why:    "the parent holds the types; commands and the engine put the parts together",
		},
		{
			rooms:  []string{"./cas"},
			forbid: []string{"./cas/castest/..."},
			why:    "a suite is for tests",
		},
		{
			rooms: []string{
				"./internal/appendfile/...", "./internal/sse/...", "./internal/atomicfile/...", "./internal/lockfile/...", "./internal/mounts/...", "./internal/didyoumean/...", "./internal/otlp/...", "./internal/paths/...", "./internal/netguard/...", "./internal/pystdlib/...", "./internal/record/...", "./internal/shellparts/...", "./internal/units/...",
			}, tests: true, deep: true,
			forbid: []string{"./..."}, allow: []string{"./internal/needtest"},
			why: "these are leaves",
		},
		{
			rooms: []string{"./internal/strictyaml/..."}, tests: true,
			forbid: []string{"./..."}, allow: []string{"./internal/sanitize", "./internal/textenc"},
			why: "parsing a file is the same for each format, so it depends on none of them",
		},
		{
			rooms: []string{"./internal/consent/..."}, tests: true, deep: true,
			forbid: []string{"./..."}, allow: []string{"./internal/sanitize", "./internal/units"},
			why: "every front end asks with the same summary, so it depends on none of them",
		},
		{
			rooms: []string{"./internal/schema/..."}, tests: true,
			forbid: []string{"./..."}, allow: []string{"./internal/didyoumean", "./internal/needtest", "./internal/sanitize"},
			why: "checking a document against a schema needs nothing else of ours",
		},
		{
			rooms: []string{"./internal/kv/..."}, tests: true,
			forbid: []string{"./..."}, allow: []string{"./internal/atomicfile", "./internal/lockfile", "./internal/record", "./internal/needtest"},
			why: "the store keeps records without knowing what they mean",
		},
	}
}

// owners are the rooms that alone may know a module, so that it can be
// exchanged, and its types and faults stay where they are understood.
func owners() []rule {
	everybody := []string{"./..."}
	suites := []string{"./engine/provider/providertest/...", "./cas/castest/...", "./internal/ollamatest/...", "./internal/nodetest/...", "./internal/needtest/...", "./internal/record/recordtest/...", "./internal/otlp/otlptest/...", "./commands/help/helptest/...", "./commands/commandtest/..."}
	return []rule{
		{
			rooms: everybody, except: []string{"./internal/kv/..."}, tests: true,
			forbid: []string{"github.com/dgraph-io/badger/..."},
			why:    "internal/kv hides Badger behind its own types",
		},
		{
			rooms: everybody, except: []string{"./commands/config"}, tests: true,
			forbid: []string{"github.com/spf13/viper/..."},
			why:    "viper folds keys' case and splits them on dots; commands/config is where that is known",
		},
		{
			rooms: everybody, except: []string{"./commands/..."}, tests: true,
			forbid: []string{"github.com/urfave/cli/...", "github.com/schollz/progressbar/..."},
			why:    "flags and progress bars end at commands",
		},
		{
			rooms: everybody, except: []string{"./commands/term/markdown", "./commands/transcript"}, tests: true,
			forbid: []string{"github.com/yuin/goldmark/..."},
			why:    "a model's Markdown is made harmless in one room for terminals and in one for pages",
		},
		{
			rooms: everybody, except: []string{"./engine/provider/ollama/..."}, tests: true,
			forbid: []string{"github.com/ollama/ollama/..."},
			why:    "no wire type of a provider leaves its room",
		},
		{
			rooms:  []string{"./engine/provider/ollama/..."},
			forbid: []string{"github.com/ollama/ollama/..."}, allow: []string{"github.com/ollama/ollama/api", "github.com/ollama/ollama/types/..."},
			why: "the client alone is linked: that is why .ci/vuln-allow.txt may bear the server's faults",
		},
		{
			rooms: everybody, except: []string{"./toolset/bundle/..."}, tests: true,
			forbid: []string{"github.com/mholt/archiver/...", "github.com/mholt/archives/..."},
			why:    "archives are read and written behind toolset/bundle's two functions, which carry the limits",
		},
		{
			rooms: everybody, except: []string{"./toolset/mcp/...", "./server/mcp/...", "./internal/bench/..."}, tests: true,
			forbid: []string{"github.com/modelcontextprotocol/go-sdk/..."},
			why:    "no SDK type leaves the two rooms that speak MCP",
		},
		{
			rooms: everybody, except: []string{"./internal/schema/..."}, tests: true,
			forbid: []string{"github.com/santhosh-tekuri/jsonschema/...", "github.com/google/jsonschema-go/..."},
			why:    "a schema from a stranger is only compiled under internal/schema's limits",
		},
		{
			rooms: everybody, except: []string{"./internal/shellparts/..."}, tests: true,
			forbid: []string{"mvdan.cc/sh/..."},
			why:    "what a command line means for a rule is decided once",
		},
		{
			rooms: everybody, except: []string{"./toolset/builtin/readable/..."}, tests: true,
			forbid: []string{"github.com/ledongthuc/pdf/...", "github.com/JohannesKaufmann/html-to-markdown/..."},
			why:    "they hang at some input, and so run only in a process that has limits",
		},
		{
			rooms: everybody, except: []string{"./internal/lockfile/..."}, tests: true,
			forbid: []string{"github.com/gofrs/flock/..."},
			why:    "what a lock promises on each system is written down once",
		},
		{
			rooms: everybody, except: suites,
			forbid: []string{"testing", "testing/...", "github.com/google/go-cmp/...", "go.uber.org/goleak/...", "pgregory.net/rapid/..."},
			why:    "test machinery stays out of the program",
		},
		{
			rooms: everybody, except: suites,
			forbid: suites,
			why:    "a suite is for tests",
		},
		{
			rooms:  everybody,
			forbid: []string{"log"},
			why:    "a *slog.Logger is passed in; slog.NewLogLogger makes one for net/http",
		},
		{
			rooms: everybody, tests: true,
			forbid: []string{"golang.org/x/exp/...", "io/ioutil", "github.com/pkg/errors/...", "gopkg.in/yaml.v3/...", "go.yaml.in/yaml/v3/..."},
			why:    "each has a maintained successor",
		},
		{
			rooms: []string{"."}, deep: true,
			forbid: []string{"github.com/ollama/ollama/server/...", "github.com/ollama/ollama/llm/...", "github.com/ollama/ollama/fs/..."},
			why:    "the client alone is linked: that is why .ci/vuln-allow.txt may bear the server's faults",
		},
		{
			rooms: []string{"."}, deep: true,
			forbid: []string{"testing", "net/http/pprof", "net/http/httptest"},
			why:    "these add flags and pages to a program by being linked in",
		},
	}
}
