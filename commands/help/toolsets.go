package help

// toolsetShapes are the JSON of the commands around toolsets.
func toolsetShapes() []shape {
	version := field{"schema_version", "1"}
	return []shape{
		{"fettle toolset import, update -o json", []field{
			version,
			{"id, name, version", "and description: of the toolset"},
			{"kind", "what the bundle is: toolset, mcpb or skill"},
			{"source_type, source_ref", "zip, local, url or program (fettle itself); the path, address or command"},
			{"bundle_sha256, hash", "of the files as they came, and as they are installed"},
			{"installed", "whether it is now"},
			{"same", "whether these contents were installed before"},
			{"installed_version", "the version that was there before"},
			{"asks", "whether something of it was not approved yet"},
			{"files, bytes", "how many files, and their size"},
			{"items", "what is approved one by one, each as below"},
			{"variables", "the environment variables that it gets: name, servers (MCP servers that get it), tools (whether its tools do), optional (whether each server can do without), missing"},
			{"changes", "against what was installed: kind, name, change (added, changed, removed), asks, fields (field, old, new)"},
			{"file_changes", "files that differ: path, change"},
			{"notes, warnings", "lines for people"},
		}},
		{"an item of a toolset", []field{
			{"kind", "server, network, env, read, requirement, tool, agent, page, payload or workflow"},
			{"name", "the host, variable, path, package or id"},
			{"sha256", "of what is pinned of it"},
			{"fields", "its parts: name, value, pinned (whether a change asks again)"},
			{"approved_at", "when it was approved; null where it waits for that; not of import"},
		}},
		{"fettle toolset list -o json", []field{
			version,
			{"toolsets", "by id, each a toolset as below"},
		}},
		{"a toolset", []field{
			{"id, name, version", "and description"},
			{"enabled", "whether its tools are offered"},
			{"problem", "why they can't be"},
			{"tools, pending", "how many tools, and how many items that wait for approval"},
			{"installed_at, updated_at", "when it was installed first, and last"},
			{"source_type, source_ref", "where it came from"},
			{"manifest_version, kind", "of its toolset.yaml; toolset, mcpb or skill"},
			{"hash, revision", "of its contents; the folder they are in"},
			{"source_hash", "of the bundle it came from"},
			{"requirements", "Python packages"},
			{"permissions", "network, env, read"},
			{"workflows, tests", "as its toolset.yaml has them: id, name, description, steps (id, name, tool, args, agent, prompt, checkpoint), input_schema; name, tool, args, files, expect (return, error, files, absent)"},
			{"uncontained", "whether its tools may run where nothing contains them"},
			{"revoked_at", "when its approval was taken back"},
		}},
		{"fettle toolset show -o json", []field{
			version,
			{"toolset", "a toolset as above"},
			{"tools", "each a tool as below"},
			{"mcp_servers", "its MCP servers: id, enabled, command, args, url, declared_by (toolsets), problem"},
			{"items, variables", "as of import"},
			{"files", "each with toolset_id, path, kind (python, artifact, asset, config), sha256, size, stored_path, revision"},
			{"damage", "with --verify: files that aren't as they were imported: path, reason"},
		}},
	}
}

