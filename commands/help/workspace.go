package help

// workspaceShapes are the JSON of the commands around a chat's files.
func workspaceShapes() []shape { return append(stateShapes(), keptShapes()...) }

// stateShapes are those of states and of what brings them back.
func stateShapes() []shape {
	version, chat := field{"schema_version", "1"}, field{"chat", "the chat's number"}
	return []shape{
		{"fettle workspace log -o json", []field{
			version, chat,
			{"states", "the latest first, with --all those of all branches, each a state as below"},
			{"pending", "the undo, redo, restore or change of branches that a killed command has left unfinished; left out if there is none"},
		}},
		{"a state of a chat's files", []field{
			{"id, chat_id, parent_id, ground_id", "its own id, the chat's, the state before it, and the first of those before it"},
			{"source, source_ref", "user_upload, tool_run, branch, edit, external, interrupted, restore or import; the message or tool call"},
			{"tool, args", "of a tool_run: the tool and what it was called with, which isn't known of an imported state"},
			{"maker", "of an imported state: the tool, as the file names it"},
			{"by", "of a call that the page of an MCP server made: the tool that the page is of"},
			{"active, undone, reverted", "whether the chat is at it; whether redo restores it; whether it is undone otherwise, alone or before something new"},
			{"steps, since_id", "of one that undo or redo made: how many steps that went, negative for undo; for undo, the state by which the first of them was done"},
			{"root, file_count, bytes", "the digest of all of it, and what it holds"},
			{"complete, failed", "false where content could not be kept, and of how many paths"},
			{"added", "bytes that were new to the store"},
			{"created_at", "when it was taken"},
			{"shared", "true if other programs may have made some of the changes: the folder was read after a call"},
			{"foreign", "true of a state that came with an import; no file gets its setuid and setgid bits from it"},
		}},
		{"fettle workspace files -o json", []field{
			version, chat,
			{"manifest", "the state"},
			{"files", "an object: the SHA-256 of each file by its path; bytes that are no text stand as \\xNN"},
			{"entries", "all else, each with path, kind (executable, link, folder, special, failed, omitted), size, mode, target, reason"},
		}},
		{"fettle workspace show -o json", []field{version, chat, {"state", "the state"}, {"changes", "against the one before it, as below"}}},
		{"fettle workspace diff -o json", []field{
			version, chat,
			{"from, to", "the ids of both states"},
			{"changes", "each with path, change (added, modified, removed), old and new (kind, size, sha256, target, reason), added and removed (lines), binary, mode (how the permission bits differ)"},
		}},
		{"fettle undo, redo, workspace restore -o json", []field{
			version, chat,
			{"steps", "the states that undo or redo went over"},
			{"before, after", "the ids of the states on both sides"},
			{"changes", "as of diff, without counts of lines"},
			{"summary", "files (the first five), more, and the counts restored, removed and modes"},
			{"inverse", "the command that reverts it: undo or redo"},
			{"left, blocked", "paths that were left alone, or with --dry-run are in the way: path, reason"},
			{"dry_run", "whether nothing was done"},
			{"warning", "why not all of it can be told, though all was done"},
		}},
		{"fettle workspace import -o json", []field{
			version, chat,
			{"new_chat", "whether the chat was made for it"},
			{"imported, latest, active", "how many states came in, the id of the last of them, and of the one that the chat is at"},
		}},
		{"fettle chats branches -o json", []field{version, chat, {"branches", "the first begun first, each a branch as below"}}},
		{"a branch of a chat", []field{
			{"number", "its place in the list, for chats switch"},
			{"leaf_message_id", "the message that it ends with"},
			{"active", "whether the chat goes on in it"},
			{"place, title", "where it parts from the active branch: the place of its first own message, and the question there"},
			{"model, messages, updated_at", "who gave its last answer, its messages from the first of the chat on, and when it was answered"},
			{"manifest_id", "the state of the files at its end"},
			{"added, modified, removed", "how many files switching to it would add, change and remove"},
		}},
		{"fettle chats switch -o json", []field{
			version, chat,
			{"leaf_message_id", "the message that the chat goes on from now"},
			{"before, after", "the ids of the states on both sides"},
			{"changes, left", "as of undo"},
		}},
	}
}

// keptShapes are those of the commands below store.
func keptShapes() []shape {
	version := field{"schema_version", "1"}
	return []shape{
		{"fettle store stats -o json", []field{
			version,
			{"states, added_bytes", "how many there are, and what they have brought into the store"},
			{"large_files, large_bytes", "of files on the disk"},
			{"record_bytes", "the size of the records on the disk"},
			{"exact", "with --exact: folders, files and bytes of all states, each content once; unreached_bytes, what gc would remove of the large files"},
			{"collected_at, collect_due_at, dropped_chats", "when garbage was collected last and will be next; how many chats were removed since"},
			{"chats", "what brought the most first: chat, chat_id, title, states, added_bytes; last_files, last_bytes of its last state; with --exact bytes and own_bytes"},
		}},
		{"fettle store verify -o json", []field{
			version,
			{"ok", "whether all is as it was stored"},
			{"states, folders, files, bytes", "what was read"},
			{"problems", "each with what, sha256, reason, uses (chat, chat_id, state, path), more_uses"},
		}},
		{"fettle store tidy -o json", []field{
			{"dry_run", "true if nothing was removed"},
			{"bytes", "the size of all leftovers"},
			{"leftovers", "path, kind (temporary, journal, backup, restore or lock) and bytes of each file or folder"},
		}},
		{"fettle store gc -o json", []field{
			version,
			{"states, folders, files, bytes", "what was removed"},
			{"kept_bytes", "what stays"},
			{"packages", "the sets of Python packages that were removed, each with requirements, python, bytes"},
			{"python_bytes, packages_kept_bytes", "what was removed of Python packages and compiled files; the packages that stay"},
		}},
		{"fettle store backup, store restore -o json", []field{
			version,
			{"file, size", "the backup, and its size if it was written"},
			{"made_at", "when it was made"},
			{"chats, folders, bytes", "what is in it; folders are those of chats' own"},
			{"dry_run", "whether nothing was done"},
			{"verified", "whether the backup was restored once and compared with the data (--verify)"},
			{"damaged", "how many objects of the store were damaged or missing"},
		}},
	}
}
