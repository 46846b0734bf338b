package help

import (
	"fmt"
	"slices"
	"strings"
)

// shape is one JSON object of the page "output": what prints it, and what its
// fields mean.
type shape struct {
	title  string
	fields []field
}

type field struct{ name, meaning string }

// outputPage is the page that tells the JSON of commands. A test holds it
// against the types.
func outputPage() string {
	const column = 24
	var b strings.Builder
	b.WriteString(`The JSON that commands print. Read what you know and ignore the rest: fields are
added in time. schema_version rises when one goes or changes its meaning. Times
are RFC 3339; what is empty is left out where that tells nothing.
`)
	for _, s := range slices.Concat(askShapes(), storeShapes(), searchShapes(), exportShapes(), workspaceShapes(), payloadShapes(), toolsetShapes(), toolShapes(), serviceShapes(), agentShapes(), modelShapes(), configShapes(), roundShapes(), docsShapes(), workflowShapes(), authorShapes()) {
		fmt.Fprintf(&b, "\n%s\n", s.title)
		for _, f := range s.fields {
			fmt.Fprintf(&b, "  %-*s%s\n", column, f.name, wrapAt(f.name, f.meaning, column))
		}
	}
	return b.String()
}

func askShapes() []shape {
	return []shape{
		{"fettle ask -o json: one object on one line", []field{
			{"schema_version", "1"},
			{"status", "complete, error or cancelled"},
			{"answer", "the answer's text, as -o text prints it; with -x the first code block"},
			{"value", "with --schema: the answer as JSON"},
			{"chat, chat_id", "the chat that was kept, by number (for --chat) and by id"},
			{"turn_id, message_id", "the ids of the turn and, once complete, of the answer's message"},
			{"model", "who answered, as PROVIDER/NAME"},
			{"usage", "tokens as the provider told them: input_tokens, output_tokens, cached_tokens, cache_write_tokens, reasoning_tokens"},
			{"cost", "of the tokens, for each currency: currency, amount; left out where that is not known in full"},
			{"stop_reason", "why the last response stopped: stop, tool_use, length, refusal, other"},
			{"reasoning", "what the model thought"},
			{"tool_calls", "the calls in the order in which they ended: tool, input, status (success or error), result (what the model was told), error, duration_ms"},
			{"payloads", "structured data that was shown, each as the event payload"},
			{"suggested_values, suggested_actions", "what the answer offers to go on with: value, label; type, label, metadata (for --action)"},
			{"ending", "how the answer ended, where it did not end by itself: length (limit of output), refusal, other (the provider's own reason), empty (no text; exit status 11, as for refusal), silent (no text after calls); footnotes has it in words"},
			{"footnotes", "remarks, such as that images were left out"},
			{"timing", "total_ms, and sync_ms of it for making things durable, beside the model's work"},
			{"error", "what went wrong: see failures"},
		}},
		{"fettle ask -o events: an object on a line for each event, as it comes", []field{
			{"type", "one of those below; exactly one of complete, error and cancelled comes last"},
			{"turn_id, seq, time", "of each event; seq counts from 1 without gaps"},
			{"status", "what is waited for: message"},
			{"reasoning", "a piece of thought: text, agent; said marks what an agent said that doesn't answer; reasoning_details is the provider's own"},
			{"text_delta", "a piece of the answer: text, agent"},
			{"tool_start", "a call begins: tool, tool_id, input, tool_use_id, tool_call_id, agent, index, pre_manifest_id, extra (what only the model's provider understands), client_form (how the client that runs the tool knows it)"},
			{"confirm_request", "it needs an approval: tool, tool_id, input, tool_use_id, reason, reach (what it may do), rule; where it runs and asks for something itself, also form; where it has run and its changes wait to be applied, also review"},
			{"review", "what it has changed: files (path, kind, group (applied together or not at all), diff, note, added, removed), removals first; more (how many are not listed), conflicts (what no answer applies), output"},
			{"form", "what it asks for: kind (form, url or sampling), server, call, message, url; fields, each with name, type, title, description, required, default, options (value, title), format, min_length, max_length, minimum, maximum, min_items, max_items; sampling (model, system, messages with role and text, max_tokens)"},
			{"confirm_result", "and got it or not: tool_use_id, decision (allow, allow_chat, allow_always, deny), reason, content (what a form was filled in with), only (the files of a review that were applied)"},
			{"prompted", "a model answered it while it ran: tool_use_id, server (which asked), model, usage"},
			{"tool_progress", "it goes on: tool, tool_use_id, stage, message, progress (0 to 1), data"},
			{"tool_complete", "it ended: as tool_start, and status (success or error), result, error, data, duration_ms, changes (path, kind, mode: how the permission bits differ), shared_changes (other programs may have made some of the changes), conflicts (path, kind, reason: what was not applied, since another program changed the same), call_manifest_id (the state with those), pre_manifest_id, post_manifest_id, payload, workspace_payload, workspace_plan (how that is shown), render_plan, media (images and sounds of the result, each with mime and data), outside (what the result has from beyond this machine)"},
			{"meta", "a response of the model ended: model, usage, reasoning_field (in which the reasoning came), stop_reason, stop_detail (the provider's own word for a refusal or another reason), context_length"},
			{"footnote", "a remark: text, ending (how the answer ended, where it did not end by itself); warning marks one that is also printed at once; ignored names the parts of the request that it is about"},
			{"summary", "older messages were summed up: text, message_id (the last of them; left out where it is of the answer's own first steps), messages (how many), model, usage, outside (what they have from beyond this machine)"},
			{"annotations", "citations: annotations"},
			{"agent_start, handoff", "who speaks: agent; from, to, reason"},
			{"payload", "structured data that is shown: payload_id, payload_type, data, source (tool or model), toolset_id, title, render_plan"},
			{"workflow", "a step of one: instance, step, state, progress, data, outside (what the results have from beyond this machine)"},
			{"complete", "the turn was answered: payload has message (with [[tool:N]] where call N stood), conversation_id (the chat's number), chat_id, message_id, model, usage, stop_reason, denied (calls that needed an approval), custom_payload (type, data: the last payload, else of type tool_history the calls), tool_history (the calls with tool_name, tool_id, input, output, status, workspace_payload, payload), workspace_payload, suggested_values, suggested_actions"},
			{"error", "it was not: message, code, retryable, retry_after_ms (the wait that the provider asks for), detail, hints (next steps for any client), remedies (the same steps: kind, args, text and effect, what it does)"},
			{"cancelled", "somebody stopped it"},
		}},
		{"fettle tool call -o json: one object", []field{
			{"schema_version", "1"},
			{"status", "success or error"},
			{"tool_id, tool_call_id", "which tool, and the id of this call"},
			{"args", "what it was called with"},
			{"result, data", "what a model would be told, and the result itself"},
			{"workspace_payload, payload", "what it has for a page"},
			{"render_plan", "how it is shown: renderer, config; of a failed call error with message and traceback"},
			{"error", "why it failed"},
			{"changes", "the files that it changed: path, kind, mode"},
			{"shared_changes", "true if other programs may have made some of the changes, which were found by reading the folder after the call"},
			{"conflicts", "the files of it that were not applied, since another program changed the same: path, kind, reason"},
			{"call_manifest_id", "the state with those files, if there are any"},
			{"footnotes", "remarks, such as on files that undo can't bring back"},
			{"duration_ms", "how long it took"},
			{"chat, chat_id", "the chat that it was kept in"},
			{"pre_manifest_id, post_manifest_id", "the states of the files before and after it"},
		}},
		{"failures, with -o json or -o events: an object on standard error", []field{
			{"schema_version", "1"},
			{"error", "code (see fettle help exit-codes), exit (the status), message, detail and hints (lists of lines), detail_total where detail is a list of things of which it has the first 20: how many there are"},
		}},
	}
}

