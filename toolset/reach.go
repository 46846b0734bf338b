package toolset

import "strings"

// Reach is what calls of a tool can read, change and connect to. Import consent, lists of
// tools, approvals and the hints that MCP clients get are all made of it.
type Reach struct {
	// Contained reports that fettle enforces the other fields. Without it they are what the
	// tool's author or server declares.
	Contained bool `json:"contained"`
	// Writes reports whether a call can change files of the chat's workspace or, if the tool
	// is not contained, anything.
	Writes bool `json:"writes"`
	// Destructive reports whether a change can overwrite or remove things.
	Destructive bool `json:"destructive"`
	// Network is empty if a call connects to nothing. Hosts are for [NetworkHosts].
	Network Network  `json:"network,omitempty"`
	Hosts   []string `json:"hosts,omitempty"`
	// Reads are files and folders outside the workspace.
	Reads []string `json:"reads,omitempty"`
	// Text describes the reach in words that follow "may".
	Text string `json:"text"`
}

// ReachOf returns what calls of a tool can reach. p is the policy of the sandbox that they
// run in; nil means that no sandbox of fettle does. The tool's annotations count for what
// the sandbox does not limit, and for builtin tools, whose code is fettle's own.
func ReachOf(t Tool, p *Policy) Reach {
	a := t.Annotations
	r := Reach{Contained: t.ToolsetID == "", Writes: !a.ReadOnly, Destructive: !a.ReadOnly && a.Destructive}
	switch {
	case p != nil && p.Network != NetworkAll:
		r.Contained = p.Least != LevelNone
		r.Writes, r.Destructive = !p.ReadOnly, !p.ReadOnly && a.Destructive
		r.Network, r.Hosts, r.Reads = p.Network, p.Hosts, p.Readable
		r.Text = strings.Join(append([]string{r.workspaceText()}, r.outsideTexts()...), ", ")
		if p.Least == LevelNone {
			r.Text += "; without limits where this system has no sandbox"
		}
	case r.Contained:
		if a.OpenWorld {
			r.Network = NetworkAll
		}
		parts := r.outsideTexts()
		if r.Writes || !r.Outside() {
			parts = append([]string{r.workspaceText()}, parts...)
		}
		r.Text = strings.Join(parts, ", ")
	default:
		if a.OpenWorld {
			r.Network = NetworkAll
		}
		r.Text = r.declaredText()
	}
	return r
}

// Outside reports whether a call connects to other systems.
func (r Reach) Outside() bool { return r.Network != NetworkNone }

// SendsOut reports whether a call can bring content from outside into a chat, and send
// content of the chat away. A declaration that it does not is not believed.
func (r Reach) SendsOut() bool { return r.Outside() || !r.Contained }

func (r Reach) workspaceText() string {
	text := "read the chat's workspace"
	if r.Writes {
		text = "read and write the chat's workspace"
	}
	if !r.Outside() && len(r.Reads) == 0 {
		text += " only"
	}
	return text
}

func (r Reach) outsideTexts() (out []string) {
	if len(r.Reads) > 0 {
		out = append(out, "read "+strings.Join(r.Reads, ", "))
	}
	switch r.Network {
	case NetworkHosts:
		out = append(out, "connect to "+strings.Join(r.Hosts, ", "))
	case NetworkAll:
		out = append(out, "connect to any host")
	}
	return out
}

func (r Reach) declaredText() string {
	text := "read"
	switch {
	case r.Destructive:
		text = "change or remove things"
	case r.Writes:
		text = "add things"
	}
	if r.Outside() {
		text += " and connect to other systems"
	}
	return text + ", as its server declares; fettle does not check this"
}
