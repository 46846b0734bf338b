package help

// payloadShapes are what the commands about payloads print.
func payloadShapes() []shape {
	return []shape{
		{"fettle payloads list -o json", []field{
			{"schema_version", "1"},
			{"chat, chat_id", "whose they are"},
			{"payloads", "the first shown first, each a payload as below"},
		}},
		{"fettle payloads show -o json: chat and chat_id, and a payload", []field{
			{"number, id", "its place in the chat, from 1; its id"},
			{"type, title", "of what kind it is, and what stands above it"},
			{"data", "what it holds"},
			{"source", "tool or model"},
			{"toolset_id", "whose type it is; left out for one that is always known"},
			{"render_plan", "how a page shows it, where its type has a renderer"},
			{"message_id, shown_at", "the answer that it is in, and when"},
			{"call_id", "the call that gave it for the workspace panel; left out for others"},
			{"edit", "the text that the user made of it: text, edited_at"},
			{"decision", "how the person decided: decision (accepted or rejected), remark, decided_at, reaction (the client action or the tool that the type names), agent_id (the agent that it created or changed), turn_id (in which the tool ran), payload_id, payload_type, chat_id, message_id, toolset_id"},
		}},
		{"fettle payloads accept or reject -o json", []field{
			{"schema_version", "1"},
			{"chat, chat_id", "whose it is"},
			{"payload", "the payload with its decision"},
			{"again", "true where the same was decided before, and nothing was done"},
			{"call", "the call of the tool that was told, as tool call -o json prints it"},
		}},
		{"fettle payloads types -o json", []field{
			{"schema_version", "1"},
			{"types", "each with type, toolset_id, parse_marker, llm_instructions, schema, parser, relevant_tabs, renderer, render_options (panelWidth, headerTitle, headerIcon), style (icon, colour, label, editable), on_accept and on_reject (action or tool)"},
			{"problems", "what toolsets bring that can't be used, or not by all: set, type, page, message"},
		}},
	}
}
