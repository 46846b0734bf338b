package demodata

import "embed"

//go:embed demo.yaml files.yaml haiku.yaml orders.csv chaoscontext
var files embed.FS

// Files hold the recorded models, the toolset of the conversation, and the file
// that the scene with files is about.
func Files() embed.FS { return files }
