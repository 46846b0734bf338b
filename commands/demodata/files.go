package demodata

import "embed"

//go:embed demo.yaml files.yaml haiku.yaml orders.csv
var files embed.FS

// Files returns the recorded models, and the file that the scene with files is about.
func Files() embed.FS { return files }