// toolShapes are the JSON of what is done with toolsets, and of single tools.
func toolShapes() []shape {
	version := field{"schema_version", "1"}
	return []shape{
		{"fettle toolset export -o json", []field{
			version,
			{"id, version, file", "what was written where"},
			{"files, bytes", "how many files, and their size unpacked"},
			{"hidden", "the variables that stand for what may be a secret"},
			{"notes", "lines for people"},
		}},
		{"fettle toolset rm -o json", []field{
			version,
			{"id, version", "and source_ref: what was uninstalled"},
			{"tools", "how many"},
			{"mcp_servers", "those that went with it"},
			{"shared_mcp_servers", "those that stay, since others brought them too"},
			{"in_use", "whether a call still uses its files"},
		}},
		{"fettle toolset trust -o json", []field{
			version,
			{"toolsets", "without a toolset: all, each as follows"},
			{"id, trusted", "whether all of it is approved"},
			{"uncontained, revoked_at", "as of a toolset"},
			{"items", "as of import, with approved_at"},
		}},
		{"fettle tool list -o json", []field{
			version,
			{"groups", "builtin, then toolsets, then MCP servers: kind (builtin, toolset, mcp_server), id, name, enabled, problem, tools"},
		}},
		{"fettle tool show -o json", []field{version, {"group", "builtin, or the id of the toolset or MCP server"}, {"tool", "a tool as below"}}},
		toolShape(),
		{"fettle toolset, tool and mcp enable, disable -o json", []field{
			version,
			{"id, enabled", "what is on now, or off"},
			{"changed", "whether it was otherwise before"},
		}},
		{"fettle mcp list -o json", []field{version, {"servers", "by name, each an MCP server as below"}}},
		{"an MCP server", []field{
			{"id, enabled", "its name; whether its tools are offered"},
			{"command, args, env", "what is started; a value that may be a secret is ${NAME}"},
			{"url, headers", "or its address, and what is sent along"},
			{"own, declared_by", "whether you added it; the toolsets that brought it"},
			{"settings", "sse, uncontained, read, write, offline, sampling, timeout (as 1m30s), client_id, client_secret (a ${NAME})"},
			{"tools, waiting", "how many tools it had, and how many of them are held back"},
			{"pinned_at", "when its tools were pinned last; null where nobody has seen any"},
			{"problem", "why it can't be used"},
		}},
		{"fettle mcp add -o json", []field{version, {"server", "an MCP server as above"}}},
		{"fettle mcp show -o json", []field{
			version, {"server", "an MCP server as above"}, {"tools", "those that are pinned, each a tool as above"},
			{"held", "by tool, why it is held back"}, {"changes", "what it has now against what is pinned, as changes of import"},
		}},
		{"fettle mcp test -o json", []field{
			version, {"server", "an MCP server as above"},
			{"report", "name, version, protocol, instructions, tools, resources (uri, name, title, description, mime_type, size, template), prompts (name, title, description, arguments), notes (what was left out), took_ns"},
			{"changes", "against what was pinned, as changes of import"}, {"approved", "false where they wait for an approval"},
		}},
		{"fettle mcp import -o json", []field{version, {"imported", "the names of those that were added"}, {"skipped", "by name, why one was left out"}, {"notes", "by name, what was read differently or left out"}, {"file_notes", "of the file as a whole"}}},
		{"fettle mcp rm -o json", []field{version, {"id", "of the server"}, {"signed_out", "whether a sign-in was forgotten with it"}}},
		{"fettle mcp login, logout -o json", []field{version, {"id", "of the server"}, {"signed_in, changed", "how it is now, and whether it was otherwise before"}, {"revoked", "by logout: whether the server ended the tokens, too"}}},
		{"fettle tool renderer set, rm -o json", []field{
			version,
			{"tool_id, priority", "of the tool, and of the renderer"},
			{"renderer", "as of a tool; null where it was removed"},
		}},
	}
}

// toolShape is the JSON of a tool.
func toolShape() shape {
	return shape{"a tool", []field{
		{"tool_id, toolset_id", "its ids; a builtin tool has no toolset"},
		{"name, description", "for people, and for the model; category"},
		{"input_schema", "and output_schema: JSON Schemas of what it takes and gives"},
		{"streaming, timeout", "whether it reports progress; its time limit"},
		{"requires_confirmation", "whether it asks before each call"},
		{"enabled, problem", "whether it is on; why it can't be used"},
		{"service", "whether its process lives on after a call"},
		{"entrypoint", "module:function of a Python tool"},
		{"reach", "what a call can do: writes, destructive, network (hosts or all), hosts, reads, text; contained says that fettle enforces it"},
		{"annotations", "what the author declares: read_only, destructive, idempotent, open_world"},
		{"app", "the address of the page that an MCP server has for the tool's calls"},
		{"renderer", "how its calls are shown: type, file, content, language, editable, artifact, data, url"},
		{"renderers", "all there are, the one that counts first: tool_id, renderer, config, priority"},
	}}
}

// serviceShapes are the JSON of tools that live on.
func serviceShapes() []shape {
	return []shape{
		{"fettle tool services, stop -o json", []field{
			{"schema_version", "1"},
			{"services", "those that run, or were stopped, the oldest first, each as below"},
		}},
		{"a service", []field{
			{"id, tool_id, toolset_id", "its own id, another one when it is started again; whose it is"},
			{"chat_id, chat", "whose calls it serves, and that chat's number"},
			{"ports", "those that its results named, the latest first"},
			{"calls", "what it served, the latest first: call_id, port"},
			{"since, used", "when it was started, and last called or looked at"},
			{"own_network", "whether no other program of this machine reaches its ports"},
		}},
	}
}