func storeShapes() []shape {
	return []shape{
		{"fettle chats list -o json", []field{
			{"schema_version", "1"},
			{"chats", "the last used first, with --deleted the last deleted; each a chat as below"},
			{"next", "what --after goes on with, where there are more"},
		}},
		{"a chat", []field{
			{"number, id", "the number for people and --chat; the id"},
			{"title", "the first line that was asked"},
			{"model", "the model that was asked last"},
			{"system", "its system prompt"},
			{"agent, agent_mode", "the agent that it enters by; false where its model may call no tools"},
			{"approvals, plan, mode_chosen_at", "its own mode of approvals; true in plan mode; when either was chosen"},
			{"workspace", "the folder that -w bound it to"},
			{"messages", "how many there are, on all branches"},
			{"active_leaf_message_id", "the message that the next turn goes on from"},
			{"active_manifest_id", "the state of its workspace"},
			{"created_at, updated_at", "when it began, and when it was last used"},
			{"last_turn", "the place of its last turn among all turns"},
			{"cut_short", "whether a crash cut off a call of an app's page, and no state was taken since"},
			{"forked_from", "where a fork took it from: chat_id, number (left out where that isn't here), message_id"},
			{"deleted_at", "when it was deleted; only with --deleted"},
		}},
		{"fettle chats show -o json", []field{
			{"schema_version", "1"},
			{"chat", "a chat as above"},
			{"messages", "on the way to the last one, each a message as below"},
			{"app_calls", "the last calls that pages of MCP servers made, of the calls in these messages: tool calls as in an export"},
			{"payload_decisions", "what was accepted, rejected or edited of them: payload_id, message_id, payload_type, title, decision, remark, decided_at, edits (text, edited_at), reaction, turn_id"},
		}},
		{"a message", []field{
			{"id, chat_id, turn_id", "its ids"},
			{"parent_id", "the message before it"},
			{"role", "user or assistant"},
			{"status", "complete, error, cancelled or interrupted (by a crash)"},
			{"parts", "what it holds, in order: see below"},
			{"model, usage, stop_reason", "of an answer, as for ask"},
			{"error", "why an answer broke off, as the event error"},
			{"footnotes, annotations", "remarks and citations"},
			{"suggested_values", "and suggested_actions: what a page offers next"},
			{"interaction_type", "and action_metadata: of a suggested action that the person took"},
			{"manifest_id", "the state of the workspace after it"},
			{"left_manifest_id", "the state that its branch was left with, at the end of one"},
			{"state_unknown", "whether its last call left no state that is known: a crash cut it off, or the files were too many"},
			{"plan", "whether an answer was given in plan mode"},
			{"created_at", "when it was asked"},
			{"summary", "what the model is told in place of this message and all before it: text, messages (how many), model, created_at, outside (what they have from beyond this machine)"},
		}},
		{"fettle chats compact -o json", []field{
			{"schema_version", "1"},
			{"chat", "the chat's number"},
			{"message_id", "the last message that the summary stands for"},
			{"summary", "as of a message above"},
			{"added", "how many messages it stands for that none did before"},
			{"usage", "what it took, as for ask"},
			{"forgotten", "with --forget: how many summaries were taken away"},
		}},
		{"a part", []field{
			{"type", "text, reasoning, image, file, tool_call or tool_result; with agents also agent_start, agent_text (what one said that doesn't answer) and handoff (from agent to name); payload"},
			{"step", "the response of the model that it belongs to, from 0"},
			{"text, details", "of text, reasoning and file"},
			{"name, mime, data", "of a file or an image; data is base64"},
			{"call", "id, name, args, extra (what only the model's provider understands)"},
			{"result", "id (the call's), name, text, error (true where it failed), media (images and sounds, each with mime and data), outside (what it has from beyond this machine)"},
			{"agent", "who spoke, where there are several"},
			{"payload", "structured data that was shown: id, type, data, source, toolset_id, title"},
			{"doc", "the reference doc:ID by which the message named the file or image"},
		}},
	}
}

