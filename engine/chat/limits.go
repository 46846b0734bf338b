package chat

import (
	"github.com/fettle-cli/fettle/toolset/render"
)

// LargestPiece is the largest value that the engine stores.
const LargestPiece = 4 << 20

// largestArgs bounds what a tool_calls record keeps of arguments and of a
// result. The message and the events have the whole.
const largestArgs = 1 << 20

// largestPlan bounds a plan in an imported record: a config as large as one may be,
// with what surrounds it.
const largestPlan = render.MaxConfig + 64<<10

// MaxName bounds the name of a tool as a model writes it.
const MaxName = 300

// MaxSystem bounds the system prompt, which is kept in each journal and in the
// chat's record.
const MaxSystem = 1 << 20

// MaxData bounds each structured part of a result, and progressData that
// of an update: they are kept in the journal and the store, and shown to
// pages. What is larger belongs in a file of the workspace.
const MaxData = 4 << 20

// MaxMetadata bounds the metadata of an action that a person took: it is kept
// with their message and sent to the model.
const MaxMetadata = 64 << 10
