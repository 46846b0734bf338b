package manifest

func payloadShape() *shape {
	parser := matching("A function from text to {type, data}, as module:function.",
		"module:function, such as tools.parse:proposal", patternEntry, 200)
	parser.check = checkEntrypoint
	kind := idShape("The payload's type.")
	kind.check = checkPayloadType
	marker := matching("What the model writes before the JSON, such as PROPOSAL:.",
		"a marker on one line, such as PROPOSAL:", `^[^ \t\r\n]([^\r\n]*[^ \t\r\n])?$`, maxName)
	marker.check = checkMarker
	s := object("One type of payload.",
		need("type", kind),
		may("parse_marker", marker),
		may("llm_instructions", text("What the model is told about it.", "text", 1, maxPrompt)),
		may("schema", schemaShape("The JSON Schema of its data.", true)),
		may("parser", parser),
		may("relevant_tabs", list("The tabs for which it is offered; all where left out.", line("", maxName), maxEntries)),
		may("renderer", payloadRendererShape()),
		may("render_options", object("How the panel around it looks.",
			may("panelWidth", line("A width in CSS, such as 550px.", 40)),
			may("headerTitle", line("The panel's title.", maxName)),
			may("headerIcon", line("The panel's icon.", maxID)),
		)),
		may("style", object("How the workspace lists it.",
			may("icon", line("An icon's name.", maxID)),
			may("colour", line("A colour.", maxID)),
			may("label", line("A word for it.", maxName)),
			may("editable", toggle("Whether people may edit it.")),
		)),
		may("on_accept", reactionShape("What is done with it when a person accepts it.")),
		may("on_reject", reactionShape("What is done with it when a person rejects it.")),
	)
	s.needs = [][2]string{
		{"parse_marker", "llm_instructions"}, {"llm_instructions", "parse_marker"}, {"parser", "parse_marker"},
	}
	return s
}

func reactionShape(about string) *shape {
	s := object(about,
		may("action", idShape("A client action of each page that offers the payload.")),
		may("tool", idShape("A tool of this toolset.")),
	)
	s.oneOf = []string{"action", "tool"}
	return s
}

func pageShape() *shape {
	return object("One page of a client.",
		need("id", idShape("The page's id.")),
		may("name", line("What people call the page.", maxName)),
		may("context", text("A template that becomes part of the system prompt; $context.x is what the page sent along as x.", "text", 1, maxPrompt)),
		may("payloads", list("Types of the payloads that the page offers.", idShape(""), maxEntries)),
		may("client_actions", list("What the page can do when the model asks for it.", object("One action.",
			need("action", idShape("The action's id.")),
			may("label", line("What people see.", maxName)),
			need("description", text("What it does, for the model.", "text", 1, maxDescription)),
			may("input_schema", schemaShape("The JSON Schema of its parameters, of type object.", false)),
		), maxEntries)),
	)
}

func workflowShape() *shape {
	step := object("One step: a tool or an agent.",
		need("id", idShape("The step's id.")),
		may("name", line("What people call the step.", maxName)),
		may("tool", matching("The tool to call.", "a tool's id", patternTool, 300)),
		may("args", table("Its arguments; $args.x is an input of the workflow, $steps.ID.x what an earlier step returned.", "",
			&shape{kind: anyKind}, maxEntries)),
		may("agent", idShape("The agent to ask.")),
		may("prompt", text("What the agent is asked; $args and $steps as in args.", "text", 1, maxPrompt)),
		may("checkpoint", toggle("Whether the workflow waits after this step until a person lets it go on.")),
	)
	step.oneOf = []string{"tool", "agent"}
	step.needs = [][2]string{{"args", "tool"}, {"prompt", "agent"}}
	steps := list("The steps, in order.", step, maxServers)
	steps.min = 1
	return object("One workflow.",
		need("id", idShape("The workflow's id.")),
		may("name", line("What people call the workflow.", maxName)),
		may("description", text("What it is for.", "text", 1, maxDescription)),
		may("input_schema", schemaShape("The JSON Schema of what it is started with, of type object.", false)),
		need("steps", steps),
	)
}

func testShape() *shape {
	files := func(about string) *shape {
		return table(about, "", text("", "the file's text", 0, maxText), maxEntries)
	}
	path := text("", "a path in the workspace", 1, 500)
	path.check = checkWorkspacePath
	expect := object("What must hold afterwards.",
		may("return", &shape{kind: anyKind, about: "What is returned; of an object, the fields that matter."}),
		may("error", text("A part of the error's text; the call must fail.", "text", 1, 1000)),
		may("files", files("Files that must have these texts.")),
		may("absent", list("Paths that must not be there.", path, maxEntries)),
	)
	return object("One call with a known outcome.",
		may("name", line("What the test shows.", maxName)),
		need("tool", idShape("The id of a tool of this toolset.")),
		may("args", table("The arguments.", "", &shape{kind: anyKind}, maxEntries)),
		may("files", files("The workspace's files before the call: path and text.")),
		may("expect", expect),
	)
}