func searchShapes() []shape {
	return []shape{
		{"fettle chats search -o json", []field{
			{"schema_version", "1"},
			{"query", "the query as it was understood"},
			{"chats", "the last used first, each a chat that was found as below"},
			{"next", "the number for --after, where there are more"},
		}},
		{"a chat that was found", []field{
			{"number, id, title", "as of a chat; also model and updated_at"},
			{"title_offsets", "where the query is in the title: [begin, end) in characters (code points) each"},
			{"matches", "messages with it, the newest first: up to three, or as many as it takes to show all of the query; empty where the title alone has it"},
		}},
		{"a match", []field{
			{"message_id, role", "the message; role is user or assistant"},
			{"created_at", "when it was asked"},
			{"part", "what of it: text, file, image or tool_call"},
			{"snippet", "one line of that with the query in it; … stands for what was cut"},
			{"offsets", "where the query is in the snippet, as title_offsets"},
		}},
	}
}

func exportShapes() []shape {
	return []shape{
		{"fettle chats export -o json, which chats import reads; several: one on a line", []field{
			{"schema_version", "1"},
			{"format", "fettle-chat"},
			{"chat", "a chat as above"},
			{"messages", "all, on all branches, by id: the tree is in parent_id"},
			{"tool_calls", "the records of its calls, as they began: see below"},
			{"artifacts", "the pages of toolsets that its results are shown by: sha256, data"},
		}},
		{"a tool call", []field{
			{"id, chat_id, message_id", "its ids, and turn_id"},
			{"tool_use_id, tool_id", "the id that the model's call has in the message's parts; the tool"},
			{"args, result", "what it was called with; text, data, workspace_payload and payload"},
			{"status, error", "success or error, and why"},
			{"started_at, finished_at", "when it ran"},
			{"index", "its place among the calls of its turn"},
			{"app_of", "of a call that the page of an MCP server made: the call that the page is of"},
			{"render_plan", "how a page shows it; workspace_plan: how a page shows its workspace_payload"},
			{"pre_manifest_id", "and post_manifest_id: the workspace before and after it"},
		}},
		{"fettle version -o json", []field{
			{"schema_version", "1"},
			{"version, revision", "of fettle; revision is the commit, where known"},
			{"go, os, arch", "what it was built with and for"},
		}},
	}
}
