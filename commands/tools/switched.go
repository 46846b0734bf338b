package tools

import (
	"github.com/fettle-cli/fettle/commands/workbench"
)

// SwitchedJSON is what enable and disable print with --output json.
type SwitchedJSON struct {
	SchemaVersion int    `json:"schema_version"`
	ID            string `json:"id"`
	Enabled       bool   `json:"enabled"`
	Changed       bool   `json:"changed"`
}

// SwitchWord is the command that switches something.
func SwitchWord(on bool) string {
	if on {
		return "enable"
	}
	return "disable"
}

// Switched tells what came of enable or disable: of what, such as "the toolset x".
func Switched(rt *workbench.Runtime, what string, done SwitchedJSON, output string) error {
	if output == "json" {
		return workbench.PrintJSON(rt, done)
	}
	state := "off"
	if done.Enabled {
		state = "on"
	}
	if !done.Changed {
		rt.Notice(what + " is " + state + " already")
		return nil
	}
	rt.Notice(what + " is " + state)
	return nil
}
