package permission

import (
	"fmt"
	"strings"

	"github.com/fettle-cli/fettle/toolset"
)

// Mode decides which calls need an approval where no rule decides. In every mode, rules
// that deny refuse a call first. The zero value is [Calls].
type Mode string

// The modes of approvals.
const (
	// Calls asks before each call for which the tool or the folder requires an approval.
	Calls Mode = "calls"
	// Changes asks as Calls does, but a call that is contained and has no network can run
	// first. The user then decides about the changes that it made.
	Changes Mode = "changes"
	// Edits lets the builtin file tools change files of the workspace. Other calls ask as
	// with Calls, and so do those that an ask rule concerns.
	Edits Mode = "edits"
	// AskAll asks before every call, also where a rule allows it and where it only reads.
	AskAll Mode = "ask-all"
)

// Modes returns the modes from the usual one to the strictest.
func Modes() []Mode { return []Mode{Calls, Changes, Edits, AskAll} }

// ParseMode reads the name of a mode.
func ParseMode(name string) (Mode, error) {
	var names []string
	for _, m := range Modes() {
		if name == string(m) {
			return m, nil
		}
		names = append(names, string(m))
	}
	return "", fmt.Errorf("approvals %q: want %s or %s", name, strings.Join(names[:len(names)-1], ", "), names[len(names)-1])
}

// fileCategory is the category of the builtin tools for files.
const fileCategory = "files"

// editsFiles reports whether a call can only change files of the workspace: it is one of a
// builtin file tool, which refuses every path outside.
func (c *Call) editsFiles() bool {
	t := c.tool
	return t.ToolsetID == "" && t.Category == fileCategory && !t.Annotations.OpenWorld && !t.RequiresConfirmation
}

// byDefault returns the verdict on a call that no rule decides, and for which the tool or
// the folder requires an approval.
func (r *Rules) byDefault(c *Call, why string) (Verdict, string) {
	switch {
	case r.allowAll, r.mode == Edits && c.editsFiles():
		return Run, ""
	case r.mode == Changes:
		return AskAfter, why
	}
	return Ask, why
}

// PlanReason is why plan mode refuses a call, in words for the model.
const PlanReason = "plan mode is on, in which calls can only read the workspace; describe this step in the plan instead, and the user decides"

// InPlan reports whether plan mode lets calls of a tool run: they can only read, as far as
// fettle enforces it. What a tool declares of itself is not trusted.
func InPlan(r toolset.Reach) bool { return r.Contained && !r.Writes && !r.Outside() }
