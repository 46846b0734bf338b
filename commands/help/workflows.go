package help

// workflowShapes are the JSON of the commands around workflows.
func workflowShapes() []shape {
	version := field{"schema_version", "1"}
	return []shape{
		{"fettle workflows list -o json", []field{
			version,
			{"workflows", "those that can be started, each a workflow as below"},
			{"instances", "with --instances: those that were, the last begun first, each an instance as below"},
		}},
		{"a workflow", []field{
			{"id, toolset_id", "its id, with the toolset's before it"},
			{"name, description", "for people"},
			{"input_schema", "the JSON Schema of what it is started with"},
			{"steps", "id, name, tool, args, agent, prompt, checkpoint"},
		}},
		{"fettle workflows start, show, act, cancel -o json", []field{
			version,
			{"workflow", "of show: the workflow that was named"},
			{"instance", "else an instance as below"},
		}},
		{"an instance", []field{
			{"id", "its id"},
			{"workflow, input", "the workflow as it was then, and what it was started with"},
			{"state", "running, waiting (at a checkpoint), failed, interrupted, complete or cancelled"},
			{"steps", "each with id, name, state (pending, running, done, failed, interrupted), result, error, turn_id, started_at, finished_at"},
			{"chat, chat_id, turn_id", "where its steps run, and the last turn that ran some"},
			{"created_at, updated_at", "when it was begun, and went on last"},
		}},
	}
}
