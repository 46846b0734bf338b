package manifest

import "sync"

// What a manifest may hold. The numbers are far above what toolsets have, and
// low enough that no page, prompt or table of ours is flooded by one.
const (
	maxID          = 64
	maxName        = 100
	maxRequirement = 8000    // with a hash for the wheel of each system
	maxDescription = 4 << 10 // characters: what a model reads with every request
	maxPrompt      = 64 << 10
	maxText        = 64 << 10
	maxTools       = 200
	maxServers     = 50
	maxEntries     = 200
)

const (
	patternToolsetID = `^[a-z][a-z0-9_-]{0,63}$`
	patternID        = `^[A-Za-z][A-Za-z0-9_-]{0,63}$`
	patternEntry     = `^[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*){0,7}:[A-Za-z][A-Za-z0-9_]*$`
	patternVersion   = `^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)` +
		`(-(0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)(\.(0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*))*)?` +
		`(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$`
	patternEnv      = `^[A-Za-z_][A-Za-z0-9_]{0,99}$`
	patternHost     = `^(\*\.)?[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*(:[0-9]{1,5})?$`
	patternCommand  = `^[A-Za-z0-9][A-Za-z0-9._+-]{0,99}$`
	patternDuration = `^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	patternModel    = `^[A-Za-z0-9][A-Za-z0-9._-]*/[^ \t\r\n]+$`
	patternTool     = `^[A-Za-z0-9_*?{}\[\],.:/-]+$`
	patternHeader   = `^[A-Za-z0-9!#$%&'*+.^_|~-]+$`
	patternLine     = `^[^\r\n]*$`
	// a requirement is a name, extras, versions, a marker and hashes; never an
	// address, a path or another option, which would install code from anywhere
	patternRequirement = `^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?( *\[[A-Za-z0-9._, -]*\])?` +
		`( *(~=|===?|!=|<=|>=|<|>) *[A-Za-z0-9][A-Za-z0-9.*+!_-]*( *, *(~=|===?|!=|<=|>=|<|>) *[A-Za-z0-9][A-Za-z0-9.*+!_-]*)*)?` +
		`( *;( *[^ \r\n-][^ \r\n]*)?( +[^ \r\n-][^ \r\n]*)* *)?` +
		`( +--hash=(sha256:[0-9a-f]{64}|sha384:[0-9a-f]{96}|sha512:[0-9a-f]{128}))*$`
)

// root is the shape of a manifest.
var root = sync.OnceValue(func() *shape {
	return object("A toolset: tools, MCP servers, agents and what belongs to them.",
		need("manifest_version", choice("The version of this format.", Version)),
		need("id", toolsetID()),
		need("name", line("What people call the toolset.", maxName)),
		need("version", matching("The toolset's semantic version.", "a semantic version in quotes, such as \"1.0.0\"", patternVersion, 128)),
		need("description", text("What the toolset is for.", "text", 1, maxDescription)),
		may("requirements", list("Python packages that the tools import.",
			matching("", "a Python package, such as requests==2.32.3 (no address or path, and no option but --hash)", patternRequirement, maxRequirement), maxEntries)),
		may("permissions", permissionsShape()),
		may("tools", list("Python tools.", toolShape(), maxTools)),
		may("mcp_servers", list("MCP servers to install.", serverShape(), maxServers)),
		may("agents", list("Agents; new chats begin with the one that has entry: true.", agentShape(), maxServers)),
		may("payloads", list("Structured data that tools and models show.", payloadShape(), maxEntries)),
		may("pages", list("What belongs to a page of a client.", pageShape(), maxEntries)),
		may("workflows", list("Fixed orders of steps.", workflowShape(), maxServers)),
		may("tests", list("Calls with known outcomes.", testShape(), maxEntries)),
	)
})

// textProbe checks the texts that it is given against a shape, where a text
// stands outside a file.
func textProbe(s *shape, v string) bool {
	return compiled().match(s.pattern, v)
}

func line(about string, high int) *shape {
	return matching(about, "text on one line", patternLine, high)
}

func toolsetID() *shape {
	s := matching("The toolset's id, by which it is installed and its tools are known.",
		"an id of a-z, 0-9, - and _ that begins with a letter", patternToolsetID, maxID)
	s.check = checkToolsetID
	return s
}

func idShape(about string) *shape {
	return matching(about, "an id of letters, digits, - and _ that begins with a letter", patternID, maxID)
}

func schemaShape(about string, anyRoot bool) *shape {
	return &shape{kind: schemaKind, about: about, want: "a JSON Schema (fields such as type and properties)", anyRoot: anyRoot}
}

func permissionsShape() *shape {
	host := matching("", "a host, such as api.example.com or *.example.com", patternHost, 253)
	host.check = checkHost
	path := text("", "a path", 1, 500)
	path.check = checkReadPath
	return object("What the toolset asks for beyond its chat's workspace; shown at import.",
		may("network", list("Hosts that the tools reach.", host, maxEntries)),
		may("env", list("Environment variables that the tools read.", envName(), maxEntries)),
		may("read", list("Paths outside the workspace that the tools read, absolute or beginning with ~/.", path, maxEntries)),
	)
}

func envName() *shape {
	return matching("", "the name of an environment variable, such as API_KEY", patternEnv, 100)
}

func toolShape() *shape {
	timeout := matching("How long one call may take, such as 90s or 5m.", "a duration, such as 90s or 5m", patternDuration, 40)
	timeout.check = checkTimeout
	entry := matching("Where the function is: module:function, such as tools.analyze:run.",
		"module:function, such as tools.analyze:run (no part begins with _)", patternEntry, 200)
	entry.check = checkEntrypoint
	return object("One tool.",
		need("id", toolID()),
		may("name", line("What people call the tool.", maxName)),
		need("description", text("What the tool does, for the model.", "text", 1, maxDescription)),
		need("entrypoint", entry),
		may("category", line("The group that the tool is listed in.", maxID)),
		need("input_schema", schemaShape("The JSON Schema of the arguments, of type object.", false)),
		may("output_schema", schemaShape("The JSON Schema of what is returned.", true)),
		may("requires_confirmation", toggle("Whether the user is asked before each call.")),
		may("streaming", toggle("Whether the tool reports progress.")),
		may("service", toggle("Whether the tool's process lives on until the chat closes.")),
		may("timeout", timeout),
		may("annotations", object("What the tool does to the world, as it claims.",
			may("read_only", toggle("It changes nothing: its sandbox makes the workspace read-only.")),
			may("destructive", toggle("It may overwrite or delete, not only add.")),
			may("idempotent", toggle("The same call once more changes nothing further.")),
			may("open_world", toggle("It reaches beyond the workspace, such as the network.")),
		)),
		may("renderer", rendererShape()),
	)
}

func toolID() *shape {
	s := idShape("The tool's id.")
	s.check = checkToolName
	return s
}

// payloadRendererShape has the renderers of payload types. A page that speaks MCP Apps gets
// the payload's data as the result of a call; for calls themselves an MCP server has the page.
func payloadRendererShape() *shape {
	s := rendererShape()
	s.variants = append(s.variants, variant{"mcp_app", htmlShape("What the page gets as the result of a tool, in ui/notifications/tool-result; $return where it is left out.")})
	return s
}

// htmlShape is a renderer that is a page of the bundle.
func htmlShape(data string) *shape {
	artifact := text("An HTML file of the bundle, such as artifacts/results.html.", "a path in the bundle", 1, 500)
	artifact.check = checkArtifact
	return object("",
		need("type", text("", "text", 1, 20)),
		need("artifact", artifact),
		may("data", &shape{kind: anyKind, about: data}),
	)
}

func rendererShape() *shape {
	source := func(fields ...field) *shape {
		s := object("", append([]field{
			need("type", text("", "text", 1, 20)),
			may("file", text("A file of the workspace, such as $args.path.", "text", 1, 1000)),
			may("content", text("The text to show, such as $return.code.", "text", 1, maxText)),
			may("editable", toggle("Whether people may edit it.")),
		}, fields...)...)
		s.oneOf = []string{"file", "content"}
		return s
	}
	return &shape{
		kind: variantKind, about: "How a call is shown.", want: "a renderer with a type", tag: "type",
		variants: []variant{
			{"code", source(may("language", text("The language, or auto.", "text", 1, 40)))},
			{"document", source()},
			{"html", htmlShape("What the page gets as window.__TOOL_DATA__, such as $return.")},
			{"table", object("",
				need("type", text("", "text", 1, 20)),
				may("data", &shape{kind: anyKind, about: "The table: {columns, rows} or a list of rows, such as $return.rows; $return where it is left out."}),
			)},
			{"frame", object("",
				need("type", text("", "text", 1, 20)),
				need("url", text("The address to embed, such as http://localhost:$return.port.", "an address", 1, 2000)),
			)},
		},
	}
}

func serverShape() *shape {
	args := text("", "text", 0, 4<<10)
	args.check = checkVariables
	value := text("", "text (put numbers in quotes)", 0, 4<<10)
	value.check = checkVariables
	url := text("The address of a server that runs elsewhere.", "an https address", 1, 2000)
	url.check = checkServerURL
	s := object("One MCP server: a command that is started in the toolset's folder, or a url.",
		need("id", idShape("The server's id.")),
		may("name", line("What people call the server.", maxName)),
		may("description", text("What the server is for.", "text", 1, maxDescription)),
		may("command", matching("A program's name, such as npx.",
			"the name of one program, without a path, arguments or shell syntax", patternCommand, 100)),
		may("args", list("Its arguments, one each; they may hold ${NAME}.", args, maxEntries)),
		may("env", table("Environment variables it gets; values may hold ${NAME}, or ${NAME:-} where the variable is optional.", patternEnv, value, maxEntries)),
		may("url", url),
		may("headers", table("Headers it is sent; values may hold ${NAME}.", patternHeader, value, maxEntries)),
		may("auto_enabled", toggle("Whether an import enables the server (default true).")),
	)
	s.oneOf = []string{"command", "url"}
	s.needs = [][2]string{{"args", "command"}, {"env", "command"}, {"headers", "url"}}
	return s
}

func agentShape() *shape {
	return object("One agent.",
		need("id", idShape("The agent's id.")),
		may("name", line("What people call the agent.", maxName)),
		need("purpose", text("When to hand over to it, for other agents.", "text", 1, maxDescription)),
		need("prompt", text("Its instructions.", "text", 1, maxPrompt)),
		may("model", matching("provider/model; the conversation's where it is left out.",
			"provider/model, such as ollama/qwen3", patternModel, 512)),
		may("tools", list("Ids and globs of the tools it may use.", matching("", "a tool's id or a glob", patternTool, 300), maxEntries)),
		may("handoffs", list("Ids of the agents it may hand over to.", idShape(""), maxServers)),
		may("history", choice("How much of the conversation it sees (default full).", "full", "turn")),
		may("answers", toggle("Whether its text is part of the answer.")),
		may("entry", toggle("Whether new chats begin with it (default false); one agent of a toolset at most.")),
	)
}
